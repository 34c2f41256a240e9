/** `POST /v1/verify`: checks the citations of a response against its sources, without a judge. */
import * as z from 'zod';
import { CITATION_POLICIES } from '../citations/citation-policy.ts';
import {
  citedIdSchema,
  findingCountsSchema,
  findingReasonSchema,
  findingSchema,
  formatSchema,
  indexSchema,
  offsetSchema,
  offsetUnitSchema,
  spanSchema,
} from '../citations/finding-schema.ts';
import { type CitedAnswerReport, citedAnswerReport, citedAnswerReportSchema } from '../citations/formats/report.ts';
import { validatedAnswer } from '../citations/formats/requested-answer.ts';
import { GRAMMAR_NAMES } from '../citations/grammars.ts';
import { type OffsetUnit, withOffsets } from '../citations/offset-units.ts';
import { parseResponse, sizeProblems } from '../citations/parse.ts';
import type { SourceReader } from '../citations/recent-sources.ts';
import { type SourceInput, sourcesOf } from '../citations/sources.ts';
import { describeResponse, type Verification } from '../citations/verify.ts';
import {
  checkCitedAnswer,
  citedAnswerFields,
  EXACTLY_ONE_ORIGIN,
  NOT_BOTH_ORIGINS,
  oneOriginRule,
  originFields,
  responseSchema,
  rolloutSources,
  textSchema,
} from '../family/rollout-schema.ts';
import type { InputProblem } from '../input-problem.ts';
import { KNOWN_LANGUAGES } from '../lexical/index.ts';
import type { Result } from '../result.ts';

export const citationsSchema = z
  .enum(CITATION_POLICIES)
  .default('allowed')
  .describe('required: an answer that cites nothing is a finding. forbidden: each citation of the answer is one.');

export const verifyRequestSchema = z
  .strictObject({
    response: responseSchema.exactOptional(),
    ...citedAnswerFields,
    ...originFields,
    question: textSchema
      .exactOptional()
      .describe('With lexical evidence, a claim that says nothing that the question does not is a finding.'),
    grammar: z.enum(GRAMMAR_NAMES).default('snippet').describe('The citation syntax of the response.'),
    answer: z
      .enum(['first', 'last', 'whole'])
      .exactOptional()
      .describe('The text to judge. Default: first for element grammars, else whole.'),
    mode: z
      .enum(['answer_only', 'full'])
      .default('full')
      .describe('answer_only: text outside the answer block is a finding.'),
    citations: citationsSchema,
    offsets: offsetUnitSchema.exactOptional().describe('Unit of all offsets, as in the query. Default utf16.'),
  })
  .refine(hasOriginOrAnswer, oneOriginRule)
  .refine(hasResponseOrAnswer, {
    ...oneOriginRule,
    path: ['response'],
    error: 'give exactly one of response (a string) and cited_answer',
  })
  .refine(({ cited_answer, grammar }) => cited_answer === undefined || grammar === 'snippet', {
    path: ['grammar'],
    error: 'not with cited_answer: its citations are fields; answer_format names their format',
  })
  .check(checkCitedAnswer)
  .meta({
    oneOf: [
      { required: ['response'], ...EXACTLY_ONE_ORIGIN },
      { required: ['cited_answer'], ...NOT_BOTH_ORIGINS },
    ],
  });

type Origins = { readonly tool_output?: string; readonly sources?: readonly SourceInput[] };
type Answers = { readonly response?: string; readonly cited_answer?: unknown };

function hasResponseOrAnswer({ response, cited_answer }: Answers): boolean {
  return (response === undefined) !== (cited_answer === undefined);
}

/** A vendor's answer can carry its sources. */
function hasOriginOrAnswer(request: Origins & Answers): boolean {
  const given = [request.tool_output, request.sources].filter((origin) => origin !== undefined).length;
  return given === 1 || (given === 0 && request.cited_answer !== undefined);
}

type VerifyRequest = z.infer<typeof verifyRequestSchema>;

export const verifyQuerySchema = z.strictObject({
  evidence: z
    .enum(['none', 'lexical'])
    .default('none')
    .describe('lexical: compares the words of each claim with its sources.'),
  offsets: offsetUnitSchema.exactOptional(),
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
  language: z
    .enum(KNOWN_LANGUAGES)
    .nullable()
    .describe('null = a language whose negations and numbers the comparison does not know; it reads them as English.'),
  sources: z.array(z.strictObject({ source: indexSchema, coverage: shareSchema, relevant: z.boolean() })),
});

const claimSchema = z.strictObject({
  index: indexSchema,
  text: z.string(),
  span: spanSchema,
  element: spanSchema.describe('The whole element, with tags or markers.'),
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
      span: spanSchema.nullable().describe('Position of the text in tool_output.'),
    }),
  ),
  cited_answer: citedAnswerReportSchema.exactOptional(),
});

/** A verification, and what was read from the vendor's answer if the request has one. */
export type RequestedVerification = Verification & { readonly cited_answer?: CitedAnswerReport };

/** The response of a validated request: as sent, or as converted from a vendor's answer. */
export function verifiedResponse(request: VerifyRequest): string {
  const response = request.response ?? validatedAnswer(request)?.response;
  if (response === undefined) throw new Error('verifiedResponse: neither response nor cited_answer after validation');
  return response;
}

/**
 * Verifies a validated request; shared by the route, batches and the command line.
 * @param offsets the unit of all offsets in the texts as sent.
 * @param readSources reads sources that evidence is gathered from.
 */
export function verifyRequested(
  request: VerifyRequest,
  evidence: 'none' | 'lexical',
  offsets: OffsetUnit = request.offsets ?? 'utf16',
  readSources: SourceReader = sourcesOf,
): Result<RequestedVerification, readonly InputProblem[]> {
  const { grammar, answer, mode, citations, question, tool_output } = request;
  const response = verifiedResponse(request);
  const converted = validatedAnswer(request);
  const carried = converted?.sources ?? null;
  // Without evidence the sources are read faster than they are found again.
  const read = evidence === 'none' ? sourcesOf : readSources;
  const sources = read(carried === null ? rolloutSources(request) : { sources: carried });
  const parsed = parseResponse(response, sources, { grammar, ...(answer === undefined ? {} : { answer }) });
  const problems = sizeProblems(parsed, sources, tool_output === undefined ? 'sources' : 'tool_output');
  if (problems.length > 0) return { ok: false, error: problems };
  const verification = describeResponse(response, parsed, sources, { mode, evidence, citations, question });
  const texts = {
    response,
    ...(converted === null ? {} : { original: { text: converted.text, map: converted.map } }),
    ...(tool_output === undefined ? {} : { tool_output }),
    sources: sources.list.map(({ text }) => text),
  };
  const shown = withOffsets(offsets, verification, texts);
  if (converted === null) return { ok: true, value: shown };
  return { ok: true, value: { ...shown, cited_answer: citedAnswerReport(converted, offsets) } };
}
