/**
 * `POST /v1/verify/stream`: verifies a response while it arrives. The request is JSON lines: first the fields of `POST
 * /v1/verify` except the response, then the response in pieces; the end of the body ends the response. The reply is
 * server-sent events.
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
import { OFFSET_UNITS } from '../citations/offset-units.ts';
import { EXACTLY_ONE_ORIGIN, hasOneOrigin, oneOriginRule, textSchema } from '../family/rollout-schema.ts';
import { problemSchema } from './problem.ts';
import { verifyQuerySchema, verifyRequestSchema, verifyResponseSchema } from './verify.ts';

const {
  response: _response,
  offsets: _offsets,
  cited_answer: _citedAnswer,
  answer_format: _answerFormat,
  ...headFields
} = verifyRequestSchema.shape;

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
    .enum(OFFSET_UNITS)
    .default('utf16')
    .refine((offsets) => offsets === 'utf16', {
      error: 'a stream has offsets in UTF-16 code units only; POST /v1/verify has other units',
    })
    .describe('Only utf16 (code units); other units are refused.'),
});

const ordinalSchema = indexSchema.describe('Ordinal of the answer.');
const citationSchema = offsetSchema.describe('Start of the citation; findings and claims of one citation share it.');

const answerEventSchema = z.union([
  z.strictObject({ state: z.literal('opened'), answer: ordinalSchema, start: offsetSchema }),
  z.strictObject({ state: z.literal('closed'), answer: ordinalSchema, content: spanSchema }),
  z
    .strictObject({ state: z.literal('judged'), answer: ordinalSchema.nullable() })
    .describe('The answer that is judged; null = no answer was closed. Events of other answers are void.'),
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
  .describe('A completed claim. It is void if the response ends without an answer.');

const findingEventSchema = z
  .strictObject({
    reason: findingReasonSchema,
    in: z.literal('response'),
    span: spanSchema,
    answer: ordinalSchema.nullable().describe('null = the finding holds whichever answer is judged.'),
    citation: citationSchema
      .nullable()
      .describe('If citation_unclosed is reported for this citation, its other findings are void.'),
  })
  .describe('A finding that no later text of a well-formed response can revoke.');

/** Data of each event, by event name. */
export const verifyStreamEventSchemas = {
  answer: answerEventSchema,
  claim: claimEventSchema,
  finding: z.union([
    findingEventSchema,
    findingSchema.describe('A finding of a source; sent before all other events.'),
  ]),
  done: verifyResponseSchema,
  error: problemSchema,
};

export const verifyStreamEventSchema = z
  .union(Object.values(verifyStreamEventSchemas))
  .describe('Data of an event: answer, claim, finding; then done (as POST /v1/verify answers) or error (a problem).');
