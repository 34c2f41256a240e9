/**
 * The desk interface: asks judges on behalf of many callers and deduplicates equal requests in flight. The Worker
 * implements the desk as the Durable Object `JudgeDesk` (functions/desk); without a desk, each process calls the judge.
 */

import type { Failed } from '../result.ts';
import type { Judgment, JudgmentPreimage } from './judgment.ts';
import type { JudgmentRequest } from './kinds/registry.ts';
import type { JudgeFailure } from './protocol/failure.ts';
import type { StoredJudgment } from './record.ts';
import type { Missed } from './store.ts';

/** `live`: a caller waits. `batch`: runs on free capacity and leaves a quarter of the slots to live calls. */
export type CallClass = 'live' | 'batch';

/** One request to the desk. */
export type JudgmentCall = {
  /** Name of the judge. */
  readonly judge: string;
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly request: JudgmentRequest;
  readonly class: CallClass;
  /** What the caller has just missed in the store. Absent: it could not read, so the desk reads the store itself. */
  readonly missed?: Missed | undefined;
  /** How long the caller waits, in milliseconds from the call. */
  readonly deadline_ms: number;
  /** Whether the reply should have the judge's reasons, if the judgment is made now. */
  readonly reasons?: boolean;
};

export type DeskJudgment =
  | {
      readonly ok: true;
      readonly judgment: Judgment;
      /** Whether the desk returned a finished judgment, without a judge call. */
      readonly cached: boolean;
      /** Whether the judgment can be replayed from the store. */
      readonly stored: boolean;
      readonly storeProblem: JudgeFailure | null;
      /** The judge's reasons, if the call asked for them and the judgment was made during it. The desk keeps none. */
      readonly reasons?: readonly string[];
    }
  | Failed<JudgeFailure>;

/** The reasons are for the callers that asked for them. */
export function withoutReasons(outcome: DeskJudgment): DeskJudgment {
  if (!outcome.ok || outcome.reasons === undefined) return outcome;
  const { reasons: _reasons, ...others } = outcome;
  return others;
}

export interface Desk {
  /**
   * Returns the judgment of a key: cached, in flight, or made now. Expected failures are values; a rejection is a bug.
   */
  judge(call: JudgmentCall): Promise<DeskJudgment>;
  /**
   * Returns what the desk has cached of these keys, to confirm store misses. Calls no judge. Absent keys are misses.
   */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, StoredJudgment>>;
}
