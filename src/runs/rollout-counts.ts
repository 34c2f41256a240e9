/**
 * The counts of a rollout that the figures and alerts of a run read: claims, citations, lengths, findings, criteria,
 * words, and what the trainer says of the rollout.
 */
import * as z from 'zod';
import type { CriterionCount } from '../family/fact-counts.ts';
import { MAX_METRICS, MAX_NAME_CHARS } from '../limits.ts';

const countSchema = z.int().min(0);
/** Names of models are cut to this length. */
export const MAX_JUDGED_BY_CHARS = 200;

const ANSWER_HASH = /^[0-9a-f]{12}$/;

/** What the citation parser says about an answer. */
export const answerStructureSchema = z.strictObject({
  claims: countSchema.describe('Claims that cite.'),
  ids: countSchema.describe('Different ids of each claim, summed.'),
  repeated: countSchema.describe('How often a claim cites an id again.'),
  place: countSchema
    .nullable()
    .describe('Position of the source that most claims cite; null = none, or several alike.'),
  hedges: z.boolean().describe('It cites a claim, and says that the sources do not answer.'),
});

export type AnswerStructure = z.infer<typeof answerStructureSchema>;

/** What comparing words says about an answer (src/lexical/answer-words.ts). It holds no text. */
export const answerCountsSchema = z.strictObject({
  words: countSchema.describe('Words of the answer, without citations.'),
  copied: countSchema.describe('Words in spans of 8 or more that a source contains.'),
  shared: countSchema.describe('Different content words of the question that the answer has.'),
  best: countSchema.describe('The most of them in one sentence of the sources.'),
  sources: countSchema.describe('Sources that the policy saw.'),
  cited: countSchema.describe('How many of them the answer cites.'),
  hash: z
    .string()
    .regex(ANSWER_HASH)
    .describe('48 bits of the SHA-256 of run id and answer. Equal answers of a run have equal hashes.'),
  structure: answerStructureSchema
    .exactOptional()
    .describe('Its claims and citations. Absent in runs of earlier versions.'),
});

export type AnswerCounts = z.infer<typeof answerCountsSchema>;

/** What the trainer knows of a rollout beside its reward. It is never part of the reward. */
export const outcomeFields = {
  outcome: z
    .number()
    .nullable()
    .exactOptional()
    .describe(
      'Whether the answer is right, or how good it is, by a measure of your own; null = not known. With run: kept beside ' +
        'the rollout, charted and compared with the reward by the alerts. Never part of the reward.',
    ),
  metrics: z
    .record(z.string().min(1).max(MAX_NAME_CHARS), z.number().nullable())
    .refine((metrics) => Object.keys(metrics).length <= MAX_METRICS, {
      error: `expected at most ${MAX_METRICS} metrics`,
    })
    .exactOptional()
    .describe('Further numbers by name, kept and charted like outcome.'),
};

export const outcomeSchema = z.strictObject(outcomeFields);

export type RolloutOutcome = z.infer<typeof outcomeSchema>;

/** `null` = unknown. */
export const rolloutCountsSchema = z.strictObject({
  claims: countSchema.nullable().describe('Claims that cite a source.'),
  citations: countSchema.nullable().describe('Distinct ids that the claims cite, summed over the claims.'),
  chars: countSchema.nullable().describe('Length of the response in UTF-16 code units.'),
  tokens: countSchema.nullable().describe('Length of the response in tokens, as the trainer counts.'),
  findings: z.record(z.string().max(100), countSchema).nullable().describe('Number of findings by reason.'),
  criteria: z
    .string()
    .regex(/^(?:[pns][+-])*$/)
    .max(4_096)
    .nullable()
    .describe(
      "The criteria in order, two characters each: p, n or s for one of the row's positive or negative or of the " +
        "recipe's static ones, + if it is passed.",
    ),
  agreement: z
    .number()
    .min(0)
    .max(1)
    .exactOptional()
    .describe('With several judges: the share of the pairs of members that agree, as the mean over the verdicts.'),
  judged_by: z
    .string()
    .max(MAX_JUDGED_BY_CHARS)
    .exactOptional()
    .describe('The model that judged a single sample whose request listed several judges, one to follow the other.'),
  persistent_reward: z
    .number()
    .exactOptional()
    .describe('Under an evolving rubric: the reward by its persistent criteria alone, where there is one.'),
  answer: answerCountsSchema
    .nullable()
    .exactOptional()
    .describe('The words of the answer; null = there is no answer. Absent in runs of earlier versions.'),
  ...outcomeFields,
});

export type RolloutCounts = z.infer<typeof rolloutCountsSchema>;

const CODES = { positive: 'p', negative: 'n', static: 's' } as const;
const NAMES = new Map([
  ['p', 'positive'],
  ['n', 'negative'],
  ['s', 'static'],
]);

/** The criteria as `RolloutCounts` has them. */
export function codesOf(criteria: readonly CriterionCount[]): string {
  return criteria.map(({ kind, passed }) => CODES[kind] + (passed ? '+' : '-')).join('');
}

/** The criteria by name: `positive_1` is the first positive criterion of the row, and so on. */
export function namedCriteria(criteria: string): { readonly name: string; readonly passed: boolean }[] {
  const numbers = new Map<string, number>();
  return Array.from({ length: criteria.length / 2 }, (_, n) => {
    const code = criteria.charAt(2 * n);
    const number = (numbers.get(code) ?? 0) + 1;
    numbers.set(code, number);
    return { name: `${NAMES.get(code) ?? code}_${number}`, passed: criteria.charAt(2 * n + 1) === '+' };
  });
}
