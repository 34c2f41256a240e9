/**
 * The `citations` kind: all claims and uncited statements of one rollout in one call. The judge decides how far the
 * cited sources support each claim, and whether each statement needs a citation. The three support levels are
 * LongCite's.
 */
import * as z from 'zod';
import { gatherEvidence, indexSources, needsCitation, supportVerdict } from '../../../lexical/index.ts';
import type { Span } from '../../../text/span.ts';
import { dataBlock } from '../../../text/untrusted.ts';
import type { Asking } from '../../protocol/asking.ts';
import { blockTokens, type EntryTokens, fitEntries } from '../../protocol/budget.ts';
import { CONTRADICTED_FROM, type ReadingKind } from '../../protocol/judgment-kind.ts';
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
import { entryOf, readEntries, readingTemplate, wrongShape } from '../../protocol/reply.ts';
import { MAX_QUOTE_CHARS, type Quote, QuoteFinder } from './quote.ts';
import { textsOf } from './task.ts';

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
  readonly asking?: Asking;
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
    /**
     * `unverified`: no cited source contains what a model quoted, or it quoted nothing for its support. `absent`: there
     * is no support to quote, or a judge that is no language model quoted nothing.
     */
    readonly quote: Quote | 'unverified' | 'absent';
    /** How probable the support is to a classifier, 0 to 1. Absent: the judge gives no probability. */
    readonly score?: number;
    /** The tier of the cascade that decided, from 0. Absent: one judge did. */
    readonly tier?: number;
    /** The cited sources say the opposite; only if the judge was asked about it, and without support. */
    readonly contradicted?: true;
    /** The part of the claim's text that the sources lack, in UTF-16 code units; only if the judge was asked about it. */
    readonly unsupported?: Span;
  }[];
  readonly statements: readonly { readonly statement: number; readonly needs_citation: boolean }[];
};

const QUOTE_TOKENS = 110;

const SUPPORT = { full: 1, partial: 0.5, none: 0, contradicted: 0 } as const satisfies Record<string, Support>;
const SUPPORT_WORDS = ['full', 'partial', 'none'] as const;
const CONTRADICTION_WORDS = ['full', 'partial', 'contradicted', 'none'] as const;

/** Key of a claim in prompt and reply: `k1`…`kn` in the order of the request. */
export const claimKey = (position: number): string => `k${position + 1}`;
/** Key of a statement in prompt and reply: `u1`…`un` in the order of the request. */
export const statementKey = (position: number): string => `u${position + 1}`;

function replySchema({
  claims,
  statements,
  asking: { contradiction } = {},
}: Pick<CitationsRequest, 'claims' | 'statements' | 'asking'>): JsonSchema {
  const copied: JsonSchema = { type: 'string', maxLength: MAX_QUOTE_CHARS };
  const support = contradiction === undefined ? SUPPORT_WORDS : CONTRADICTION_WORDS;
  const ofClaims = claims.map(({ sources }, position): [string, JsonSchema] => [
    claimKey(position),
    exactObject({
      reason: REASON_SCHEMA,
      quote: copied,
      ...(contradiction === undefined ? {} : { unsupported: copied }),
      support: { type: 'string', enum: [...support] },
      relevant: { type: 'array', items: { type: 'boolean' }, minItems: sources.length, maxItems: sources.length },
    }),
  ]);
  const ofStatements = statements.map((_statement, position): [string, JsonSchema] => [
    statementKey(position),
    exactObject({ reason: REASON_SCHEMA, needs_citation: { type: 'boolean' } }),
  ]);
  return exactObject(Object.fromEntries([...ofClaims, ...ofStatements]));
}

function newClaimReply(sources: number, asksContradiction: boolean) {
  return z.strictObject({
    reason: z.string(),
    quote: z.string(),
    unsupported: asksContradiction ? z.string() : z.undefined().optional(),
    support: z.enum(asksContradiction ? CONTRADICTION_WORDS : SUPPORT_WORDS),
    relevant: z.array(z.boolean()).length(sources),
  });
}

/** Schemas by the number of cited sources, which is limited, and by the question. */
const claimReplies = new Map<string, ReturnType<typeof newClaimReply>>();

function claimReply(sources: number, { contradiction }: Asking = {}): ReturnType<typeof newClaimReply> {
  const name = `${sources} ${contradiction ?? ''}`;
  const known = claimReplies.get(name) ?? newClaimReply(sources, contradiction !== undefined);
  claimReplies.set(name, known);
  return known;
}

const replyMembers = z.record(z.string(), z.unknown());
const statementReply = z.strictObject({ reason: z.string(), needs_citation: z.boolean() });

