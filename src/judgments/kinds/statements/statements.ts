/**
 * The `statements` kind: whether the cited pages of an answer support each statement, all in one call. A statement is
 * a criterion with the answer's names in place of its labels. Any page may support any statement. Source of the
 * question: THUDM/CaRR c97e7e89, `deepsearch_rm_with_rubrics`; the words are ours.
 */
import * as z from 'zod';
import { gatherEvidence, indexSources, supportVerdict } from '../../../lexical/index.ts';
import { dataBlock } from '../../../text/untrusted.ts';
import { blockTokens, fitEntries } from '../../protocol/budget.ts';
import type { ReadingKind } from '../../protocol/judgment-kind.ts';
import {
  EVIDENCE_SYSTEM,
  type Evidence,
  evidenceMessages,
  exactObject,
  type JsonSchema,
  REASON_SCHEMA,
  REASON_TOKENS,
  VERDICT_TOKENS,
} from '../../protocol/prompt.ts';
import { entryOf, readEntries, readingTemplate } from '../../protocol/reply.ts';

export type StatementsRequest = Evidence & {
  readonly kind: 'statements';
  readonly statements: readonly string[];
};

type StatementsVerdicts = {
  readonly kind: 'statements';
  /** One verdict for each statement of the request, in order. */
  readonly supported: readonly boolean[];
};

const TEXTS = {
  statementsTask: [
    'TASK: decide for each numbered statement below whether the sources support it.',
    '"supported" is true only if one source or several together state everything that the statement says. Numbers, dates,',
    'names and negations must agree. It is false if a part is missing, contradicted, or only likely.',
    'Take the names in a statement as they are: whether they answer the question is not asked.',
    'Give every statement exactly one entry under its key: first "reason", then "supported".',
  ].join('\n'),
} as const;

const replyEntry = z.strictObject({ reason: z.string(), supported: z.boolean() });

/** Key of a statement in prompt and reply: `s1`…`sn` in the order of the request. */
const statementKey = (position: number): string => `s${position + 1}`;

function replySchema(statements: number): JsonSchema {
  const entry = exactObject({ reason: REASON_SCHEMA, supported: { type: 'boolean' } });
  return exactObject(Object.fromEntries(Array.from({ length: statements }, (_, n) => [statementKey(n), entry])));
}

function maxReplyTokens({ statements }: StatementsRequest): number {
  return statements.length * (REASON_TOKENS + VERDICT_TOKENS) + VERDICT_TOKENS;
}

/** The request with the statements at these positions alone. */
export function onlyStatements<Request extends { readonly statements: readonly string[] }>(
  request: Request,
  positions: readonly number[],
): Request {
  const kept = new Set(positions);
  return { ...request, statements: request.statements.filter((_, position) => kept.has(position)) };
}

/** The verdicts on `count` statements, of which those at the positions were judged; the others are not supported. */
export function supportedAt(count: number, positions: readonly number[], judged: readonly boolean[]): boolean[] {
  const byPosition = new Map(positions.map((position, n) => [position, judged[n] === true]));
  return Array.from({ length: count }, (_, position) => byPosition.get(position) ?? false);
}

export const statements: ReadingKind<StatementsRequest, StatementsVerdicts> = {
  kind: 'statements',
  answeredBy: 'reader',
  dependsOnParser: false,
  templateSource: () => readingTemplate({ system: EVIDENCE_SYSTEM, ...TEXTS }, { statements: replySchema(1) }),
  verdictsSchema: z.strictObject({ kind: z.literal('statements'), supported: z.array(z.boolean()) }),
  maxReplyTokens,

  prompt(request) {
    return {
      messages: evidenceMessages(request, (nonce) => [
        TEXTS.statementsTask,
        ...request.statements.map((text, n) => dataBlock('statement', nonce, { key: statementKey(n) }, text)),
      ]),
      schema: { name: 'statement_verdicts', schema: replySchema(request.statements.length) },
      max_reply_tokens: maxReplyTokens(request),
    };
  },

  readReply(request, reply) {
    const keys = request.statements.map((_, n) => statementKey(n));
    const schemas = keys.map((key) => [key, replyEntry] as const);
    const read = readEntries(schemas, reply, 'ignored');
    if (!read.ok) return read;
    const entries = keys.map((key) => entryOf(read.entries, key));
    const supported = entries.map((entry) => entry.supported);
    return { ok: true, verdicts: { kind: 'statements', supported }, reasons: entries.map(({ reason }) => reason) };
  },

  reasonPlaces: (request) => request.statements.map((_, index) => ({ of: 'statements', index })),

  fit(request, promptTokens, cited) {
    const entries = request.statements.map((text) => ({
      prompt: blockTokens(text),
      reply: REASON_TOKENS + VERDICT_TOKENS,
    }));
    return fitEntries(request, entries, (positions) => onlyStatements(request, positions), promptTokens, cited);
  },

  entries: {
    only: onlyStatements,
    completed: ({ statements: all }, positions, verdicts) => ({
      kind: 'statements',
      supported: supportedAt(all.length, positions, verdicts?.supported ?? []),
    }),
  },

  answers: (request, verdicts) => verdicts.supported.length === request.statements.length,

  judgeLexically(request) {
    const index = indexSources(request.sources);
    const all = request.sources.map((_, source) => source);
    return {
      kind: 'statements',
      supported: request.statements.map((text) => supportVerdict(gatherEvidence(index, text, all).support) === 'full'),
    };
  },
};
