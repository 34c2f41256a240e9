/**
 * `POST /v1/refine`: a question and raw tool output in, n cited answers of a policy out: verified, scored where a recipe is
 * given, best first. The events of the same as a stream stand in refine-stream.ts.
 */
import * as z from 'zod';
import {
  citedIdSchema,
  findingReasonSchema,
  indexSchema,
  offsetSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import {
  EXACTLY_ONE_ORIGIN,
  hasOneOrigin,
  oneOriginRule,
  originFields,
  questionSchema,
  rubricsSchema,
  textSchema,
} from '../family/rollout-schema.ts';
import { unscoredReasonSchema } from '../family/unscored-reason.ts';
import { REFINER_PROMPT_TOKENS, REFINER_RESPONSE_TOKENS } from '../generation/refiner-prompt.ts';
import { tokenUsageSchema } from '../judgments/judgment-schema.ts';
import { MAX_GENERATED_TOKENS, MAX_GROUP, MAX_NAME_CHARS, MAX_PROMPT_TOKENS, MAX_SEED } from '../limits.ts';
import { recipeReportSchema } from '../scoring/score-reply.ts';
import { advantageOptionsSchema, advantageProblems, groupResponseSchema } from './groups.ts';
import { problemSchema } from './problem.ts';
import { onJudgeFailureSchema, recipeInputSchema, scoreResponseSchema, scoringFields } from './score.ts';
import { verifyQuerySchema, verifyResponseSchema } from './verify.ts';

/** Everything is sent to the server, so that none of its own defaults gets in. */
export const refineSamplingSchema = z.strictObject({
  temperature: z.number().min(0).max(2).default(1).describe('0 = greedy. The refiners were trained at 1 [card].'),
  top_p: z.number().gt(0).max(1).default(1),
  top_k: z.int().min(1).max(1_000_000).nullable().default(null).describe('null = all tokens.'),
  seed: z
    .int()
    .min(0)
    .max(MAX_SEED)
    .nullable()
    .default(null)
    .describe('Candidate i gets seed + i. null = left to chance.'),
  max_tokens: z
    .int()
    .min(1)
    .max(MAX_GENERATED_TOKENS)
    .default(REFINER_RESPONSE_TOKENS)
    .describe('Of each candidate, thinking included. The default is the training length [card].'),
});

/** What says how candidates are scored, and means nothing without a recipe. */
const { judge, judgments, replicate } = scoringFields;
const scoring = {
  positive_rubrics: rubricsSchema.exactOptional(),
  negative_rubrics: rubricsSchema.exactOptional(),
  judge,
  judgments,
  replicate,
  on_judge_failure: onJudgeFailureSchema.default('null'),
  advantages: advantageOptionsSchema.default('mean'),
};

export const refineRequestSchema = z
  .strictObject({
    question: questionSchema,
    reasoning: textSchema.exactOptional().describe("The agent's reasoning so far; the policy reads it."),
    ...originFields,
    mode: z
      .enum(['answer_only', 'full'])
      .default('answer_only')
      .describe('Whether the policy may think before its answer. It changes the prompt, findings and format.'),
    n: z.int().min(1).max(MAX_GROUP).default(1).describe('Candidates.'),
    sampling: refineSamplingSchema.prefault({}),
    prompt_tokens: z
      .int()
      .min(1)
      .max(MAX_PROMPT_TOKENS)
      .default(REFINER_PROMPT_TOKENS)
      .describe(
        "What the prompt may take, estimated from above; tool output beyond it is cut at its end. Never more than the generator's context less max_tokens. The default is the training length [card].",
      ),
    generator: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured generator.'),
    evidence: verifyQuerySchema.shape.evidence,
    recipe: recipeInputSchema.exactOptional().describe('Of the refiner family. Without one nothing is scored.'),
    ...scoring,
    stream: z.boolean().default(false).describe('Answer with server-sent events.'),
    on_invented_citation: z
      .enum(['flag', 'abort'])
      .default('flag')
      .describe('abort: a candidate is stopped as soon as it cites an id that no source has.'),
  })
  .refine(hasOneOrigin, oneOriginRule)
  .superRefine((request, context) => {
    // Known before anything is paid for.
    for (const { path, message } of advantageProblems(request.advantages)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
    if (request.recipe !== undefined) return;
    for (const field of scoringFieldsGiven(request)) {
      context.addIssue({ code: 'custom', path: [field], message: 'nothing is scored without a recipe' });
    }
  })
  .meta(EXACTLY_ONE_ORIGIN);

export type RefineRequest = z.infer<typeof refineRequestSchema>;

/** Fields that would change how candidates are scored: those with a default only where they differ from it. */
function scoringFieldsGiven(request: z.infer<z.ZodObject<typeof scoring>>): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    ['positive_rubrics', request.positive_rubrics !== undefined],
    ['negative_rubrics', request.negative_rubrics !== undefined],
    ['judge', request.judge !== undefined],
    ['judgments', request.judgments !== 'use'],
    ['replicate', request.replicate !== 0],
    ['on_judge_failure', request.on_judge_failure !== 'null'],
    ['advantages', request.advantages !== 'mean'],
  ];
  return given.flatMap(([field, isGiven]) => (isGiven ? [field] : []));
}

