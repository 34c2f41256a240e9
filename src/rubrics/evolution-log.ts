/**
 * The log of one prompt: what happened to its criteria, in order. The set of any step is a fold over the log
 * (evolution.ts) and is never stored alone, so a run can resume from a checkpoint, and be folded again under other rules.
 */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_CRITERIA } from '../limits.ts';
import { REJECTION_REASONS } from './check-criteria.ts';
import { promptCriterionSchema, setEntrySchema } from './rubric-set.ts';

const weighted = z.strictObject({
  id: sha256Schema,
  criterion: promptCriterionSchema,
  weight: setEntrySchema.shape.weight,
});

const rejected = z.strictObject({
  polarity: promptCriterionSchema.shape.polarity,
  title: z.string().exactOptional(),
  description: z.string().describe('May be empty.'),
  failed: z.enum(REJECTION_REASONS).describe('The check that it failed.'),
});

/** A criterion with its id and weight. */
export type WeightedCriterion = Readonly<z.infer<typeof weighted>>;

const at = { step: z.int().min(0), group: z.string() };
const ids = z.array(sha256Schema).max(MAX_CRITERIA);

export const criterionStatisticsSchema = z.strictObject({
  id: sha256Schema,
  n: z.int().min(0).describe('Members of the group that have a verdict.'),
  mean: z.number().nullable(),
  std: z.number().min(0).nullable().describe('Population standard deviation of the scores; null below two.'),
});
/** How one criterion's scores spread over a group; scores are in [0, 1]. */
export type CriterionStatistics = Readonly<z.infer<typeof criterionStatisticsSchema>>;

/** Why a criterion is no longer active, or is again. `by_hand`: an edit of a person. */
const reasonSchema = z.enum([
  'zero_std',
  'low_std',
  'over_cap',
  'oldest',
  'proposed_again',
  'every_n_steps',
  'by_hand',
]);

/** A criterion that a generator wrote and that failed a check. */
export type RejectedProposal = Readonly<z.infer<typeof rejected>>;

/** What happened: facts, which no rule decides. */
const observed = [
  z.strictObject({ event: z.literal('started'), question: sha256Schema, own: z.array(weighted).max(MAX_CRITERIA) }),
  z.strictObject({
    event: z.literal('proposed'),
    ...at,
    criteria: z.array(weighted).max(MAX_CRITERIA),
    under: sha256Schema.describe('The set that the generator was shown.'),
    judgment: sha256Schema.nullable().describe('Key of the generation.'),
    responses: z.array(sha256Schema).describe('Digests of the responses that the generator read.'),
    rejected: z
      .array(rejected)
      .exactOptional()
      .describe('Criteria that the generator wrote and that failed a check; absent = none.'),
  }),
  z.strictObject({ event: z.literal('generation_failed'), ...at, reason: z.string() }),
  z.strictObject({
    event: z.literal('scored'),
    ...at,
    set: sha256Schema,
    statistics: z.array(criterionStatisticsSchema).max(MAX_CRITERIA),
  }),
] as const;

/** What the rules, or a person, made of it. */
const decided = [
  z.strictObject({ event: z.literal('activated'), ...at, ids }),
  z.strictObject({ event: z.enum(['retired', 'capped', 'restored']), ...at, ids, reason: reasonSchema }),
] as const;

/** The schema of one event, as JSON. */
export const evolutionEventSchema = z.discriminatedUnion('event', [...observed, ...decided]);
/** One event of a prompt's log. `step` counts training steps from 0; `group` names the group of samples. */
export type EvolutionEvent = Readonly<z.infer<typeof evolutionEventSchema>>;
/** An event that a rule or a person decided. */
export type Decision = Extract<EvolutionEvent, { event: 'activated' | 'retired' | 'capped' | 'restored' }>;

/** The group of events by hand; no group of samples has this id. */
export const BY_HAND = '';

/** Whether an event was decided by a rule, so that other rules may decide otherwise. */
export function isRuleDecision(event: EvolutionEvent): event is Decision {
  switch (event.event) {
    case 'activated':
      return true;
    case 'retired':
    case 'capped':
    case 'restored':
      return event.reason !== 'by_hand';
    case 'started':
    case 'proposed':
    case 'generation_failed':
    case 'scored':
      return false;
  }
}
