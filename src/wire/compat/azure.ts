/**
 * Azure AI Content Safety, `text:detectGroundedness`: its request and its reply. Source: the preview of 2024-09-15, as
 * described at learn.microsoft.com/azure/ai-services/content-safety/quickstart-groundedness.
 */
import * as z from 'zod';
import { Offsets } from '../../citations/offset-units.ts';
import { MAX_SOURCES, MAX_TEXT_CHARS } from '../../limits.ts';
import type { GroundedSentence, Grounding, GroundingRequest } from '../../scoring/grounding.ts';
import type { azureReplySchema } from './replies.ts';

const text = z.string().max(MAX_TEXT_CHARS);

export const azureQuerySchema = z.strictObject({
  'api-version': z
    .enum(['2024-02-15-preview', '2024-09-15-preview'])
    .describe('A version of Azure that has this operation.'),
});

export const azureRequestSchema = z.strictObject({
  domain: z
    .enum(['Generic', 'Medical', 'GENERIC', 'MEDICAL'])
    .default('Generic')
    .describe('Accepted: the same judge answers for both.'),
  task: z.enum(['QnA', 'Summarization', 'QNA', 'SUMMARIZATION']).default('Summarization'),
  qna: z.strictObject({ query: text }).exactOptional().describe('The question, for the task QnA.'),
  text: text.min(1).describe('The text to check.'),
  groundingSources: z.array(text).min(1).max(MAX_SOURCES),
  reasoning: z.boolean().default(false).describe('Adds the reason of the judge, if the judge gives reasons.'),
  correction: z.literal(false).default(false).describe('Not supported: only false is accepted.'),
  llmResource: z
    .looseObject({ resourceType: z.string() })
    .exactOptional()
    .describe('Accepted with reasoning, and never called: the judge of the deployment gives the reasons.'),
});

type AzureRequest = z.infer<typeof azureRequestSchema>;

export function azureGrounding({ text, qna, task, groundingSources }: AzureRequest): GroundingRequest {
  const isQuestion = task.toLowerCase() === 'qna';
  const question = isQuestion ? (qna?.query ?? '') : '';
  return { text, question, sources: groundingSources, asksRelevance: false };
}

/** A sentence is ungrounded unless the sources fully support it. */
export function azureReply({ text }: AzureRequest, { sentences }: Grounding): z.infer<typeof azureReplySchema> {
  const checked = sentences.filter(({ isChecked }) => isChecked);
  const ungrounded = checked.filter(({ support }) => support < 1);
  const chars = (some: readonly GroundedSentence[]): number =>
    some.reduce((sum, { span }) => sum + span.end - span.start, 0);
  const utf8 = new Offsets(text, 'utf8');
  const codePoints = new Offsets(text, 'codepoints');
  const at = (offset: number) => ({ utf8: utf8.at(offset), utf16: offset, codePoint: codePoints.at(offset) });
  return {
    ungroundedDetected: ungrounded.length > 0,
    ungroundedPercentage: chars(ungrounded) / chars(checked),
    ungroundedDetails: ungrounded.map(({ text: sentence, span, reason }) => {
      const [offset, end] = [at(span.start), at(span.end)];
      const length = {
        ...{ utf8: end.utf8 - offset.utf8, utf16: end.utf16 - offset.utf16 },
        codePoint: end.codePoint - offset.codePoint,
      };
      return { text: sentence, offset, length, ...(reason === null ? {} : { reason }) };
    }),
  };
}
