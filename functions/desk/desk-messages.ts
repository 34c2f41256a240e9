/**
 * What goes between a caller's isolate and a desk. Versioned, as during a deployment the two may run different code; a
 * desk that does not know a version says so, and the caller tries again.
 */
import type { DeskJudgment, JudgmentCall } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { JudgeFailure, Judgment } from '../../src/judgments/types.ts';

export const DESK_MESSAGE_VERSION = 1;

/** How long a caller waits beyond its deadline before it gives up on the desk itself. */
export const DESK_GRACE_MS = 5_000;

/** Which desk this is, of how many; its share of every backend's slots follows from it. */
export type DeskPlace = { readonly desk: number; readonly desks: number };

export type JudgeMessage = JudgmentCall & { readonly v: number; readonly place: DeskPlace };
export type FindMessage = { readonly v: number; readonly keys: readonly string[] };
export type ImportMessage = { readonly v: number; readonly place: DeskPlace; readonly judgments: readonly Judgment[] };

export type JudgeReplyMessage = DeskJudgment;
export type FindReplyMessage = { readonly judgments: readonly Judgment[] };
/** One entry a judgment, in their order. */
export type ImportReplyMessage = { readonly outcomes: readonly ImportOutcome[] };

/** The methods of a desk that callers use over RPC. */
export type DeskMethods = {
  judge(message: JudgeMessage): Promise<JudgeReplyMessage>;
  find(message: FindMessage): Promise<FindReplyMessage>;
  import(message: ImportMessage): Promise<ImportReplyMessage>;
};

/** The message was made by other code than the desk runs. */
export const VERSION_SKEW: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'a deployment is under way; try again',
  retryable: true,
};
