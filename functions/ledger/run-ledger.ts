/**
 * The ledger of runs: rows in D1, reports and texts in R2. One object per deployment; every method throws StorageError.
 */

import type { PromptVisit } from '../../src/wire/adapters/run-place.ts';
import { MAX_CLEARED_AT_ONCE } from '../storage/files.ts';
import { StorageError } from '../storage/storage-error.ts';
import {
  countRollouts,
  findRun,
  listRuns,
  type RunPage,
  type RunRecipe,
  recipesOf,
  type StoredRun,
} from './run-list.ts';
import { type ObjectPlace, type RolloutDetail, readDetail } from './run-objects.ts';
import { type Recording, type RecordingResult, recordRollouts } from './run-recording.ts';
import { clearRuns, type RunRemoval, removeRun } from './run-removal.ts';
import {
  type RowSelection,
  type RunGroup,
  readGroups,
  readPage,
  readRows,
  type StepRange,
  type StoredRow,
} from './run-rows.ts';
import { type StepPage, summariseSteps } from './run-summary.ts';
import { latestVisit, type VisitedPrompt } from './run-visits.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export class RunLedger {
  readonly #db: D1Database;
  readonly #bucket: R2Bucket;
  readonly #retentionDays: number | null;

  /** @param retentionDays days after its last recording that a run expires; `null` = runs are kept until deleted. */
  constructor(db: D1Database, bucket: R2Bucket, retentionDays: number | null) {
    this.#db = db;
    this.#bucket = bucket;
    this.#retentionDays = retentionDays;
  }

  /**
   * Records rollouts. The first recording of a run also deletes expired runs, and ignores a failure of that deletion.
   */
  async record(recording: Recording): Promise<RecordingResult> {
    const result = await recordRollouts(this.#db, this.#bucket, recording);
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
  latestVisit(prompt: VisitedPrompt): Promise<PromptVisit | null> {
    return latestVisit(this.#db, prompt);
  }

  /** Returns null if the run does not exist or is being deleted. */
  find(run: string): Promise<StoredRun | null> {
    return findRun(this.#db, run);
  }

  /** Lists runs, newest first. `after` is the last id of the previous page; returns null if that run does not exist. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<RunPage | null> {
    return listRuns(this.#db, page);
  }

  /** When the run expires, in milliseconds since 1970; `null` = never. */
  expiryOf({ active_at }: Pick<StoredRun, 'active_at'>): number | null {
    return this.#retentionDays === null ? null : active_at + this.#retentionDays * DAY_MS;
  }

  /** The recipes of a run by digest; empty if the run does not exist. */
  recipes(run: string): Promise<ReadonlyMap<string, RunRecipe>> {
    return recipesOf(this.#db, run);
  }

  /** The number of recorded rollouts, all attempts included. */
  count(run: string): Promise<number> {
    return countRollouts(this.#db, run);
  }

  /** Summarises up to `limit` steps from `fromStep` on. */
  steps(run: string, fromStep: number | null, limit: number): Promise<StepPage> {
    return summariseSteps(this.#db, run, fromStep, limit);
  }

  /** Reads at most `limit` rows. */
  page(run: string, selection: RowSelection, limit: number): Promise<StoredRow[]> {
    return readPage(this.#db, this.#bucket, run, selection, limit);
  }

  /** Reads all selected rows in order, with constant memory. @throws RequestError if the run is deleted meanwhile. */
  rows(run: string, selection: RowSelection): AsyncGenerator<StoredRow> {
    return readRows(this.#db, this.#bucket, run, selection);
  }

  /** Reads the groups of a run. @throws RequestError if the run is deleted meanwhile or a group is too large. */
  groups(run: string, range: StepRange): AsyncGenerator<RunGroup> {
    return readGroups(this.#db, this.#bucket, run, range);
  }

  /** The report of a rollout, and its text if the run stores it. */
  detail(place: ObjectPlace): Promise<RolloutDetail> {
    return readDetail(this.#bucket, place);
  }

  /** Deletes a run. Returns null if it does not exist. @param now milliseconds since 1970. */
  remove(run: string, now: number): Promise<RunRemoval | null> {
    return removeRun(this.#db, this.#bucket, run, now);
  }

  /** Deletes some of the expired runs, and continues interrupted deletions. @param now milliseconds since 1970. */
  clear(now: number): Promise<void> {
    const inactiveSince = this.#retentionDays === null ? null : now - this.#retentionDays * DAY_MS;
    return clearRuns(this.#db, this.#bucket, inactiveSince, MAX_CLEARED_AT_ONCE, now);
  }
}
