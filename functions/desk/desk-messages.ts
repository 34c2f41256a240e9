/**
 * The messages between a caller and a desk. They have a version because both may run different code during a
 * deployment: a desk refuses an unknown version, and the caller retries.
 */

import { DEPLOYING_RETRY_S } from '../../service/desk/desk-failures.ts';
import type { TraceHeaders } from '../../service/trace-context.ts';
import type { DeskJudgment, JudgmentCall } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Failed } from '../../src/result.ts';
import type { Increment } from '../metrics/counts.ts';
import type { Payer } from '../projects/budgets.ts';
import type { AnswerOne } from './call-gatherer.ts';
import type { DeskFigures } from './desk-figures.ts';
import type { DeskLayout } from './desk-layout.ts';

export const DESK_MESSAGE_VERSION = 6;

/** The number of the desk in the layout of its caller. Both determine the desk's share of every judge's slots. */
export type DeskPlace = {
  readonly desk: number;
  readonly layout: DeskLayout;
  /** The project whose judgments the desk makes; absent = those that all projects share. */
  readonly scope?: string;
};

/** A call, and the project that it is counted for if it is made. */
export type PaidCall = JudgmentCall & { readonly payer: Payer };

/** The calls that one caller makes of a desk in one turn. */
export type JudgeMessage = {
  readonly v: number;
  readonly place: DeskPlace;
  readonly payer: Payer;
  readonly calls: readonly JudgmentCall[];
  /** Answers a call before the others; absent = they are answered together. */
  readonly answer?: AnswerOne;
  /** The trace of the caller's work. The first caller of a shared call decides about its trace. */
  readonly trace?: TraceHeaders;
};
export type FindMessage = {
  readonly v: number;
  /** `null` = look only in this desk; else also ask the owners under earlier layouts. */
  readonly place: DeskPlace | null;
  /** The layout under which the asking desk owns the keys; absent = the caller is no desk. */
  readonly successor?: DeskLayout;
  readonly keys: readonly string[];
  /** Whether to wait for calls of these keys that are running. */
  readonly wait: boolean;
};
/** A layout that was in use before another, and how long its owners are asked, in milliseconds since 1970. */
export type EarlierLayout = { readonly layout: DeskLayout; readonly until_ms: number };
export type EarlierMessage = { readonly v: number; readonly layout: DeskLayout };
/** `read`: return and save the totals. */
export type AddFiguresMessage = {
  readonly v: number;
  readonly increments: readonly Increment[];
  readonly read: boolean;
};
export type ImportMessage = { readonly v: number; readonly place: DeskPlace; readonly judgments: readonly Judgment[] };

/** One judgment per call, in the order of the calls; or why the desk did not read the message. */
export type JudgeReplyMessage = readonly DeskJudgment[] | Failed<JudgeFailure>;
export type FindReplyMessage = {
  readonly judgments: readonly Judgment[];
  /** For a successor: the partitions of the keys of which this desk has written a value to KV lately, or will. */
  readonly held: readonly string[];
  /** Why the other keys may have judgments nevertheless; `null` = they have none. */
  readonly failure: JudgeFailure | null;
};
/** `failure`: why the desk did not read the message. */
export type EarlierReplyMessage = {
  readonly earlier: readonly EarlierLayout[];
  readonly failure: JudgeFailure | null;
};
/** One outcome per imported judgment, in the order of the judgments. */
export type ImportReplyMessage = { readonly outcomes: readonly ImportOutcome[] };

/** The RPC methods of a desk. */
export type DeskMethods = {
  judge(message: JudgeMessage): Promise<JudgeReplyMessage>;
  find(message: FindMessage): Promise<FindReplyMessage>;
  import(message: ImportMessage): Promise<ImportReplyMessage>;
  /** Only desk 0 is asked. */
  earlierLayouts(message: EarlierMessage): Promise<EarlierReplyMessage>;
  /** Reports the state of the desk and removes the counts of its isolate. */
  figures(v: number): Promise<DeskFigures | null>;
  /** Adds increments to the totals of the deployment. Only desk 0 is asked. */
  addFigures(message: AddFiguresMessage): Promise<readonly Increment[] | null>;
};

/** Caller and desk run different versions of the Worker, so the desk refused the message. */
export const VERSION_SKEW: JudgeFailure = {
  reason: 'judge_interrupted',
  detail: 'a deployment is in progress; retry',
  retryable: true,
  retry_after_s: DEPLOYING_RETRY_S,
};
