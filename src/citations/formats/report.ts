/** What a reply says about a converted answer: its format, and where the vendor's data contradict each other. */
import * as z from 'zod';
import { pathText } from '../../input-problem.ts';
import { offsetUnitSchema, spanSchema } from '../finding-schema.ts';
import { Offsets, type OffsetUnit } from '../offset-units.ts';
import { ANSWER_FINDING_REASONS, ANSWER_FORMATS } from './names.ts';
import type { CitedAnswer } from './read-answer.ts';

export const citedAnswerReportSchema = z
  .strictObject({
    format: z.enum(ANSWER_FORMATS).describe('The format that was named or detected.'),
    findings: z.array(
      z.strictObject({
        reason: z.enum(ANSWER_FINDING_REASONS),
        path: z.string().describe('Place in the request: cited_answer.content[0].citations[1].'),
        span: spanSchema.exactOptional().describe("Place in the answer's text."),
        reading: z
          .strictObject({ unit: offsetUnitSchema, end: z.enum(['exclusive', 'inclusive']) })
          .exactOptional()
          .describe('How the offsets were read.'),
      }),
    ),
    finding_count: z.int().min(0),
  })
  .describe(
    "What was read from cited_answer. Spans in `response` point into the vendor's text: its text blocks, joined without a separator.",
  );

export type CitedAnswerReport = z.infer<typeof citedAnswerReportSchema>;

/** Reports on a converted answer, with offsets in a unit. */
export function citedAnswerReport(
  { format, text, findings, finding_count }: CitedAnswer,
  unit: OffsetUnit = 'utf16',
): CitedAnswerReport {
  const offsets = new Offsets(text, unit);
  return {
    format,
    findings: findings.map(({ reason, path, span, reading }) => ({
      reason,
      path: pathText(['cited_answer', ...path]),
      ...(span === undefined ? {} : { span: offsets.span(span) }),
      ...(reading === undefined ? {} : { reading: { ...reading } }),
    })),
    finding_count,
  };
}
