/**
 * The ledger row on the wire and in storage (src/runs/row.ts), version 1. A row of another form is refused: replay
 * composes rewards from what stands here, so nothing is guessed at or filled in.
 */
import * as z from 'zod';
import { unscoredReasonSchema } from '../family/unscored-reason.ts';
import { judgmentKindSchema, sha256Schema } from '../judgments/judgment-schema.ts';
import { JUDGE_FAILURE_REASONS, TEST_OUTCOMES } from '../judgments/types.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import { placeIdSchema, runIdSchema, stepSchema } from './placement.ts';
import type { LedgerRow } from './row.ts';

const observed = <T extends z.ZodType>(part: T) =>
  z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('scored'), observed: part }),
    z.strictObject({ status: z.literal('unscored'), reason: z.enum([...JUDGE_FAILURE_REASONS, 'not_measured']) }),
  ]);

const countSchema = z.int().min(0);
const shareSchema = z.number().min(0).max(1);
const scoreSchema = z.literal([0, 1, 2]);
const supportSchema = z.literal([0, 0.5, 1]);
const finishReasonSchema = z.string().max(MAX_NAME_CHARS).nullable();
const uncitedSchema = z.strictObject({ cited: z.literal(false), needs_citation: z.boolean() });

const refinerFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('refiner'),
  has_answer: z.boolean(),
  format: z.strictObject({ answer_only: z.literal([0, 1]), full: z.literal([0, 1]) }),
  finish_reason: finishReasonSchema,
  rubric: observed(
    z.array(
      z.strictObject({
        origin: z.enum(['instance', 'static']),
        polarity: z.enum(['positive', 'negative']),
        weight: z.number().min(0),
        score: scoreSchema,
      }),
    ),
  ),
  citation: observed(
    z.array(
      z.discriminatedUnion('cited', [
        z.strictObject({
          cited: z.literal(true),
          support: supportSchema,
          relevant: z.array(z.boolean()),
          quote: z.enum(['verified', 'unverified']).exactOptional(),
        }),
        uncitedSchema,
      ]),
    ),
  ),
});

const longTraceFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('long-trace'),
  well_formed: z.boolean(),
  finish_reason: finishReasonSchema,
  outcome: observed(shareSchema),
  entities: z
    .strictObject({ total: countSchema, content: countSchema, reasoning: countSchema, both: countSchema })
    .nullable(),
  chunks: shareSchema.nullable(),
});

const toolCallFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('tool-call'),
  outcome: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('math'), exact: z.boolean(), equivalent: observed(z.boolean()) }),
    z.strictObject({
      kind: z.literal('code'),
      runnable: z.boolean(),
      tests: observed(z.array(z.enum(TEST_OUTCOMES)).min(1)),
    }),
  ]),
  num_turns: countSchema,
  response_tokens: countSchema,
});

const drTuluFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('dr-tulu'),
  compat: z.enum(['exact', 'corrected']),
  has_answer: z.boolean(),
  finish_reason: finishReasonSchema,
  format: shareSchema,
  queries: countSchema,
  rubric: observed(z.array(z.strictObject({ weight: z.number(), score: scoreSchema }))),
  citation: observed(
    z.strictObject({
      statements: z.array(
        z.discriminatedUnion('cited', [
          z.strictObject({ cited: z.literal(true), support: supportSchema, relevance: shareSchema }),
          uncitedSchema,
        ]),
      ),
      valid_id_ratio: shareSchema,
    }),
  ),
});

export const factsSchema = z.discriminatedUnion('family', [
  refinerFactsSchema,
  longTraceFactsSchema,
  toolCallFactsSchema,
  drTuluFactsSchema,
]);

export const pinnedJudgmentSchema = z.strictObject({
  kind: judgmentKindSchema,
  key: sha256Schema,
  verdicts: sha256Schema.describe('SHA-256 of the RFC 8785 JSON of its verdicts.'),
});

/** What replay reads of a rollout, as it stands in storage: the rest of its row are columns. */
export const storedFactsSchema = z.strictObject({
  v: z.literal(1),
  facts: factsSchema.describe('All that was observed, and nothing of a recipe.'),
  judgments: z.array(pinnedJudgmentSchema).describe('What the facts were read from.'),
  reward: z.number().nullable().describe('As it was answered; null = unscored.'),
  reason: unscoredReasonSchema.nullable(),
});

/** The rest of the row. */
export const ledgerPlaceSchema = z.strictObject({
  run: runIdSchema,
  step: stepSchema.nullable().describe('null where the trainer does not say.'),
  group: placeIdSchema,
  sample: placeIdSchema,
  attempt: countSchema.describe('From 0; other content at the same place is a new attempt. The latest counts.'),
  grouping: z.enum(['given', 'inferred']).describe('inferred: group and sample are digests of prompt and request.'),
  content: sha256Schema.describe('Of rollout, recipe and judge: equal content is recorded once.'),
  recipe: sha256Schema.describe('Digest of the recipe that it was scored under.'),
  recorded_at: z.iso.datetime(),
});

export const ledgerRowSchema = z.strictObject({
  ...storedFactsSchema.shape,
  ...ledgerPlaceSchema.shape,
}) satisfies z.ZodType<LedgerRow>;
