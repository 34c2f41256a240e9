/**
 * The Durable Object of one shard of a run. It owns the records of the groups that hash to it (ledger-records.ts), and
 * its alarm moves their content into R2 (sealer.ts). An erased run leaves a mark for a day, so that a late writer cannot
 * begin it again.
 */
import { DurableObject } from 'cloudflare:workers';
import type {
  ObserveAnswer,
  PromptSummary,
  RecordingOutcome,
  StartAnswer,
  StoredPrompt,
} from '../../service/ledger-port.ts';
import { StorageError } from '../../service/storage-error.ts';
import type { JudgeCheck } from '../../src/runs/judge-check-schema.ts';
import { countedAlarm } from '../desk/send-counts.ts';
import type { Environment } from '../environment.ts';
import { logEvent } from '../log-event.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import { CallRate } from './call-rate.ts';
import { CheckTable, type StoredCheck } from './check-table.ts';
import {
  type LatestVisit,
  LEDGER_MESSAGE_VERSION,
  type LedgerAnswer,
  type LedgerPage,
  type ObjectLoad,
  type PackedRecipe,
  type PageCall,
  type RecordCall,
  type StepsPage,
  type StoredContent,
  type VisitCall,
} from './ledger-messages.ts';
import { LedgerRecords } from './ledger-records.ts';
import type { EditAnswer, EditCall, ObserveCall, StartCall } from './rubric-messages.ts';
import { RubricTable } from './rubric-table.ts';
import { removeObjects } from './run-objects.ts';
import { SEALING, Sealer } from './sealer.ts';
import { type SealingLimits, SegmentTable } from './segment-table.ts';

/** A writer that put an object into R2 before the run was erased has given up by then. */
const ERASURE_REPEAT_MS = 15 * 60 * 1000;
/** No writer remembers a run for so long without asking the list of runs. */
const ERASURE_MARK_MS = 24 * 60 * 60 * 1000;
/** When sealing is tried again after a failure of R2. */
const SEALING_RETRY_MS = 60 * 1000;

/** Replaceable parts, for tests. */
export type RunLedgerOptions = {
  readonly sealing: SealingLimits;
  /** Milliseconds since 1970: the age of records, which decides when they are sealed. */
  readonly now: () => number;
};

export class RunLedger extends DurableObject<Environment> {
  readonly #records: LedgerRecords;
  readonly #segments: SegmentTable;
  readonly #checks: CheckTable;
  readonly #rubrics: RubricTable;
  readonly #sealer: Sealer;
  readonly #options: RunLedgerOptions;
  readonly #rate = new CallRate();
  /** When the alarm is due as far as this instance knows; the platform may know of an earlier one. */
  #alarmAt: number | null = null;

  constructor(state: DurableObjectState, environment: Environment, options: Partial<RunLedgerOptions> = {}) {
    super(state, environment);
    this.#options = { sealing: SEALING, now: Date.now, ...options };
    const { sealing: limits, now } = this.#options;
    const { storage } = state;
    this.#segments = new SegmentTable(storage.sql);
    this.#records = new LedgerRecords(storage.sql, this.#segments);
    this.#checks = new CheckTable(storage.sql);
    this.#rubrics = new RubricTable(storage.sql);
    const { records, segments, bucket } = {
      records: this.#records,
      segments: this.#segments,
      bucket: environment.FILES,
    };
    this.#sealer = new Sealer({ storage, records, segments, bucket, now, limits });
  }

