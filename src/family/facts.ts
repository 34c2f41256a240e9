/**
 * Facts: everything that was observed about one rollout. They contain no part of a recipe. `compose(facts, recipe)`
 * reads only the facts, so a replay needs neither text nor judge and gives exactly the same numbers.
 */
import * as z from 'zod';
import type { MemberOfPanel } from '../judgments/panel.ts';
import { JUDGE_FAILURE_REASONS, type JudgeFailureReason } from '../judgments/protocol/failure.ts';
import { MAX_NAME_CHARS } from '../limits.ts';

/** The part that the facts of all families share. Facts take about 4 KB as JSON for a typical rollout. */
export type BaseFacts = { readonly v: number; readonly family: string; readonly panel?: readonly PanelMember[] };

/**
 * A member of a panel and what it observed. Facts that have members hold, in the fields of the family itself, the
 * majority of them, which counts of answers and alerts read. A reward is always computed from the members.
 */
export type PanelMember<F extends BaseFacts = BaseFacts> = MemberOfPanel & { readonly facts: F };

/**
 * A judged value, or the reason why it is missing. `not_measured`: no judge was asked, because the reward did not
 * depend on the answer.
 */
export type Observed<T> =
  | { readonly status: 'scored'; readonly observed: T }
  | { readonly status: 'unscored'; readonly reason: JudgeFailureReason | 'not_measured' };

/** The read-only form of a type, for facts that a schema describes. */
export type FactsOf<T> = T extends (infer Member)[]
  ? readonly FactsOf<Member>[]
  : T extends object
    ? { readonly [Name in keyof T]: FactsOf<T[Name]> }
    : T;

/** The type of the observed value in an `Observed` type. */
export type ObservedIn<Part> =
  Extract<Part, { readonly status: 'scored' }> extends { readonly observed: infer Value } ? Value : never;

/** The schema of `Observed<T>`, from that of `T`. */
export const observedSchema = <T extends z.ZodType>(part: T) =>
  z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('scored'), observed: part }),
    z.strictObject({ status: z.literal('unscored'), reason: z.enum([...JUDGE_FAILURE_REASONS, 'not_measured']) }),
  ]);

// Schemas of values that facts of several families hold.
export const countSchema = z.int().min(0);
export const shareFactSchema = z.number().min(0).max(1);
// A judge gives one of these; the type is wider because the mean of several judges (votes.ts) lies between them.
export const criterionScoreSchema: z.ZodType<number> = z.literal([0, 1, 2]);
export const supportSchema: z.ZodType<number> = z.literal([0, 0.5, 1]);
// Of a judge that was asked to quote the answer, for a score above 0.
export const evidenceSchema = z.enum(['verified', 'unverified', 'missing']);
// `unverified`: no cited source contains the judge's quote. Absent if no quote was asked for or given.
export const quoteSchema = z.enum(['verified', 'unverified']);
export const finishReasonFactSchema = z.string().max(MAX_NAME_CHARS).nullable();
export const uncitedFactSchema = z.strictObject({ cited: z.literal(false), needs_citation: z.boolean() });