/** Cited sources of one claim whose names and verdicts the tokens of a block and of a verdict include. */
const USUAL_SOURCES = 8;
/** Tokens of each further source: its name in the prompt, its verdict in the reply. */
const SOURCE_NAME_TOKENS = 8;
const RELEVANT_TOKENS = 3;

const STATEMENT_REPLY_TOKENS = REASON_TOKENS + VERDICT_TOKENS;

/** The cited sources of a claim beyond the usual ones. */
function furtherSources({ sources }: JudgedClaim): number {
  return Math.max(sources.length - USUAL_SOURCES, 0);
}

function claimReplyTokens(claim: JudgedClaim, { contradiction }: Asking = {}): number {
  const copied = contradiction === undefined ? QUOTE_TOKENS : 2 * QUOTE_TOKENS;
  return REASON_TOKENS + copied + VERDICT_TOKENS + furtherSources(claim) * RELEVANT_TOKENS;
}

function maxReplyTokens({ claims, statements, asking }: CitationsRequest): number {
  const ofClaims = claims.reduce((sum, claim) => sum + claimReplyTokens(claim, asking), 0);
  return ofClaims + statements.length * STATEMENT_REPLY_TOKENS + VERDICT_TOKENS;
}

/** The tokens of the claims, then of the statements. */
function tokensOfEntries({ claims, statements, asking }: CitationsRequest): EntryTokens[] {
  return [
    ...claims.map((claim) => ({
      prompt: blockTokens(claim.text) + furtherSources(claim) * SOURCE_NAME_TOKENS,
      reply: claimReplyTokens(claim, asking),
    })),
    ...statements.map(({ text }) => ({ prompt: blockTokens(text), reply: STATEMENT_REPLY_TOKENS })),
  ];
}

/** The request with the claims and statements at these positions, statements counting on from the claims. */
function onlyEntries(request: CitationsRequest, positions: readonly number[]): CitationsRequest {
  const kept = new Set(positions);
  return {
    ...request,
    claims: request.claims.filter((_, position) => kept.has(position)),
    statements: request.statements.filter((_, position) => kept.has(request.claims.length + position)),
  };
}

/** Whether a statement needs a citation, by comparing words. */
function needsCitationVerdict({ statement, text }: JudgedStatement): CitationVerdicts['statements'][number] {
  return { statement, needs_citation: needsCitation(text) };
}

/** A claim that was not judged has no support, and a statement needs a citation that it lacks. */
function completedEntries(
  { claims, statements }: CitationsRequest,
  verdicts: CitationVerdicts | null,
): CitationVerdicts {
  const judgedClaims = new Map(verdicts?.claims.map((verdict) => [verdict.claim, verdict]));
  const judgedStatements = new Map(verdicts?.statements.map((verdict) => [verdict.statement, verdict]));
  return {
    kind: 'citations',
    claims: claims.map(
      ({ claim, sources }) =>
        judgedClaims.get(claim) ?? { claim, support: 0, relevant: sources.map(() => false), quote: 'absent' },
    ),
    statements: statements.map(
      ({ statement }) => judgedStatements.get(statement) ?? { statement, needs_citation: true },
    ),
  };
}

const positionSchema = z.int().min(0);

