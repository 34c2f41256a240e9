/**
 * The `citations` kind: all claims and uncited statements of one rollout in one call. The judge decides how far the
 * cited sources support each claim, and whether each statement needs a citation. The three support levels are
 * LongCite's.
 */
import * as z from 'zod';
import { gatherEvidence, indexSources, needsCitation, supportVerdict } from '../../../lexical/index.ts';
import { blockTokens, fitSources } from '../../protocol/budget.ts';
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
import { entryOf, readAs, readingTemplate, wrongShape } from '../../protocol/reply.ts';
import { dataBlock } from '../../protocol/untrusted.ts';
import { type Quote, QuoteFinder } from './quote.ts';

export type JudgedClaim = {
  /** Index among the parsed claims. */
  readonly claim: number;
  readonly text: string;
  /** Indexes of the cited sources in the request's `sources`; unknown ids are left out. */
  readonly sources: readonly number[];
};

/** @property statement index among the parsed uncited statements. */
type JudgedStatement = { readonly statement: number; readonly text: string };

export type CitationsRequest = Evidence & {
  readonly kind: 'citations';
  readonly claims: readonly JudgedClaim[];
  readonly statements: readonly JudgedStatement[];
};

/** How far the cited sources together support a claim: none, partial, full. */
export type Support = 0 | 0.5 | 1;

export type CitationVerdicts = {
  readonly kind: 'citations';
  /** One verdict for each claim of the request, in order. */
  readonly claims: readonly {
    readonly claim: number;
    readonly support: Support;
    /** One entry per cited source, in the order of the request: whether it helps to support the claim. */
    readonly relevant: readonly boolean[];
    /** `unverified`: no cited source contains what the judge quoted. `absent`: the judge quoted nothing. */
    readonly quote: Quote | 'unverified' | 'absent';
  }[];
  readonly statements: readonly { readonly statement: number; readonly needs_citation: boolean }[];
};

const TEXTS = {
  citationsTask: [
    'TASK: check each numbered claim against the sources that it cites, and each numbered statement for whether it needs a',
    'citation.',
    'For each claim give, in this order: "reason"; "quote", the shortest passage of a cited source, copied word for word,',
    'that carries the support, or "" if there is none; "support", "full" if the cited sources together state everything the',
    'claim says, "partial" if they state part of it, "none" if they do not or contradict it; "relevant", one true or false',
    'for each cited source in the order listed: whether that source helps to support the claim.',
    'Numbers, dates, names and negations must agree; a claim that changes one is not fully supported.',
    'For each statement give "reason", then "needs_citation": true if it asserts a fact about the world that a reader would',
    'want to check, false for transitions, opinions marked as such, summaries of the cited claims, and remarks about what',
    'the sources do or do not say.',
  ].join('\n'),
} as const;

const QUOTE_TOKENS = 110;
const MAX_QUOTE_CHARS = 500;

const SUPPORT: Readonly<Record<'full' | 'partial' | 'none', Support>> = { full: 1, partial: 0.5, none: 0 };

/** Key of a claim in prompt and reply: `k1`…`kn` in the order of the request. */
const claimKey = (position: number): string => `k${position + 1}`;
/** Key of a statement in prompt and reply: `u1`…`un` in the order of the request. */
const statementKey = (position: number): string => `u${position + 1}`;

function replySchema({ claims, statements }: Pick<CitationsRequest, 'claims' | 'statements'>): JsonSchema {
  const ofClaims = claims.map(({ sources }, position): [string, JsonSchema] => [
    claimKey(position),
    exactObject({
      reason: REASON_SCHEMA,
      quote: { type: 'string', maxLength: MAX_QUOTE_CHARS },
      support: { type: 'string', enum: ['full', 'partial', 'none'] },
      relevant: { type: 'array', items: { type: 'boolean' }, minItems: sources.length, maxItems: sources.length },
    }),
  ]);
  const ofStatements = statements.map((_statement, position): [string, JsonSchema] => [
    statementKey(position),
    exactObject({ reason: REASON_SCHEMA, needs_citation: { type: 'boolean' } }),
  ]);
  return exactObject(Object.fromEntries([...ofClaims, ...ofStatements]));
}

const claimReply = (sources: number) =>
  z.strictObject({
    reason: z.string(),
    quote: z.string(),
    support: z.enum(['full', 'partial', 'none']),
    relevant: z.array(z.boolean()).length(sources),
  });
const statementReply = z.strictObject({ reason: z.string(), needs_citation: z.boolean() });

function maxReplyTokens({ claims, statements }: CitationsRequest): number {
  return (
    claims.length * (REASON_TOKENS + QUOTE_TOKENS + VERDICT_TOKENS) +
    statements.length * (REASON_TOKENS + VERDICT_TOKENS) +
    VERDICT_TOKENS
  );
}

