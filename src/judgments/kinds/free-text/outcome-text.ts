/** The `outcome_text` kind: the outcome question of CaRR's public server, with a free-text reply. */
import * as z from 'zod';
import { contentNonce, dataBlock } from '../../../text/untrusted.ts';
import { fitWhole } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import { messages } from '../../protocol/prompt.ts';
import { readingTemplate } from '../../protocol/reply.ts';
import { FREE_TEXT_READER, FREE_TEXT_SYSTEM, FREE_TEXT_TOKENS } from './free-text.ts';
import { readOutcomeFields } from './outcome-fields.ts';

export type OutcomeTextRequest = {
  readonly kind: 'outcome_text';
  readonly question: string;
  readonly reference: string;
  readonly answer: string;
};

type OutcomeTextVerdicts = { readonly kind: 'outcome_text'; readonly correct: boolean };

const TRIES = 3;

const TEXTS = {
  reader: FREE_TEXT_READER,
  system: FREE_TEXT_SYSTEM,
  task: [
    'TASK: decide whether the answer below gives the reference as its final answer to the question.',
    'Do not solve the question, and argue for no other answer: look only for differences between the final answer and the',
    'reference that matter. Reply in this form:',
    'extracted_final_answer: the final answer that the text gives, or None',
    'reasoning: why it agrees with the reference or not',
    'correct: yes or no',
  ].join('\n'),
} as const;

export const outcomeText: ReadingKind<OutcomeTextRequest, OutcomeTextVerdicts> = {
  kind: 'outcome_text',
  answeredBy: 'reader',
  freeTextTries: TRIES,
  dependsOnParser: false,
  templateSource: () => readingTemplate(TEXTS, {}),
  verdictsSchema: z.strictObject({ kind: z.literal('outcome_text'), correct: z.boolean() }),
  maxReplyTokens: () => FREE_TEXT_TOKENS,

  prompt({ question, reference, answer }) {
    const nonce = contentNonce([question, reference]);
    return {
      messages: messages(TEXTS.system, [
        dataBlock('question', nonce, {}, question),
        dataBlock('reference', nonce, {}, reference),
        TEXTS.task,
        dataBlock('answer', nonce, {}, answer),
      ]),
      schema: null,
      max_reply_tokens: FREE_TEXT_TOKENS,
    };
  },

  /** Both fields must be found; the public server pays a half-read reply after its last try. */
  readReply(_request, reply) {
    const { verdict, answer } = readOutcomeFields(typeof reply === 'string' ? reply : '');
    if (verdict === null || answer === null) {
      return { ok: false, problem: 'wrong_shape', detail: 'the reply lacks extracted_final_answer or correct' };
    }
    return { ok: true, verdicts: { kind: 'outcome_text', correct: verdict.toLowerCase() === 'yes' } };
  },

  fit: (request, promptTokens) => fitWhole(request, [request.question, request.reference], promptTokens),
  answers: () => true,
};