export const citations: ReadingKind<CitationsRequest, CitationVerdicts> = {
  kind: 'citations',
  answeredBy: 'reader',
  dependsOnParser: true,
  templateSource: (asking = {}) =>
    readingTemplate(
      { system: EVIDENCE_SYSTEM, ...textsOf(asking) },
      {
        citations: replySchema({
          asking,
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
        score: z.number().min(0).max(1).exactOptional(),
        tier: positionSchema.exactOptional(),
        contradicted: z.literal(true).exactOptional(),
        unsupported: z.strictObject({ start: positionSchema, end: positionSchema }).exactOptional(),
      }),
    ),
    statements: z.array(z.strictObject({ statement: positionSchema, needs_citation: z.boolean() })),
  }),
  maxReplyTokens,

  prompt(request) {
    return {
      messages: evidenceMessages(request, (nonce) => [
        textsOf(request.asking).citationsTask,
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
    const ofClaims = request.claims.map(
      ({ sources }, n) => [claimKey(n), claimReply(sources.length, request.asking)] as const,
    );
    const ofStatements = request.statements.map((_, n) => [statementKey(n), statementReply] as const);
    const members = replyMembers.safeParse(reply);
    if (!members.success) return wrongShape(members.error);
    const asked = new Set([...ofClaims, ...ofStatements].map(([key]) => key));
    const extra = Object.keys(members.data).filter((key) => !asked.has(key));
    if (extra.length > 0) {
      return { ok: false, problem: 'wrong_shape', detail: `${extra.length} entries that were not asked for` };
    }
    const claims = readEntries(ofClaims, members.data, 'ignored');
    if (!claims.ok) return claims;
    const statements = readEntries(ofStatements, members.data, 'ignored');
    if (!statements.ok) return statements;
    const quotes = new QuoteFinder(request.sources.map(({ text }) => text));
    return {
      ok: true,
      verdicts: {
        kind: 'citations',
        claims: request.claims.map(({ claim, text, sources }, n) => {
          const { support, relevant, quote, unsupported = '' } = entryOf(claims.entries, claimKey(n));
          const place = quotes.locate(quote, sources);
          const isProofless = place === 'absent' && SUPPORT[support] > 0;
          const start = support === 'full' ? -1 : text.indexOf(unsupported);
          return {
            claim,
            support: SUPPORT[support],
            relevant,
            quote: isProofless ? 'unverified' : place,
            ...(support === 'contradicted' ? { contradicted: true as const } : {}),
            ...(start === -1 || unsupported === '' ? {} : { unsupported: { start, end: start + unsupported.length } }),
          };
        }),
        statements: request.statements.map(({ statement }, n) => ({
          statement,
          needs_citation: entryOf(statements.entries, statementKey(n)).needs_citation,
        })),
      },
      reasons: [
        ...ofClaims.map(([key]) => entryOf(claims.entries, key).reason),
        ...ofStatements.map(([key]) => entryOf(statements.entries, key).reason),
      ],
    };
  },

  reasonPlaces: ({ claims, statements }) => [
    ...claims.map(({ claim }) => ({ of: 'claims' as const, index: claim })),
    ...statements.map(({ statement }) => ({ of: 'statements' as const, index: statement })),
  ],

  fit: (request, promptTokens, cited) =>
    fitEntries(request, tokensOfEntries(request), (positions) => onlyEntries(request, positions), promptTokens, cited),

  entries: {
    only: onlyEntries,
    completed: (request, _positions, verdicts) => completedEntries(request, verdicts),
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

  byProbability: {
    claims: ({ claims }) => claims,
    entries: ({ claims, statements }) => claims.length + statements.length,
    verdicts: ({ claims, statements, asking }, supports, threshold) => ({
      kind: 'citations',
      claims: claims.map(({ claim, sources }, n) => {
        const { score, by_source, contradicted = 0 } = supports[n] ?? { score: 0, by_source: [] };
        const relevant = sources.map((_, position) => (by_source[position] ?? 0) >= threshold);
        const isDenied = asking?.contradiction === true && score < threshold && contradicted >= CONTRADICTED_FROM;
        const support = score >= threshold ? 1 : 0;
        return { claim, support, relevant, quote: 'absent', score, ...(isDenied ? { contradicted: true } : {}) };
      }),
      statements: statements.map(needsCitationVerdict),
    }),
    scores: ({ claims }) => claims.map(({ score }) => score),
    merged(request, parts) {
      const claims: CitationVerdicts['claims'][number][] = [];
      const statements: CitationVerdicts['statements'][number][] = [];
      for (const { tier, decided, verdicts } of parts) {
        const { claims: own, statements: others } = onlyEntries(request, decided);
        const [ofClaims, ofStatements] = [
          new Set(own.map(({ claim }) => claim)),
          new Set(others.map(({ statement }) => statement)),
        ];
        for (const one of verdicts.claims) if (ofClaims.has(one.claim)) claims.push({ ...one, tier });
        statements.push(...verdicts.statements.filter(({ statement }) => ofStatements.has(statement)));
      }
      return completedEntries(request, { kind: 'citations', claims, statements });
    },
  },

  judgeLexically(request) {
    const index = indexSources(request.sources);
    return {
      kind: 'citations',
      claims: request.claims.map(({ claim, text, sources }) => {
        const evidence = gatherEvidence(index, text, sources);
        const verdict = supportVerdict(evidence.support);
        const asks = request.asking?.contradiction === true && verdict !== 'full';
        const contradicted = asks && evidence.said_otherwise;
        const relevant = new Set(evidence.sources.filter((one) => one.relevant).map((one) => one.source));
        const [lacked] = asks ? [...evidence.missing_numbers, ...evidence.missing_names] : [];
        return {
          claim,
          support: SUPPORT[contradicted ? 'contradicted' : verdict],
          relevant: sources.map((source) => !contradicted && relevant.has(source)),
          quote: evidence.window === null ? 'absent' : evidence.window,
          ...(contradicted ? { contradicted } : {}),
          ...(lacked === undefined ? {} : { unsupported: { start: lacked.start, end: lacked.end } }),
        };
      }),
      statements: request.statements.map(needsCitationVerdict),
    };
  },
};
