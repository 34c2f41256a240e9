/**
 * The Durable Object of one shard of a run. It owns the records of the groups that hash to it (ledger-records.ts). An
 * erased run leaves a mark for a day, so that a late writer cannot begin it again.
 */
import { DurableObject } from 'cloudflare:workers';
import type { Environment } from '../environment.ts';
import { UnknownForm } from '../storage/unknown-form.ts';
import {
  type LatestVisit,
  LEDGER_MESSAGE_VERSION,
  type LedgerAnswer,
  type LedgerPage,
  type Outcome,
  type PackedContent,
  type PackedRecipe,
  type PageCall,
  type RecordCall,
  type StepsPage,
  type VisitCall,
} from './ledger-messages.ts';
import { LedgerRecords } from './ledger-records.ts';
import { removeObjects } from './run-objects.ts';

/** A writer that put an object into R2 before the run was erased has given up by then. */
const ERASURE_REPEAT_MS = 15 * 60 * 1000;
/** No writer remembers a run for so long without asking the list of runs. */
const ERASURE_MARK_MS = 24 * 60 * 60 * 1000;

export class RunLedger extends DurableObject<Environment> {
  readonly #records: LedgerRecords;

  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment);
    this.#records = new LedgerRecords(state.storage.sql);
  }

  /** Records rollouts in one transaction. Idempotent: equal content is recorded once. */
  async record(call: RecordCall): Promise<LedgerAnswer<Outcome[][]>> {
    return this.#answer(call.v, call.open ? call.prefix : null, () => this.#records.record(call));
  }

  async describe(v: number): Promise<LedgerAnswer<{ readonly rollouts: number; readonly recipes: PackedRecipe[] }>> {
    return this.#answer(v, null, () => ({ rollouts: this.#records.rollouts, recipes: this.#records.recipes }));
  }

  async page(call: PageCall): Promise<LedgerAnswer<LedgerPage>> {
    return this.#answer(call.v, null, () => this.#records.page(call));
  }

  async steps(v: number, from: number, limit: number): Promise<LedgerAnswer<StepsPage>> {
    return this.#answer(v, null, () => this.#records.steps(from, limit));
  }

  async content(v: number, seq: number): Promise<LedgerAnswer<PackedContent>> {
    return this.#answer(v, null, () => this.#records.content(seq));
  }

  async latestVisit(call: VisitCall): Promise<LedgerAnswer<LatestVisit | null>> {
    return this.#answer(call.v, null, () => this.#records.latestVisit(call));
  }

  /** Deletes everything, whatever version wrote it, and leaves the mark of an erased run. Idempotent. */
  async erase(prefix: string): Promise<void> {
    await this.ctx.blockConcurrencyWhile(async () => {
      await this.ctx.storage.deleteAll();
      this.#records.forget();
      const now = Date.now();
      this.#records.begin({ v: 1, state: 'erased', prefix, until: now + ERASURE_MARK_MS });
      await this.ctx.storage.setAlarm(now + ERASURE_REPEAT_MS);
    });
  }

  /** Removes objects that a late writer put after the erasure; a day later also the mark. */
  override async alarm(): Promise<void> {
    // Set before the run is read: the platform drops an alarm that keeps failing, and the object would never wake.
    await this.ctx.storage.setAlarm(Date.now() + ERASURE_REPEAT_MS);
    try {
      const { run } = this.#records;
      if (run?.state !== 'erased') return await this.ctx.storage.deleteAlarm();
      const removed = await removeObjects(this.env.FILES, run.prefix);
      if (removed !== 'none') return;
      if (Date.now() < run.until) return await this.ctx.storage.setAlarm(run.until);
      await this.ctx.storage.deleteAll();
      this.#records.forget();
    } catch (error) {
      if (!(error instanceof UnknownForm)) throw error;
      logUnknown(error);
    }
  }

  /** Answers a call. @param opens the prefix of the run that the call may begin; `null` = it begins none. */
  #answer<T>(v: number, opens: string | null, work: () => T): LedgerAnswer<T> {
    if (v !== LEDGER_MESSAGE_VERSION) return { ok: false, refusal: 'version_skew' };
    try {
      return this.ctx.storage.transactionSync((): LedgerAnswer<T> => {
        const state = this.#records.run?.state ?? 'none';
        if (state === 'erased') return { ok: false, refusal: 'erased' };
        if (state === 'none' && opens === null) return { ok: false, refusal: 'unopened' };
        if (state === 'none' && opens !== null) this.#records.begin({ v: 1, state: 'open', prefix: opens });
        return { ok: true, value: work() };
      });
    } catch (error) {
      // The transaction was undone.
      this.#records.forget();
      if (error instanceof Error && error.message.includes('SQLITE_FULL')) return { ok: false, refusal: 'full' };
      if (!(error instanceof UnknownForm)) throw error;
      logUnknown(error);
      return { ok: false, refusal: 'version_skew' };
    }
  }
}

function logUnknown(error: UnknownForm): void {
  console.error(JSON.stringify({ event: 'stored_form_unknown', object: 'RunLedger', detail: error.message }));
}
