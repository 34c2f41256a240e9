/**
 * The ledger of the runs of a project for the rest of the Worker: their list in D1, their rollouts in `RunLedger` objects. Every method
 * throws StorageError.
 */

import type { RunContents } from '../../service/ledger-port.ts';
import {
  type DetailPlace,
  lifeOf,
  type Recording,
  type RecordingResult,
  type RolloutDetail,
  type RowSelection,
  type RunGroup,
  type StepRange,
  type StoredRow,
  type StoredRun,
  type VisitedPrompt,
} from '../../service/ledger-port.ts';
import { StorageError } from '../../service/storage-error.ts';
import { recipeSchema } from '../../src/families/schemas.ts';
import type { JudgeCheck } from '../../src/runs/judge-check-schema.ts';
import type { PromptVisit } from '../../src/wire/adapters/run-place.ts';
import { MAX_CLEARED_AT_ONCE } from '../storage/files.ts';
import type { StoredCheck } from './check-table.ts';
import { askShard, shardsOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION, type PackedRecipe } from './ledger-messages.ts';
import { RunDetails } from './run-details.ts';
import { findRun, listRuns, type RunPage, setTitle } from './run-list.ts';
import { type LedgerStores, recordRollouts } from './run-recording.ts';
import { clearRuns, type RunRemoval, removeRun } from './run-removal.ts';
import { type RunShards, readGroups, readPage, readRows } from './run-rows.ts';
import { type StepPage, summariseSteps } from './run-summary.ts';
import { latestVisit } from './run-visits.ts';

/** The shard that keeps what concerns the run as a whole. */
const FIRST_SHARD = 0;
const DAY_MS = 24 * 60 * 60 * 1000;

export class LedgerClient {
  readonly #stores: LedgerStores;
  readonly #retentionDays: number | null;
  readonly #details: RunDetails;

  /** @param retentionDays days after its last recording that a run expires; `null` = runs are kept until deleted. */
  constructor(stores: LedgerStores, retentionDays: number | null) {
    this.#stores = stores;
    this.#retentionDays = retentionDays;
    this.#details = new RunDetails(stores.objects, stores.bucket);
  }