const positionSchema = z.int().min(0);

export const citations: ReadingKind<CitationsRequest, CitationVerdicts> = {
  kind: 'citations',
  answeredBy: 'reader',
  dependsOnParser: true,
  templateSource: () =>
    readingTemplate(
      { system: EVIDENCE_SYSTEM, ...TEXTS },
      {
        citations: replySchema({
          claims: [{ claim: 0, text: 't', sources: [0] }],
          statements: [{ statement: 0, text: 't' }],
        }),
      },
    ),
  verdictsSchema: z.strictObject({
    kind: z.literal('citations'),
    claims: z.array(
      z.strictObject({
        claim: positionSchema,
        support: z.literal([0, 0.5, 1]),
        relevant: z.array(z.boolean()),
        quote: z.union([
          z.strictObject({ source: positionSchema, start: positionSchema, end: positionSchema }),
          z.enum(['unverified', 'absent']),
        ]),
      }),
    ),
    statements: z.array(z.strictObject({ statement: positionSchema, needs_citation: z.boolean() })),
  }),
  maxReplyTokens,

  prompt(request) {
    return {
      messages: evidenceMessages(request, (nonce) => [
        TEXTS.citationsTask,
        ...request.claims.map(({ text, sources }, n) => {
          const cites = sources.map((source) => `source ${source + 1}`).join(', ');
          return dataBlock('claim', nonce, { key: claimKey(n), cites }, text);
        }),
        ...request.statements.map(({ text }, n) => dataBlock('statement', nonce, { key: statementKey(n) }, text)),
      ]),
      schema: { name: 'citation_verdicts', schema: replySchema(request) },
      max_reply_tokens: maxReplyTokens(request),
    };
  },

  readReply(request, reply) {
    const claimShape = Object.fromEntries(
      request.claims.map(({ sources }, n) => [claimKey(n), claimReply(sources.length)]),
    );
    const statementShape = Object.fromEntries(request.statements.map((_, n) => [statementKey(n), statementReply]));
    const members = z.record(z.string(), z.unknown()).safeParse(reply);
    if (!members.success) return wrongShape(members.error);
    const extra = Object.keys(members.data).filter(
      (key) => !Object.hasOwn(claimShape, key) && !Object.hasOwn(statementShape, key),
    );
    if (extra.length > 0) {
      return { ok: false, problem: 'wrong_shape', detail: `${extra.length} entries that were not asked for` };
    }
    const pick = (shape: object) =>
      Object.fromEntries(Object.entries(members.data).filter(([key]) => Object.hasOwn(shape, key)));
    const claims = z.strictObject(claimShape).safeParse(pick(claimShape));
    if (!claims.success) return wrongShape(claims.error);
    return readAs(z.strictObject(statementShape), pick(statementShape), (statements) => {
      const quotes = new QuoteFinder(request.sources.map(({ text }) => text));
      return {
        kind: 'citations',
        claims: request.claims.map(({ claim, sources }, n) => {
          const { support, relevant, quote } = entryOf(claims.data, claimKey(n));
          return { claim, support: SUPPORT[support], relevant, quote: quotes.locate(quote, sources) };
        }),
        statements: request.statements.map(({ statement }, n) => ({
          statement,
          needs_citation: entryOf(statements, statementKey(n)).needs_citation,
        })),
      };
    });
  },

  fit(request, promptTokens, cited) {
    const entries = [...request.claims, ...request.statements];
    const beside = entries.reduce((sum, { text }) => sum + blockTokens(text), 0);
    return fitSources(request, beside, promptTokens, cited);
  },

  answers(request, verdicts) {
    return (
      verdicts.claims.length === request.claims.length &&
      request.claims.every((asked, n) => {
        const verdict = verdicts.claims[n];
        return verdict?.claim === asked.claim && verdict.relevant.length === asked.sources.length;
      }) &&
      verdicts.statements.length === request.statements.length &&
      request.statements.every(({ statement }, n) => verdicts.statements[n]?.statement === statement)
    );
  },

  judgeLexically(request) {
    const index = indexSources(request.sources);
    return {
      kind: 'citations',
      claims: request.claims.map(({ claim, text, sources }) => {
        const evidence = gatherEvidence(index, text, sources);
        const relevant = new Set(evidence.sources.filter((one) => one.relevant).map((one) => one.source));
        return {
          claim,
          support: SUPPORT[supportVerdict(evidence.support)],
          relevant: sources.map((source) => relevant.has(source)),
          quote: evidence.window === null ? 'absent' : evidence.window,
        };
      }),
      statements: request.statements.map(({ statement, text }) => ({ statement, needs_citation: needsCitation(text) })),
    };
  },
};
