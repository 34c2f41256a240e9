/**
 * `POST /v1/refine`: a policy answers a question from raw tool output. The reply has n candidates, verified, best
 * first, and scored if the request names a recipe. With `stream: true` the same arrives as events.
 */
import * as z from 'zod';
import {
  citedIdSchema,
  findingReasonSchema,
  indexSchema,
  offsetSchema,
  offsetsSchema,
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
import { unscoredReasonSchema } from '../family/score.ts';
import { REFINER_PROMPT_TOKENS, REFINER_RESPONSE_TOKENS } from '../generation/refiner-prompt.ts';
import { tokenUsageSchema } from '../judgments/judgment-schema.ts';
import { MAX_GENERATED_TOKENS, MAX_GROUP, MAX_NAME_CHARS, MAX_PROMPT_TOKENS, MAX_SEED } from '../limits.ts';
import { recipeReportSchema } from '../scoring/score-reply.ts';
import { advantageOptionsSchema, advantageProblems, groupResponseSchema } from './groups.ts';
import { problemSchema } from './problem.ts';
import {
  hasOneWayOfJudging,
  hasOwnReplicates,
  oneWayOfJudging,
  onJudgeFailureSchema,
  ownReplicates,
  recipeInputSchema,
  scoreResponseSchema,
  scoringFields,
} from './score.ts';
import { verifyQuerySchema, verifyResponseSchema } from './verify.ts';

/** Sampling parameters, all sent explicitly, because servers have defaults of their own. */
const refineSamplingSchema = z.strictObject({
  temperature: z.number().min(0).max(2).default(1).describe('0 = greedy. The refiners were trained at 1 [card].'),
  top_p: z.number().gt(0).max(1).default(1),
  top_k: z.int().min(1).max(1_000_000).nullable().default(null).describe('null = all tokens.'),
  seed: z.int().min(0).max(MAX_SEED).nullable().default(null).describe('Candidate i gets seed + i; null = random.'),
  max_tokens: z
    .int()
    .min(1)
    .max(MAX_GENERATED_TOKENS)
    .default(REFINER_RESPONSE_TOKENS)
    .describe('Limit of each candidate, thinking included. Default: the training length [card].'),
});

/** Scoring fields. They require a recipe. */
const { judge, judges, judgments, replicate } = scoringFields;
const scoring = {
  positive_rubrics: rubricsSchema.exactOptional(),
  negative_rubrics: rubricsSchema.exactOptional(),
  judge,
  judges,
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
      .describe('Whether the policy may think before its answer. The mode changes prompt, findings and format.'),
    n: z.int().min(1).max(MAX_GROUP).default(1).describe('Number of candidates.'),
    sampling: refineSamplingSchema.prefault({}),
    prompt_tokens: z
      .int()
      .min(1)
      .max(MAX_PROMPT_TOKENS)
      .default(REFINER_PROMPT_TOKENS)
      .describe(
        "Budget of the prompt, compared with an upper estimate; tool output beyond it is cut at its end. At most the generator's context minus max_tokens. Default: the training length [card].",
      ),
    generator: z.string().min(1).max(MAX_NAME_CHARS).exactOptional().describe('Name of a configured generator.'),
    evidence: verifyQuerySchema.shape.evidence,
    offsets: offsetsSchema.describe('Unit of all offsets, as in POST /v1/verify. A stream has utf16 only.'),
    recipe: recipeInputSchema
      .exactOptional()
      .describe('A recipe of the refiner family. Without one, nothing is scored.'),
    ...scoring,
    stream: z.boolean().default(false).describe('Whether to answer with server-sent events.'),
    on_invented_citation: z
      .enum(['flag', 'abort'])
      .default('flag')
      .describe('abort: stops a candidate as soon as it cites an id that no source has.'),
  })
  .refine(hasOneOrigin, oneOriginRule)
  .refine(hasOneWayOfJudging, oneWayOfJudging)
  .refine(hasOwnReplicates, ownReplicates)
  .superRefine((request, context) => {
    // Invalid rules are refused before any token is paid for.
    for (const { path, message } of advantageProblems(request.advantages)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
    if (request.stream && request.offsets !== 'utf16') {
      const message = 'expected utf16: the events of a stream count UTF-16 code units';
      context.addIssue({ code: 'custom', path: ['offsets'], message });
    }
    if (request.recipe !== undefined) return;
    for (const field of scoringFieldsGiven(request)) {
      context.addIssue({
        code: 'custom',
        path: [field],
        message: 'expected only together with "recipe": without a recipe nothing is scored',
      });
    }
  })
  .meta(EXACTLY_ONE_ORIGIN);

export type RefineRequest = z.infer<typeof refineRequestSchema>;

/** Names the scoring fields that the request sets, or sets to something other than their default. */
function scoringFieldsGiven(request: z.infer<z.ZodObject<typeof scoring>>): string[] {
  const given: readonly (readonly [string, boolean])[] = [
    ['positive_rubrics', request.positive_rubrics !== undefined],
    ['negative_rubrics', request.negative_rubrics !== undefined],
    ['judge', request.judge !== undefined],
    ['judges', request.judges !== undefined],
    ['judgments', request.judgments !== 'use'],
    ['replicate', request.replicate !== 0],
    ['on_judge_failure', request.on_judge_failure !== 'null'],
    ['advantages', request.advantages !== 'mean'],
  ];
  return given.flatMap(([field, isGiven]) => (isGiven ? [field] : []));
}

/** Why a candidate was stopped before its end. */
const abortedSchema = z
  .strictObject({
    reason: z.literal('invented_citation'),
    id: z.string().describe('The cited id that no source has.'),
    span: spanSchema.describe('Position of the id in the response.'),
  })
  .describe('Stopped because of on_invented_citation. The response is the text received until then.');

const cutSchema = z
  .strictObject({ kept_chars: indexSchema, chars: indexSchema })
  .describe('The policy saw the first kept_chars of chars UTF-16 code units of the tool output.');

/** Reasons for a null reward that only a refinement has, besides those of scoring. */
export const CANDIDATE_UNSCORED_REASONS = ['aborted', 'response_too_large'] as const;

const scoredFields = {
  reward: z.number().nullable().exactOptional().describe('null = undetermined; reason says why.'),
  status: z.enum(['scored', 'unscored']).exactOptional(),
  reason: z
    .union([unscoredReasonSchema, z.enum(CANDIDATE_UNSCORED_REASONS)])
    .nullable()
    .exactOptional(),
  score: scoreResponseSchema
    .nullable()
    .exactOptional()
    .describe('The score of this sample, as in POST /v1/groups; null if it was not scored.'),
  advantage: z.number().exactOptional(),
  masked: z.boolean().exactOptional().describe('Unscored: leave it out of the loss.'),
};

export const candidateSchema = z.strictObject({
  index: indexSchema.describe('Order of generation.'),
  response: z.string().describe("The policy's whole output, or the text received before the candidate was stopped."),
  thinking: z
    .string()
    .exactOptional()
    .describe('Thinking that the server split off. Otherwise it is inside the response.'),
  finish_reason: z
    .string()
    .nullable()
    .describe(
      'The finish reason as the model server reported it: "stop", "length", …; null = Citeward stopped the candidate.',
    ),
  aborted: abortedSchema.nullable(),
  verification: verifyResponseSchema.describe(
    'The reply of POST /v1/verify for this response and the tool output that the policy saw. Without evidence if the response is too large.',
  ),
  ...scoredFields,
});

const { mean, std, valid, degenerate } = groupResponseSchema.shape;

/** Fields that are known before the first candidate. */
const refineStartFields = {
  generator: z.string(),
  model: z.string(),
  prompt_tokens: z.int().min(1).describe('Token budget that the prompt was built for.'),
  cut: cutSchema.nullable().describe('null = the policy saw all of the tool output.'),
  tool_output: z
    .string()
    .exactOptional()
    .describe('If the request gave sources: the text that the policy saw. Spans of sources point into it.'),
};

export const refineResponseSchema = z.strictObject({
  candidates: z
    .array(candidateSchema)
    .min(1)
    .describe(
      'Best first. With a recipe: by reward, unscored last. Without: stopped candidates last, then well-formed first (in the requested mode), fewer invented ids, larger cited_share. Ties by index.',
    ),
  ...refineStartFields,
  sampling: refineSamplingSchema.describe('The sampling parameters as sent.'),
  usage: tokenUsageSchema.nullable().describe('Sum over all candidates, as the server counts; null = unknown.'),
  group: z.strictObject({ mean, std, valid, degenerate }).exactOptional().describe('Present with a recipe.'),
  recipe: recipeReportSchema.exactOptional(),
});

/** The reply of `POST /v1/refine`: the candidates, best first. */
export type RefineResponse = z.infer<typeof refineResponseSchema>;

const candidateIndexSchema = indexSchema.describe('Index of the candidate.');
const citationSchema = offsetSchema.describe('Start of the citation; findings and claims of one citation share it.');
const { finish_reason, aborted, verification } = candidateSchema.shape;

const piece = z.strictObject({ candidate: candidateIndexSchema, text: z.string() });

export const refineEventSchemas = {
  start: z.strictObject({ ...refineStartFields, n: z.int().min(1) }).describe('Sent before generation begins.'),
  delta: piece.describe('The next piece of a response. Pieces of different candidates interleave.'),
  thinking: piece.describe('The next piece of thinking, if the server splits it off.'),
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
    .describe('A completed claim.'),
  finding: z
    .strictObject({
      candidate: candidateIndexSchema,
      reason: findingReasonSchema,
      in: z.literal('response'),
      span: spanSchema,
      answer: indexSchema.nullable(),
      citation: citationSchema.nullable(),
    })
    .describe('Certain unless the answer or the citation is never closed; then the candidate event differs.'),
  candidate: z
    .strictObject({ candidate: candidateIndexSchema, finish_reason, aborted, verification })
    .describe('A completed candidate.'),
  done: refineResponseSchema.describe('The whole reply, as without stream. The last event.'),
  error: problemSchema.describe('The request failed; earlier events belong to an incomplete reply. The last event.'),
};

/** Data of any event, for the OpenAPI document. */
export const refineEventSchema = z
  .union(Object.values(refineEventSchemas))
  .describe('Data of an event: start, delta, thinking, claim, finding, candidate; then done or error.');
