/** A judgment kind for tests: whether an answer is polite. Belongs in src/judgments/kinds/tone/. */
import * as z from 'zod';
import { contentNonce, dataBlock } from '../../../text/untrusted.ts';
import { fitWhole } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import { exactObject, messages, REASON_SCHEMA, REASON_TOKENS, VERDICT_TOKENS } from '../../protocol/prompt.ts';
import { readAs, readingTemplate } from '../../protocol/reply.ts';

type ToneRequest = { readonly kind: 'tone'; readonly question: string; readonly answer: string };
type ToneVerdicts = { readonly kind: 'tone'; readonly polite: boolean };

const TEXTS = {
  toneSystem: 'You judge the tone of an answer.',
  toneTask: 'TASK: decide whether the answer is polite.',
};
const REPLY_SCHEMA = exactObject({ reason: REASON_SCHEMA, polite: { type: 'boolean' } });
const MAX_REPLY_TOKENS = REASON_TOKENS + VERDICT_TOKENS;

const reply = z.strictObject({ reason: z.string(), polite: z.boolean() });

export const tone: ReadingKind<ToneRequest, ToneVerdicts> = {
  kind: 'tone',
  answeredBy: 'reader',
  dependsOnParser: false,
  templateSource: () => readingTemplate(TEXTS, { tone: REPLY_SCHEMA }),
  verdictsSchema: z.strictObject({ kind: z.literal('tone'), polite: z.boolean() }),
  maxReplyTokens: () => MAX_REPLY_TOKENS,
  prompt({ question, answer }) {
    const nonce = contentNonce([question]);
    return {
      messages: messages(TEXTS.toneSystem, [
        dataBlock('question', nonce, {}, question),
        TEXTS.toneTask,
        dataBlock('answer', nonce, {}, answer),
      ]),
      schema: { name: 'tone_verdict', schema: REPLY_SCHEMA },
      max_reply_tokens: MAX_REPLY_TOKENS,
    };
  },
  readReply: (_request, json) => readAs(reply, json, ({ polite }) => ({ kind: 'tone', polite })),
  fit: (request, promptTokens) => fitWhole(request, [request.question], promptTokens),
  answers: () => true,
};
