/**
 * What the pipeline knows of a place where judgments are made for many callers at once, so that equal questions become
 * one call. The Worker's form is the JudgeDesk (functions/objects); without one, the judge is called where the caller is.
 */
import type { StoredJudgment } from './record.ts';
import type { JudgeFailure, Judgment, JudgmentPreimage, JudgmentRequest } from './types.ts';

/** `live`: somebody waits. `batch`: done when there is room; it never takes the last quarter of it. */
export type CallClass = 'live' | 'batch';

/** One judgment that is wanted. */
export type JudgmentCall = {
  /** Name of the judge. */
  readonly judge: string;
  readonly key: string;
  readonly preimage: JudgmentPreimage;
  readonly request: JudgmentRequest;
  readonly class: CallClass;
  /** How long the caller waits, in milliseconds from now. */
  readonly deadline_ms: number;
};

export type DeskJudgment =
  | {
      readonly ok: true;
      readonly judgment: Judgment;
      /** It was there already; no call was made or joined for it. */
      readonly cached: boolean;
      /** Whether it can be replayed from the store. */
      readonly stored: boolean;
      readonly storeProblem: JudgeFailure | null;
    }
  | { readonly ok: false; readonly failure: JudgeFailure };

export interface Desk {
  /** The judgment of a key: kept, under way, or made now. Expected failures are values; a rejection is a bug. */
  judge(call: JudgmentCall): Promise<DeskJudgment>;
  /** What the desk has kept of these keys, asked before a miss of the store is believed. No judge is called. A key that is not in the reply is a miss. */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, StoredJudgment>>;
}
