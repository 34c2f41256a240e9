/**
 * The messages between a caller and a desk. They have a version because both may run different code during a
 * deployment: a desk refuses an unknown version, and the caller retries.
 */
import type { DeskJudgment, JudgmentCall } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';

export const DESK_MESSAGE_VERSION = 1;

/** How much longer than its own deadline a caller waits for the desk. */
export const DESK_GRACE_MS = 5_000;

/** The number of this desk, and how many desks there are. Both determine the desk's share of every backend's slots. */
export type DeskPlace = { readonly desk: number; readonly desks: number };

export type JudgeMessage = JudgmentCall & { readonly v: number; readonly place: DeskPlace };
export type FindMessage = { readonly v: number; readonly keys: readonly string[] };
export type ImportMessage = { readonly v: number; readonly place: DeskPlace; readonly judgments: readonly Judgment[] };

export type JudgeReplyMessage = DeskJudgment;
export type FindReplyMessage = { readonly judgments: readonly Judgment[] };
/** One outcome per imported judgment, in the order of the judgments. */
export type ImportReplyMessage = { readonly outcomes: readonly ImportOutcome[] };

/** The RPC methods of a desk. */
export type DeskMethods = {
  judge(message: JudgeMessage): Promise<JudgeReplyMessage>;
  find(message: FindMessage): Promise<FindReplyMessage>;
  import(message: ImportMessage): Promise<ImportReplyMessage>;
};

/** Caller and desk run different versions of the Worker, so the desk refused the message. */
export const VERSION_SKEW: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'a deployment is in progress; retry',
  retryable: true,
};
