/** The facts of a long-trace rollout. */
import * as z from 'zod';
import {
  countSchema,
  finishReasonFactSchema,
  type Observed,
  observedSchema,
  shareFactSchema,
} from '../../family/facts.ts';

export type LongTraceFacts = {
  readonly v: 1;
  readonly family: 'long-trace';
  /** The response has a final answer, and its thinking is closed. */
  readonly well_formed: boolean;
  readonly finish_reason: string | null;
  /** Whether the final answer agrees with the reference, [0, 1]. */
  readonly outcome: Observed<number>;
  /** Gold entities, and how many of them occur in each text; `null` = the row has none. */
  readonly entities: {
    readonly total: number;
    readonly content: number;
    readonly reasoning: number;
    readonly both: number;
  } | null;
  /** F-beta (beta 2) of the named chunk ids, [0, 1]; `null` = the row has no gold chunks. */
  readonly chunks: number | null;
};

export const longTraceFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('long-trace'),
  well_formed: z.boolean(),
  finish_reason: finishReasonFactSchema,
  outcome: observedSchema(shareFactSchema),
  entities: z
    .strictObject({ total: countSchema, content: countSchema, reasoning: countSchema, both: countSchema })
    .nullable(),
  chunks: shareFactSchema.nullable(),
});