/** Why a candidate was not written to its end. */
export const abortedSchema = z
  .strictObject({
    reason: z.literal('invented_citation'),
    id: z.string().describe('The cited id that no source has.'),
    span: spanSchema.describe('Where it stands in the response.'),
  })
  .describe('Stopped by us, as on_invented_citation asked. What was received by then is the response.');

export const cutSchema = z
  .strictObject({ kept_chars: indexSchema, chars: indexSchema })
  .describe('The policy saw the first kept_chars of chars UTF-16 code units of the tool output.');

/** Reasons of a refinement, beside those of scoring. */
export const CANDIDATE_UNSCORED_REASONS = ['aborted', 'response_too_large'] as const;

const scoredFields = {
  reward: z.number().nullable().exactOptional().describe('null = could not be determined; reason says why.'),
  status: z.enum(['scored', 'unscored']).exactOptional(),
  reason: z
    .union([unscoredReasonSchema, z.enum(CANDIDATE_UNSCORED_REASONS)])
    .nullable()
    .exactOptional(),
  score: scoreResponseSchema
    .nullable()
    .exactOptional()
    .describe('As /v1/groups answers for this sample; null where it was not sent to be scored.'),
  advantage: z.number().exactOptional(),
  masked: z.boolean().exactOptional().describe('Unscored: to be left out of the loss.'),
};

export const candidateSchema = z.strictObject({
  index: indexSchema.describe('As generated.'),
  response: z.string().describe("The policy's whole output; where it was stopped, what was received."),
  thinking: z.string().exactOptional().describe('Where the server splits it off; else it stands in the response.'),
  finish_reason: z
    .string()
    .nullable()
    .describe('As the server said it: "stop", "length", …; null where we stopped the candidate.'),
  aborted: abortedSchema.nullable(),
  verification: verifyResponseSchema.describe(
    'As POST /v1/verify answers for this response and the tool output as the policy saw it. Without evidence where the response is too large to be compared.',
  ),
  ...scoredFields,
});

const { mean, std, valid, degenerate } = groupResponseSchema.shape;

/** What is known before the first candidate. */
export const refineStartFields = {
  generator: z.string(),
  model: z.string(),
  prompt_tokens: z.int().min(1).describe('What the prompt was held to.'),
  cut: cutSchema.nullable().describe('null = the policy saw all of the tool output.'),
  tool_output: z
    .string()
    .exactOptional()
    .describe('Where the request gave sources: the text that the policy saw, which spans of sources point into.'),
};

export const refineResponseSchema = z.strictObject({
  candidates: z
    .array(candidateSchema)
    .min(1)
    .describe(
      'Best first. With a recipe: by reward, unscored last. Without: stopped candidates last; well formed first (in the mode asked for), then fewer invented ids, then the larger cited_share. Ties by index.',
    ),
  ...refineStartFields,
  sampling: refineSamplingSchema.describe('As sent.'),
  usage: tokenUsageSchema.nullable().describe('Of all candidates, as the server counts; null = not known.'),
  group: z.strictObject({ mean, std, valid, degenerate }).exactOptional().describe('With a recipe.'),
  recipe: recipeReportSchema.exactOptional(),
});

export type RefineResponse = z.infer<typeof refineResponseSchema>;

const candidateIndexSchema = indexSchema.describe('Index of the candidate.');
const citationSchema = offsetSchema.describe('Where the citation begins: it joins findings and claims.');
const { finish_reason, aborted, verification } = candidateSchema.shape;

const piece = z.strictObject({ candidate: candidateIndexSchema, text: z.string() });

export const refineEventSchemas = {
  start: z.strictObject({ ...refineStartFields, n: z.int().min(1) }).describe('Before anything is generated.'),
  delta: piece.describe('The next piece of a response. Pieces of different candidates interleave.'),
  thinking: piece.describe('The next piece of thinking, where the server splits it off.'),
  claim: z
    .strictObject({
      candidate: candidateIndexSchema,
      answer: indexSchema.describe('Ordinal of the answer block.'),
      citation: citationSchema,
      index: indexSchema,
      text: z.string(),
      span: spanSchema,
      element: spanSchema,
      ids: z.array(citedIdSchema),
      evidence: verifyResponseSchema.shape.claims.element.shape.evidence,
    })
    .describe('A claim that has closed.'),
  finding: z
    .strictObject({
      candidate: candidateIndexSchema,
      reason: findingReasonSchema,
      in: z.literal('response'),
      span: spanSchema,
      answer: indexSchema.nullable(),
      citation: citationSchema.nullable(),
    })
    .describe('Certain unless the answer or the citation is never closed; the candidate event has the last word.'),
  candidate: z
    .strictObject({ candidate: candidateIndexSchema, finish_reason, aborted, verification })
    .describe('A candidate that has ended.'),
  done: refineResponseSchema.describe('The whole reply, as without stream. The last event.'),
  error: problemSchema.describe('There is no whole reply: what was sent stands, and is not all. The last event.'),
};

/** Data of any event, for the description of the API. */
export const refineEventSchema = z
  .union(Object.values(refineEventSchemas))
  .describe('Data of an event: start, delta, thinking, claim, finding, candidate; then done or error.');
