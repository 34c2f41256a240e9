/**
 * `POST /v1/verify/stream`: lines of JSON in, server-sent events out. The first line says what `/v1/verify` is told besides
 * the response; each further line is a piece of the response; the body's end is the response's.
 */
import * as z from 'zod';
import {
  citedIdSchema,
  findingReasonSchema,
  findingSchema,
  indexSchema,
  offsetSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import { EXACTLY_ONE_ORIGIN, hasOneOrigin, oneOriginRule, textSchema } from '../family/rollout-schema.ts';
import { problemSchema } from './problem.ts';
import { verifyQuerySchema, verifyRequestSchema, verifyResponseSchema } from './verify.ts';

const { response: _, ...headFields } = verifyRequestSchema.shape;

export const verifyStreamHeadSchema = z
  .strictObject(headFields)
  .refine(hasOneOrigin, oneOriginRule)
  .meta(EXACTLY_ONE_ORIGIN);

export type VerifyStreamHead = z.infer<typeof verifyStreamHeadSchema>;

export const verifyStreamDeltaSchema = z.strictObject({
  delta: textSchema.describe('The next piece of the response, cut anywhere.'),
});

export const verifyStreamLineSchema = z
  .union([verifyStreamHeadSchema, verifyStreamDeltaSchema])
  .describe('The first line, then any number of deltas.');

export const verifyStreamQuerySchema = z.strictObject({
  evidence: verifyQuerySchema.shape.evidence,
  offsets: z
    .enum(['utf16', 'utf8'])
    .default('utf16')
    .refine((offsets) => offsets === 'utf16', {
      error: 'a stream has offsets in UTF-16 code units only; POST /v1/verify gives bytes',
    })
    .describe('Only utf16: code units. utf8 is refused here.'),
});

const ordinalSchema = indexSchema.describe('Ordinal of the answer.');
const citationSchema = offsetSchema.describe('Where the citation begins: it joins findings and claims.');

const answerEventSchema = z.union([
  z.strictObject({ state: z.literal('opened'), answer: ordinalSchema, start: offsetSchema }),
  z.strictObject({ state: z.literal('closed'), answer: ordinalSchema, content: spanSchema }),
  z
    .strictObject({ state: z.literal('judged'), answer: ordinalSchema.nullable() })
    .describe('Which answer is judged; null = none was closed. Events of other answers do not stand.'),
]);

const claimEventSchema = z
  .strictObject({
    answer: ordinalSchema,
    citation: citationSchema,
    index: indexSchema,
    text: z.string(),
    span: spanSchema,
    element: spanSchema,
    ids: z.array(citedIdSchema),
    evidence: verifyResponseSchema.shape.claims.element.shape.evidence,
  })
  .describe('A claim that has closed. It stands unless there is no answer in the end.');

const findingEventSchema = z
  .strictObject({
    reason: findingReasonSchema,
    in: z.literal('response'),
    span: spanSchema,
    answer: ordinalSchema.nullable().describe('null = it stands whichever answer is judged.'),
    citation: citationSchema
      .nullable()
      .describe('If citation_unclosed is reported for it, what else was found about it does not stand.'),
  })
  .describe('What no later text of a well-formed response takes back.');

/** Data of the events, by their names. */
export const verifyStreamEventSchemas = {
  answer: answerEventSchema,
  claim: claimEventSchema,
  finding: z.union([findingEventSchema, findingSchema.describe('Of a source, before everything else.')]),
  done: verifyResponseSchema,
  error: problemSchema,
};

export const verifyStreamEventSchema = z
  .union(Object.values(verifyStreamEventSchemas))
  .describe('Data of an event: answer, claim, finding; then done (as POST /v1/verify answers) or error (a problem).');
