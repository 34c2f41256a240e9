/** Events of `POST /v1/refine` with `stream: true`: their data, by their names. */
import * as z from 'zod';
import {
  citedIdSchema,
  findingReasonSchema,
  indexSchema,
  offsetSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import { problemSchema } from './problem.ts';
import { candidateSchema, refineResponseSchema, refineStartFields } from './refine.ts';
import { verifyResponseSchema } from './verify.ts';

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
