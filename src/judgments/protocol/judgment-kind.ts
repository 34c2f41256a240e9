/**
 * The interface of a judgment kind: one type of question, its verdicts, and how a judge answers it. A kind is a value
 * in a folder of its own (`kinds/<kind>/`); `kinds/registry.ts` lists them all, and the request, verdict and record
 * types derive from that list. Code outside the folder asks the definition and never branches on the kind's name.
 */

import type * as z from 'zod';
import type { Failed } from '../../result.ts';
import type { CodeRunReply, Reading, RunCode } from '../sandbox/run-code.ts';
import type { Asking } from './asking.ts';
import type { Fitted } from './budget.ts';
import type { JudgeFailure } from './failure.ts';
import type { JudgePrompt } from './prompt.ts';
import type { ReadReply } from './reply.ts';

/** A request or verdicts of some kind. Every member of a request except `kind` is an input of its key. */
type OfKind = { readonly kind: string };

/** Where a reply shows the entry that a reason is about. */
export type ReasonPlace = {
  /** The list of the reply: its criteria, claims, statements, or its one answer. */
  readonly of: 'criteria' | 'claims' | 'statements' | 'answer';
  /** Index in that list. */
  readonly index: number;
};

interface CommonDefinition<Request extends OfKind, Verdicts extends OfKind> {
  readonly kind: Request['kind'] & Verdicts['kind'];
  /** Strict schema of the verdicts in a stored record. */
  readonly verdictsSchema: z.ZodObject & z.ZodType<Verdicts>;
  /** Whether the parser cut the request out of a response; then its version is part of every key. */
  readonly dependsOnParser: boolean;
  /**
   * Returns everything that decides what is asked and how the reply is read: fixed texts, schemas, limits and versions.
   * Its digest is part of every key of this kind (`templateOf`), so a change here makes stored judgments unreachable.
   *
   * @param asking where the kind has several templates; default: its usual one.
   */
  templateSource(asking?: Asking): object;
  /** Whether the verdicts answer the request exactly: every entry once, in order. */
  answers(request: Request, verdicts: Verdicts): boolean;
}

/** A kind that language models answer, and that the lexical judge may answer. */
export interface ReadingKind<Request extends OfKind = OfKind, Verdicts extends OfKind = OfKind>
  extends CommonDefinition<Request, Verdicts> {
  readonly answeredBy: 'reader';
  /** Builds the prompt. Pure: equal requests give equal bytes. */
  prompt(request: Request): JudgePrompt;
  /** Upper bound of the reply's length in tokens; does not depend on the sources. */
  maxReplyTokens(request: Request): number;
  /**
   * Present: the reply is free text, which `readReply` reads, and this many tries are made, as the public code does that
   * the kind reproduces. The number is part of the identity of a model's judgments. Absent: the reply is one JSON object.
   */
  readonly freeTextTries?: number;
  /** Reads the reply's JSON object strictly: every requested entry, and no other. A free text is read as a string. */
  readReply(request: Request, reply: unknown): ReadReply<Verdicts>;
  /**
   * What each reason of a reply is about, in the order of `ReadReply.reasons`; the index counts the request's entries.
   * Absent: the kind asks for no reasons.
   */
  reasonPlaces?(request: Request): readonly ReasonPlace[];
  /**
   * Cuts the request to a prompt of at most `promptTokens`, or fails with `judge_prompt_too_long`.
   * @param cited indexes of the sources that the answer cites; they are cut last.
   */
  fit(request: Request, promptTokens: number, cited: ReadonlySet<number>): Fitted<Request>;
  /**
   * Present: `fit` may leave out entries of the request (claims, statements). Members of the kinds that list what a
   * policy wrote.
   */
  readonly entries?: {
    /** The request with the entries at these positions alone, which rise. */
    only(request: Request, positions: readonly number[]): Request;
    /**
     * Verdicts on all entries: those of the judge at the positions, and the worst for the policy at the others.
     * @param verdicts answer `only(request, positions)`; `null` = no position is judged.
     */
    completed(request: Request, positions: readonly number[], verdicts: Verdicts | null): Verdicts;
  };
  /** The lexical judge's answer, by comparing words. Absent: the lexical judge refuses the kind. */
  judgeLexically?(request: Request): Verdicts;
  /**
   * How a judge answers that gives probabilities that sources support claims. Absent: such a judge refuses the kind.
   */
  readonly byProbability?: {
    /** The claims, with the indexes of the sources that may support each. */
    claims(request: Request): readonly { readonly text: string; readonly sources: readonly number[] }[];
    /** The number of entries of the request: the claims, then others, which need no source. */
    entries(request: Request): number;
    /** The verdicts. @param supports one for each claim, in order. @param threshold the least score that is support. */
    verdicts(request: Request, supports: readonly ClaimSupport[], threshold: number): Verdicts;
    /** The probability of each claim; `undefined` = the judge gave none. */
    scores(verdicts: Verdicts): readonly (number | undefined)[];
    /** One judgment of several. An entry that no part decides counts against the policy. */
    merged(request: Request, parts: readonly DecidedPart<Verdicts>[]): Verdicts;
  };
}

/** The entries at these positions of a request, as the verdicts of a tier of a cascade decide them. */
export type DecidedPart<Verdicts> = {
  readonly tier: number;
  readonly decided: readonly number[];
  readonly verdicts: Verdicts;
};

/** The least probability at which an unsupported claim is contradicted: above all other labels together. */
export const CONTRADICTED_FROM = 0.5;

/** How probably its sources support a claim. */
export type ClaimSupport = {
  /** 0 to 1: of the source that supports it most. */
  readonly score: number;
  /** The same for each source of the claim, in order. */
  readonly by_source: readonly number[];
  /** 0 to 1: how probably the source denies the claim that denies it most. Absent: the judge does not say. */
  readonly contradicted?: number;
};

/** A kind that a sandbox computes. */
export interface SandboxKind<Request extends OfKind = OfKind, Verdicts extends OfKind = OfKind>
  extends CommonDefinition<Request, Verdicts> {
  readonly answeredBy: 'sandbox';
  /** Present: the verdicts that the sandbox would give, where no run is needed to know them; else `null`. */
  compute?(request: Request): Verdicts | null;
  /** Answers the request by running harnesses. The first failure ends the judgment. */
  judge(request: Request, run: RunHarness): Promise<HarnessResult<Verdicts>>;
}

export type JudgmentKindDefinition<Request extends OfKind = OfKind, Verdicts extends OfKind = OfKind> =
  | ReadingKind<Request, Verdicts>
  | SandboxKind<Request, Verdicts>;

export type HarnessResult<Value> = { readonly ok: true; readonly value: Value } | Failed<JudgeFailure>;

/** Runs one harness under a fresh nonce, with retries, and reads its reply. */
export type RunHarness = <Value>(
  runOf: (nonce: string) => RunCode,
  read: (reply: CodeRunReply, nonce: string) => Reading<Value> | Promise<Reading<Value>>,
) => Promise<HarnessResult<Value>>;
