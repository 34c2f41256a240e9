/** `POST /v1/verify`: a response and its sources in, what can be said of its citations without a judge out. */
import * as z from 'zod';
import {
  citedIdSchema,
  findingCountsSchema,
  findingReasonSchema,
  findingSchema,
  formatSchema,
  indexSchema,
  offsetSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import { GRAMMAR_NAMES } from '../citations/grammars.ts';
import {
  EXACTLY_ONE_ORIGIN,
  hasOneOrigin,
  oneOriginRule,
  originFields,
  responseSchema,
  textSchema,
} from '../family/rollout-schema.ts';

export const verifyRequestSchema = z
  .strictObject({
    response: responseSchema,
    ...originFields,
    question: textSchema.exactOptional().describe('Accepted so that a rollout can be sent as it is; not read.'),
    grammar: z.enum(GRAMMAR_NAMES).default('snippet').describe('How the response marks its citations.'),
    answer: z
      .enum(['first', 'last', 'whole'])
      .exactOptional()
      .describe('Which text is judged. Default: first for element grammars, whole for marker grammars.'),
    mode: z
      .enum(['answer_only', 'full'])
      .default('full')
      .describe('answer_only: text outside the answer block is a finding.'),
  })
  .refine(hasOneOrigin, oneOriginRule)
  .meta(EXACTLY_ONE_ORIGIN);

export type VerifyRequest = z.infer<typeof verifyRequestSchema>;

export const verifyQuerySchema = z.strictObject({
  evidence: z
    .enum(['none', 'lexical'])
    .default('none')
    .describe('lexical: compare the words of each claim with its sources.'),
  offsets: z
    .enum(['utf16', 'utf8'])
    .default('utf16')
    .describe('utf16: code units (JavaScript). utf8: bytes, for other languages.'),
});

const shareSchema = z.number().min(0).max(1);

const sourceSpanSchema = z.strictObject({ source: indexSchema, start: offsetSchema, end: offsetSchema });

const evidenceSchema = z.strictObject({
  support: shareSchema.describe(
    'Calibrated probability that the cited texts support the claim. A flag, not a verdict.',
  ),
  coverage: shareSchema,
  window: sourceSpanSchema.nullable(),
  verbatim: z.array(sourceSpanSchema),
  negation_mismatch: z.boolean(),
  sources: z.array(z.strictObject({ source: indexSchema, coverage: shareSchema, relevant: z.boolean() })),
});

const claimSchema = z.strictObject({
  index: indexSchema,
  text: z.string(),
  span: spanSchema,
  element: spanSchema.describe('The whole element, tags or markers included.'),
  ids: z.array(citedIdSchema),
  duplicate_of: indexSchema.nullable(),
  findings: z.array(findingReasonSchema),
  evidence: evidenceSchema.exactOptional(),
});

const statementSchema = z.strictObject({
  index: indexSchema,
  text: z.string(),
  pieces: z.array(spanSchema),
  needs_citation: z.boolean().exactOptional(),
});

const ratiosSchema = z.strictObject({
  claims: indexSchema,
  uncited_statements: indexSchema,
  citations: indexSchema,
  distinct_ids: indexSchema,
  cited_share: shareSchema.nullable(),
  known_id_share: shareSchema.nullable(),
  source_use: shareSchema.nullable(),
  copied_share: shareSchema.nullable().exactOptional(),
});

export const verifyResponseSchema = z.strictObject({
  answer: spanSchema.nullable().describe('The judged text; null = no answer.'),
  format: formatSchema,
  ratios: ratiosSchema,
  claims: z.array(claimSchema),
  statements: z.array(statementSchema).describe('Uncited statements.'),
  findings: z.array(findingSchema),
  finding_counts: findingCountsSchema,
  sources: z.array(
    z.strictObject({
      index: indexSchema,
      id: z.string(),
      title: z.string().exactOptional(),
      url: z.string().exactOptional(),
      span: spanSchema.nullable().describe('Where the text stands in tool_output.'),
    }),
  ),
});
