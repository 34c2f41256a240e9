/** `POST /v1/rubrics`: a model writes criteria for a question. */
import * as z from 'zod';
import type { SourceReader } from '../citations/recent-sources.ts';
import { judgedSources } from '../family/judged-sources.ts';
import {
  criterionInputSchema,
  hasNotBothOrigins,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  originFields,
  questionSchema,
  responseSchema,
  textSchema,
} from '../family/rollout-schema.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_CRITERIA, MAX_GROUP, MAX_MADE_CRITERIA } from '../limits.ts';
import { REJECTION_REASONS, REJECTIONS } from '../rubrics/check-criteria.ts';
import { DEFAULT_MOST, type MadeRubrics, type RubricsToMake } from '../rubrics/make-rubrics.ts';
import { polaritySchema, setEntrySchema } from '../rubrics/rubric-set.ts';
import { judgesOf, judgesSchema } from '../scoring/reward-reply.ts';
import { judgedText } from './compare.ts';
import { scoringFields } from './score.ts';

const { title, description } = criterionInputSchema.shape;
const existingSchema = z
  .array(z.strictObject({ polarity: polaritySchema, title, description }))
  .max(MAX_CRITERIA)
  .default([]);

const mostSchema = (usual: number) => z.int().min(0).max(MAX_MADE_CRITERIA).default(usual);

export const makeRubricsRequestSchema = z
  .strictObject({
    question: questionSchema,
    ...originFields,
    reference: textSchema.exactOptional().describe('An answer that is known to be right.'),
    responses: z
      .array(responseSchema)
      .max(MAX_GROUP)
      .default([])
      .describe(
        'Answers whose quality the criteria are to tell apart: up to a whole group, as /v1/groups shows its generator.',
      ),
    reads: z
      .enum(['answer', 'response'])
      .default('answer')
      .describe('answer: the model sees the text after the last thinking. response: also the thinking.'),
    existing: z
      .strictObject({ persistent: existingSchema, active: existingSchema, inactive: existingSchema })
      .partial()
      .default({})
      .describe('Criteria that the prompt has or had. None of them is made again.'),
    most: z
      .strictObject({ positive: mostSchema(DEFAULT_MOST.positive), negative: mostSchema(DEFAULT_MOST.negative) })
      .default(DEFAULT_MOST)
      .describe('The largest numbers of criteria to make.'),
    judge: scoringFields.judge,
    judgments: z
      .enum(['use', 'only'])
      .default('use')
      .describe('use: a stored generation, or a new one. only: a stored one, otherwise 409.'),
    replicate: scoringFields.replicate,
  })
  .refine(hasNotBothOrigins, oneOriginRule)
  .refine(({ most }) => most.positive + most.negative > 0, { path: ['most'], error: 'expected at least one criterion' })
  .meta(NOT_BOTH_ORIGINS);

export type MakeRubricsRequest = z.infer<typeof makeRubricsRequestSchema>;

/** What a request asks to make. */
export function rubricsToMake(request: MakeRubricsRequest, readSources: SourceReader): RubricsToMake {
  const { question, tool_output, sources = [], reference = null, responses, reads, existing, most } = request;
  return {
    question,
    sources: judgedSources(readSources(tool_output === undefined ? { sources } : { tool_output })),
    reference,
    responses: reads === 'answer' ? responses.map(judgedText) : responses,
    existing: (['persistent', 'active', 'inactive'] as const).flatMap((state) =>
      (existing[state] ?? []).map((one) => ({
        state,
        polarity: one.polarity,
        ...(one.title === undefined ? {} : { title: one.title }),
        description: one.description,
      })),
    ),
    most,
  };
}

const madeFields = { polarity: polaritySchema, title: z.string().exactOptional(), description: z.string() };

export const makeRubricsReplySchema = z.strictObject({
  question: sha256Schema.describe('SHA-256 of the question; the name of the prompt in runs.'),
  criteria: z
    .array(z.strictObject({ id: sha256Schema, ...madeFields, weight: setEntrySchema.shape.weight }))
    .describe('The criteria that passed all checks, positive ones first; each has the weight 1.'),
  rejected: z
    .array(
      z.strictObject({
        ...madeFields,
        failed: z.enum(REJECTION_REASONS).describe('The check that it failed.'),
        detail: z.string(),
        of: z.string().nullable().describe('The criterion that it repeats or negates.'),
      }),
    )
    .describe('Criteria that the model wrote and that failed a check.'),
  judgment: sha256Schema.describe('Key of the stored generation.'),
  responses: z.array(sha256Schema).describe('SHA-256 of what the model saw of each response.'),
  judges: judgesSchema.describe('The model that wrote the criteria.'),
});

/** The reply of `POST /v1/rubrics`: the criteria that passed all checks, and those that did not. */
export type MakeRubricsReply = z.infer<typeof makeRubricsReplySchema>;

/** The reply. @throws Error if there is no generation, which is a failure of the request. */
export function makeRubricsReplyOf({
  question,
  criteria,
  rejected,
  responses,
  obtained,
}: MadeRubrics): MakeRubricsReply {
  if (criteria === null || obtained.key === null) throw new Error('makeRubricsReplyOf: no generation');
  return {
    question,
    criteria: criteria.map(({ id, criterion }) => ({ id, ...criterion, weight: 1 })),
    rejected: rejected.map(({ criterion, reason, of }) => ({
      ...criterion,
      failed: reason,
      detail: REJECTIONS[reason],
      of,
    })),
    judgment: obtained.key,
    responses: [...responses],
    judges: judgesOf([{ obtained: [obtained] }]),
  };
}