  /** Records rollouts in one transaction. Idempotent: equal content is recorded once. */
  async record(call: RecordCall): Promise<LedgerAnswer<RecordingOutcome[][]>> {
    const { now, sealing } = this.#options;
    const opened = call.open ? { prefix: call.prefix, shard: call.shard } : null;
    const answer = this.#answer(call.v, opened, () => this.#records.record(call, now()));
    // The alarm is part of the same write: the platform commits together what no `await` separates.
    if (answer.ok && (this.#alarmAt === null || this.#segments.isFull(sealing))) await this.#setAlarm();
    return answer;
  }

  /** Sets the alarm to the next work of the sealer. */
  async #setAlarm(): Promise<void> {
    const due = this.#segments.due(this.#options.sealing);
    if (due === null) return await this.ctx.storage.deleteAlarm();
    if (due === this.#alarmAt) return;
    this.#alarmAt = due;
    await this.ctx.storage.setAlarm(Math.max(due, this.#options.now()));
  }

  async describe(v: number): Promise<LedgerAnswer<{ readonly rollouts: number; readonly recipes: PackedRecipe[] }>> {
    return this.#answer(v, null, () => ({ rollouts: this.#records.rollouts, recipes: this.#records.recipes }));
  }

  async load(v: number): Promise<LedgerAnswer<ObjectLoad>> {
    const calls_per_s = this.#rate.perSecond(Date.now());
    return this.#answer(v, null, () => ({ bytes: this.ctx.storage.sql.databaseSize, calls_per_s }));
  }

  async page(call: PageCall): Promise<LedgerAnswer<LedgerPage>> {
    return this.#answer(call.v, null, () => this.#records.page(call));
  }

  async steps(v: number, from: number, limit: number): Promise<LedgerAnswer<StepsPage>> {
    return this.#answer(v, null, () => this.#records.steps(from, limit));
  }

  async content(v: number, seq: number): Promise<LedgerAnswer<StoredContent>> {
    return this.#answer(v, null, () => this.#records.content(seq));
  }

  async latestVisit(call: VisitCall): Promise<LedgerAnswer<LatestVisit | null>> {
    return this.#answer(call.v, null, () => this.#records.latestVisit(call));
  }

  /** Stores a check of the run's judge. Idempotent. */
  async addCheck(v: number, check: JudgeCheck): Promise<LedgerAnswer<number>> {
    return this.#answer(v, null, () => {
      const at = this.#options.now();
      this.#checks.add(check, at);
      return at;
    });
  }

  async checks(v: number): Promise<LedgerAnswer<StoredCheck[]>> {
    return this.#answer(v, null, () => this.#checks.checks);
  }

  /** Starts a prompt whose rubric evolves, and opens a visit of it. Idempotent. */
  async startPrompt(call: StartCall): Promise<LedgerAnswer<StartAnswer>> {
    const opened = call.open ? { prefix: call.prefix, shard: call.shard } : null;
    return this.#answer(call.v, opened, () => this.#rubrics.start(call, this.#options.now()));
  }

  async prompt(v: number, prompt: string): Promise<LedgerAnswer<StoredPrompt | null>> {
    return this.#answer(v, null, () => this.#rubrics.read(prompt));
  }

  async prompts(v: number, after: string, limit: number): Promise<LedgerAnswer<PromptSummary[]>> {
    return this.#answer(v, null, () => this.#rubrics.list(after, limit));
  }

  /** Records what a group showed of a prompt's criteria. Idempotent. */
  async observePrompt(call: ObserveCall): Promise<LedgerAnswer<ObserveAnswer | null>> {
    return this.#answer(call.v, null, () => this.#rubrics.observe(call, this.#options.now()));
  }

  async editPrompt(call: EditCall): Promise<LedgerAnswer<EditAnswer | null>> {
    return this.#answer(call.v, null, () => this.#rubrics.edit(call, this.#options.now()));
  }

  /** Lets the prompts go back to the end of a step. Idempotent. */
  async resumePrompts(v: number, step: number): Promise<LedgerAnswer<number>> {
    return this.#answer(v, null, () => this.#rubrics.resume(step, this.#options.now()));
  }

  /** Deletes everything, whatever version wrote it, and leaves the mark of an erased run. Idempotent. */
  async erase(prefix: string): Promise<void> {
    await this.ctx.blockConcurrencyWhile(async () => {
      await this.ctx.storage.deleteAll();
      this.#forget();
      const now = Date.now();
      this.#records.begin({ v: 1, state: 'erased', prefix, until: now + ERASURE_MARK_MS });
      await this.ctx.storage.setAlarm(now + ERASURE_REPEAT_MS);
    });
  }

  /** Removes objects that a late writer put after the erasure; a day later also the mark. */
  override async alarm(): Promise<void> {
    await countedAlarm('RunLedger', this.env, () => this.#tidy());
  }

  async #tidy(): Promise<void> {
    // Set before the run is read: the platform drops an alarm that keeps failing, and the object would never wake.
    await this.ctx.storage.setAlarm(Date.now() + ERASURE_REPEAT_MS);
    try {
      const { run } = this.#records;
      if (run?.state === 'open') return await this.#seal();
      if (run === null) return await this.ctx.storage.deleteAlarm();
      const removed = await removeObjects(this.env.FILES, run.prefix);
      if (removed !== 'none') return;
      if (Date.now() < run.until) return await this.ctx.storage.setAlarm(run.until);
      await this.ctx.storage.deleteAll();
      this.#forget();
    } catch (error) {
      if (!(error instanceof UnknownForm)) throw error;
      logUnknown(error);
    }
  }

  async #seal(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + SEALING_RETRY_MS);
    try {
      await this.#sealer.work();
    } catch (error) {
      // The storage has logged the failure.
      if (error instanceof StorageError) return;
      throw error;
    }
    this.#alarmAt = null;
    if (this.#records.run?.state === 'open') await this.#setAlarm();
  }

  /** Forgets what the memory repeats of the storage. */
  #forget(): void {
    this.#records.forget();
    this.#rubrics.forget();
  }

  /** Answers a call. @param opens the run that the call may begin; `null` = it begins none. */
  #answer<T>(v: number, opens: Pick<RecordCall, 'prefix' | 'shard'> | null, work: () => T): LedgerAnswer<T> {
    this.#rate.count(Date.now());
    if (v !== LEDGER_MESSAGE_VERSION) return { ok: false, refusal: 'version_skew' };
    try {
      return this.ctx.storage.transactionSync((): LedgerAnswer<T> => {
        const state = this.#records.run?.state ?? 'none';
        if (state === 'erased') return { ok: false, refusal: 'erased' };
        if (state === 'none' && opens === null) return { ok: false, refusal: 'unopened' };
        if (state === 'none' && opens !== null) this.#records.begin({ v: 1, state: 'open', ...opens });
        return { ok: true, value: work() };
      });
    } catch (error) {
      // The transaction was undone.
      this.#forget();
      if (error instanceof Error && error.message.includes('SQLITE_FULL')) return { ok: false, refusal: 'full' };
      if (!(error instanceof UnknownForm)) throw error;
      logUnknown(error);
      return { ok: false, refusal: 'version_skew' };
    }
  }
}

function logUnknown(error: UnknownForm): void {
  logEvent('error', { event: 'stored_form_unknown', object: 'RunLedger', detail: error.message });
}
