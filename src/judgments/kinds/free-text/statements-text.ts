/** The `statements_text` kind: the statement question of CaRR's public server, with a free-text reply. */
import * as z from 'zod';
import { contentNonce, dataBlock } from '../../../text/untrusted.ts';
import { blockTokens, fitEntries } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import { type JudgedSource, messages } from '../../protocol/prompt.ts';
import { readingTemplate } from '../../protocol/reply.ts';
import { onlyStatements, supportedAt } from '../statements/statements.ts';
import { FREE_TEXT_READER, FREE_TEXT_SYSTEM, FREE_TEXT_TOKENS, fencedEntries } from './free-text.ts';

export type StatementsTextRequest = {
  readonly kind: 'statements_text';
  readonly question: string;
  /** The evidence: one text with all cited pages, in the form of the public server. */
  readonly sources: readonly JudgedSource[];
  readonly statements: readonly string[];
};

type StatementsTextVerdicts = { readonly kind: 'statements_text'; readonly supported: readonly boolean[] };

const TRIES = 5;

const TEXTS = {
  reader: FREE_TEXT_READER,
  system: FREE_TEXT_SYSTEM,
  task: [
    'TASK: for each statement below, collect the evidence in the web pages, explain, name the addresses of the pages, and',
    'say whether they fully support the statement.',
    'Then give one JSON object in a block fenced as ```json, with the key of every statement, and true or false as its',
    'value.',
  ].join('\n'),
} as const;

const keyOf = (position: number): string => `S${position + 1}`;

export const statementsText: ReadingKind<StatementsTextRequest, StatementsTextVerdicts> = {
  kind: 'statements_text',
  answeredBy: 'reader',
  freeTextTries: TRIES,
  dependsOnParser: false,
  templateSource: () => readingTemplate(TEXTS, {}),
  verdictsSchema: z.strictObject({ kind: z.literal('statements_text'), supported: z.array(z.boolean()) }),
  maxReplyTokens: () => FREE_TEXT_TOKENS,

  prompt({ sources, statements }) {
    const nonce = contentNonce(sources.map(({ text }) => text));
    return {
      messages: messages(TEXTS.system, [
        ...sources.map(({ text }) => dataBlock('pages', nonce, {}, text)),
        TEXTS.task,
        ...statements.map((text, n) => dataBlock('statement', nonce, { key: keyOf(n) }, text)),
      ]),
      schema: null,
      max_reply_tokens: FREE_TEXT_TOKENS,
    };
  },

  readReply({ statements }, reply) {
    const keys = statements.map((_, n) => keyOf(n));
    const entries = fencedEntries(reply, keys);
    if ('ok' in entries) return entries;
    const supported: boolean[] = [];
    for (const key of keys) {
      const verdict = entries.get(key);
      if (typeof verdict !== 'boolean') {
        return { ok: false, problem: 'wrong_shape', detail: 'a value is neither true nor false' };
      }
      supported.push(verdict);
    }
    return { ok: true, verdicts: { kind: 'statements_text', supported } };
  },

  fit(request, promptTokens, cited) {
    // The reply's limit does not depend on the statements.
    const entries = request.statements.map((text) => ({ prompt: blockTokens(text), reply: 0 }));
    return fitEntries(request, entries, (positions) => onlyStatements(request, positions), promptTokens, cited);
  },

  entries: {
    only: onlyStatements,
    completed: ({ statements }, positions, verdicts) => ({
      kind: 'statements_text',
      supported: supportedAt(statements.length, positions, verdicts?.supported ?? []),
    }),
  },

  answers: ({ statements }, verdicts) => verdicts.supported.length === statements.length,
};
