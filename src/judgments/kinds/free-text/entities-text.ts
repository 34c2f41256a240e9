/**
 * The `entities_text` kind: the entity question of CaRR's public server, with a free-text reply. Unlike those of
 * `entities`, its records contain names as the judge wrote them, which is text about the answer.
 */
import * as z from 'zod';
import { stripPythonSpace } from '../../../text/python-text.ts';
import { contentNonce, dataBlock } from '../../../text/untrusted.ts';
import { fitWhole } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import { messages } from '../../protocol/prompt.ts';
import { readingTemplate } from '../../protocol/reply.ts';
import { FREE_TEXT_READER, FREE_TEXT_SYSTEM, FREE_TEXT_TOKENS, fencedEntries } from './free-text.ts';

export type EntitiesTextRequest = {
  readonly kind: 'entities_text';
  readonly question: string;
  readonly criteria: readonly string[];
  readonly labels: readonly string[];
  readonly answer: string;
};

type EntitiesTextVerdicts = {
  readonly kind: 'entities_text';
  /** One entry for each label of the request, in order; `null` = the answer does not name it. */
  readonly entities: readonly { readonly label: string; readonly name: string | null }[];
};

const TRIES = 5;

const TEXTS = {
  reader: FREE_TEXT_READER,
  system: FREE_TEXT_SYSTEM,
  task: [
    'TASK: the criteria below speak of unknown things by labels such as ‹E0› and ‹E1›. The same label is the same thing in',
    'every criterion. For each label, say whether the answer openly names the thing. Infer nothing.',
    'Then give one JSON object in a block fenced as ```json, with every label, without brackets, as a key, and as its value',
    'the name as text, or null if the answer does not name it.',
  ].join('\n'),
} as const;

export const entitiesText: ReadingKind<EntitiesTextRequest, EntitiesTextVerdicts> = {
  kind: 'entities_text',
  answeredBy: 'reader',
  freeTextTries: TRIES,
  dependsOnParser: false,
  templateSource: () => readingTemplate(TEXTS, {}),
  verdictsSchema: z.strictObject({
    kind: z.literal('entities_text'),
    entities: z.array(z.strictObject({ label: z.string(), name: z.string().nullable() })),
  }),
  maxReplyTokens: () => FREE_TEXT_TOKENS,

  prompt({ question, criteria, labels, answer }) {
    const nonce = contentNonce([question, ...criteria]);
    return {
      messages: messages(TEXTS.system, [
        dataBlock('question', nonce, {}, question),
        ...criteria.map((criterion, n) => dataBlock('criterion', nonce, { key: `C${n + 1}` }, criterion)),
        TEXTS.task,
        `Labels: ${labels.join(', ')}`,
        dataBlock('answer', nonce, {}, answer),
      ]),
      schema: null,
      max_reply_tokens: FREE_TEXT_TOKENS,
    };
  },

  readReply({ labels }, reply) {
    const entries = fencedEntries(reply, labels);
    if ('ok' in entries) return entries;
    const named: { label: string; name: string | null }[] = [];
    for (const label of labels) {
      const name = entries.get(label) ?? null;
      if (name !== null && (typeof name !== 'string' || isNoName(name))) {
        return { ok: false, problem: 'wrong_shape', detail: 'a value is neither a name nor null' };
      }
      named.push({ label, name });
    }
    return { ok: true, verdicts: { kind: 'entities_text', entities: named } };
  },

  fit: (request, promptTokens) =>
    fitWhole(request, [request.question, ...request.criteria, request.labels.join(', ')], promptTokens),

  answers: ({ labels }, verdicts) =>
    verdicts.entities.length === labels.length && verdicts.entities.every(({ label }, n) => label === labels[n]),
};

function isNoName(name: string): boolean {
  const folded = stripPythonSpace(name).toLowerCase();
  return folded === 'null' || folded === 'none';
}
