/**
 * The ledger row on the wire and in storage (src/runs/row.ts), version 1. A row of another form is refused: replay
 * composes rewards from what stands here, so nothing is guessed at or filled in.
 */
import * as z from 'zod';
import { factsSchema } from '../families/registry.ts';
import { unscoredReasonSchema } from '../family/score.ts';
import { judgmentKindSchema, sha256Schema } from '../judgments/judgment-schema.ts';
import { placeIdSchema, runIdSchema, stepSchema } from './placement.ts';
import type { LedgerRow } from './row.ts';

const countSchema = z.int().min(0);

const pinnedJudgmentSchema = z.strictObject({
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