  /**
   * Records rollouts. The first recording of a run also deletes expired runs, and ignores a failure of that deletion.
   */
  async record(recording: Recording): Promise<RecordingResult> {
    const result = await recordRollouts(this.#stores, recording);
    if (result.status === 'done' && result.created) {
      try {
        await this.clear(recording.now);
      } catch (error) {
        // The storage has logged the failure, and the hourly trigger clears again.
        if (!(error instanceof StorageError)) throw error;
      }
    }
    return result;
  }

  /** The latest visit of a prompt that is visited again in each epoch; `null` = there is none. */
  async latestVisit(prompt: VisitedPrompt): Promise<PromptVisit | null> {
    const run = await this.find(prompt.run);
    return run === null ? null : latestVisit(this.#stores.objects, lifeOf(run), prompt);
  }

  /** Returns null if the run does not exist or is being deleted. */
  find(run: string): Promise<StoredRun | null> {
    return findRun(this.#stores.db, this.#stores.project, run);
  }

  /** Sets the title of a run; `null` removes it. Returns null if the run does not exist or is being deleted. */
  setTitle(run: string, title: string | null): Promise<StoredRun | null> {
    return setTitle(this.#stores.db, this.#stores.project, run, title);
  }

  /** Lists runs, newest first. `after` is the last id of the previous page; returns null if that run does not exist. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<RunPage | null> {
    return listRuns(this.#stores.db, this.#stores.project, page);
  }

  /** When the run expires, in milliseconds since 1970; `null` = never. */
  expiryOf({ active_at }: Pick<StoredRun, 'active_at'>): number | null {
    return this.#retentionDays === null ? null : active_at + this.#retentionDays * DAY_MS;
  }

  /** The number of rollouts of a run, and its recipes. @throws RequestError if the run is deleted meanwhile. */
  async contents(run: StoredRun): Promise<RunContents> {
    const life = lifeOf(run);
    const nothing = { rollouts: 0, recipes: [] as PackedRecipe[] };
    const shards = await Promise.all(
      shardsOf(life).map((shard) =>
        askShard(this.#stores.objects, life, shard, nothing, async (object) => object.describe(LEDGER_MESSAGE_VERSION)),
      ),
    );
    const recipes = new Map(shards.flatMap((shard) => shard.recipes.map((recipe) => [recipe.digest, recipe])));
    const inOrder = [...recipes.values()].sort((one, other) => (one.digest < other.digest ? -1 : 1));
    return {
      rollouts: shards.reduce((sum, { rollouts }) => sum + rollouts, 0),
      recipes: new Map(
        inOrder.map(({ digest, name, recipe }) => [
          digest,
          { digest, name, recipe: recipeSchema.parse(JSON.parse(recipe)) },
        ]),
      ),
    };
  }

  /** Summarises up to `limit` steps from `fromStep` on. @throws RequestError if the run is deleted meanwhile. */
  steps(run: StoredRun, fromStep: number | null, limit: number): Promise<StepPage> {
    return summariseSteps(this.#shardsOf(run), fromStep, limit);
  }

  /** Reads at most `limit` rows. @throws RequestError if the run is deleted meanwhile. */
  page(run: StoredRun, selection: RowSelection, limit: number): Promise<StoredRow[]> {
    return readPage(this.#shardsOf(run), selection, limit);
  }

  /** Reads all selected rows in order, with constant memory. @throws RequestError if the run is deleted meanwhile. */
  rows(run: StoredRun, selection: RowSelection): AsyncGenerator<StoredRow> {
    return readRows(this.#shardsOf(run), selection);
  }

  /** Reads the groups of a run. @throws RequestError if the run is deleted meanwhile or a group is too large. */
  groups(run: StoredRun, range: StepRange): AsyncGenerator<RunGroup> {
    return readGroups(this.#shardsOf(run), range);
  }

  /** The report of a rollout, and its text if the run stores it. */
  detail(place: DetailPlace): Promise<RolloutDetail> {
    return this.#details.read(place);
  }

  /**
   * Stores a check of the run's judge.
   * @returns when, in milliseconds since 1970; `null` = nothing is recorded in the run yet.
   * @throws RequestError if the run is deleted meanwhile.
   */
  addCheck(run: StoredRun, check: JudgeCheck): Promise<number | null> {
    return askShard<number | null>(this.#stores.objects, lifeOf(run), FIRST_SHARD, null, async (object) =>
      object.addCheck(LEDGER_MESSAGE_VERSION, check),
    );
  }

  /** The checks of the run's judge, by step. @throws RequestError if the run is deleted meanwhile. */
  checks(run: StoredRun): Promise<StoredCheck[]> {
    return askShard<StoredCheck[]>(this.#stores.objects, lifeOf(run), FIRST_SHARD, [], async (object) =>
      object.checks(LEDGER_MESSAGE_VERSION),
    );
  }

  /** Deletes a run. Returns null if it does not exist. @param now milliseconds since 1970. */
  remove(run: string, now: number): Promise<RunRemoval | null> {
    return removeRun(this.#stores, run, now);
  }

  /** Deletes some of the expired runs of all projects, and continues interrupted deletions. @param now milliseconds since 1970. */
  clear(now: number): Promise<void> {
    const inactiveSince = this.#retentionDays === null ? null : now - this.#retentionDays * DAY_MS;
    return clearRuns(this.#stores, inactiveSince, MAX_CLEARED_AT_ONCE, now);
  }

  #shardsOf(run: StoredRun): RunShards {
    const { objects, bucket } = this.#stores;
    return { life: lifeOf(run), objects, bucket };
  }
}
