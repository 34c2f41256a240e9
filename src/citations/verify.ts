/**
 * Verification without a judge: everything that can be said of the citations of a response by reading it, and with
 * `evidence: 'lexical'` by comparing words. Pure CPU (ARCHITECTURE.md rule 6). JSON-ready: this is what `/v1/verify`
 * answers. Lexical support is a flag, never a verdict (reference: SummEdits AUC is near chance for every lexical score).
 */
import { type ClaimEvidence, needsCitation } from '../lexical/index.ts';
import type { Span } from '../text/span.ts';
import type { AnswerChoice } from './blocks.ts';
import { indexSourceSet } from './evidence-index.ts';
import { FindingList, sumCounts } from './findings.ts';
import type { GrammarName } from './grammars.ts';
import { suspectedInjections } from './injection.ts';
import { describeEvidence, evidenceOf, type LexicalEvidence, reportEvidence } from './lexical-evidence.ts';
import { parseResponse } from './parse.ts';
import { type SourceInput, sourcesOf } from './sources.ts';
import type {
  CitedId,
  Claim,
  Finding,
  FindingCounts,
  FindingReason,
  ParsedResponse,
  Source,
  SourceSet,
} from './types.ts';

export type { LexicalEvidence, SourceSpan } from './lexical-evidence.ts';

export type VerifyInput = {
  readonly response: string;
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
  readonly grammar?: GrammarName;
  readonly answer?: AnswerChoice;
  /** Default `full`. In `answer_only`, text outside the answer block is a finding. */
  readonly mode?: 'answer_only' | 'full';
};

export type VerifyOptions = { readonly evidence: 'none' | 'lexical' };

export type VerifiedClaim = {
  readonly index: number;
  readonly text: string;
  readonly span: Span;
  readonly element: Span;
  readonly ids: readonly CitedId[];
  readonly duplicate_of: number | null;
  /** Reasons of the findings about this claim, each once. */
  readonly findings: readonly FindingReason[];
  /** With lexical evidence, where the claim cites at least one known source. */
  readonly evidence?: LexicalEvidence;
};

export type VerifiedStatement = {
  readonly index: number;
  readonly text: string;
  readonly pieces: readonly Span[];
  /** With lexical evidence: whether it seems to assert something checkable. */
  readonly needs_citation?: boolean;
};

/** Shares in [0, 1]; `null` where there is nothing to divide by. */
export type CitationRatios = {
  readonly claims: number;
  readonly uncited_statements: number;
  readonly citations: number;
  readonly distinct_ids: number;
  /** Claims / (claims + uncited statements). Duplicates count once. */
  readonly cited_share: number | null;
  /** Distinct cited ids that exist / distinct cited ids. */
  readonly known_id_share: number | null;
  /** Sources that are cited / sources. */
  readonly source_use: number | null;
  /** With lexical evidence: share of the claims' text that is copied from whole source sentences. */
  readonly copied_share?: number | null;
};

export type Verification = {
  readonly answer: Span | null;
  readonly format: { readonly answer_only: 0 | 1; readonly full: 0 | 1 };
  readonly ratios: CitationRatios;
  readonly claims: readonly VerifiedClaim[];
  readonly statements: readonly VerifiedStatement[];
  readonly findings: readonly Finding[];
  readonly finding_counts: FindingCounts;
  readonly sources: readonly VerifiedSource[];
};

export type VerifiedSource = {
  readonly index: number;
  readonly id: string;
  readonly title?: string;
  readonly url?: string;
  readonly span: Span | null;
};

/**
 * Parses and verifies one response.
 * @throws TypeError if neither or both of `tool_output` and `sources` are given.
 */
export function verifyCitations(input: VerifyInput, options: VerifyOptions): Verification {
  const sources = sourcesOf(rolloutSources(input));
  const parsed = parseResponse(input.response, sources, {
    ...(input.grammar === undefined ? {} : { grammar: input.grammar }),
    ...(input.answer === undefined ? {} : { answer: input.answer }),
  });
  return describeResponse(input.response, parsed, sources, input.mode ?? 'full', options.evidence);
}

function rolloutSources({ tool_output, sources }: VerifyInput): Parameters<typeof sourcesOf>[0] {
  if (tool_output !== undefined && sources === undefined) return { tool_output };
  if (sources !== undefined && tool_output === undefined) return { sources };
  throw new TypeError('verifyCitations: give either tool_output or sources');
}

/** The verification of a response that is parsed already. */
export function describeResponse(
  response: string,
  parsed: ParsedResponse,
  sources: SourceSet,
  mode: 'answer_only' | 'full',
  evidence: 'none' | 'lexical',
): Verification {
  const extra = new FindingList();
  if (mode === 'answer_only') {
    for (const span of parsed.outside) extra.add({ reason: 'text_outside_answer', in: 'response', span });
  }
  const lexical = evidence === 'lexical' ? lexicalEvidence(response, parsed, sources, extra) : null;
  const findings = [...sources.findings, ...parsed.findings, ...extra.list];
  const reasonsByClaim = new Map<number, FindingReason[]>();
  for (const { claim, reason } of findings) {
    if (claim === undefined) continue;
    const reasons = reasonsByClaim.get(claim);
    if (reasons === undefined) reasonsByClaim.set(claim, [reason]);
    else if (!reasons.includes(reason)) reasons.push(reason);
  }
  return {
    answer: parsed.answer,
    format: parsed.format,
    ratios: ratiosOf(parsed, sources, lexical),
    claims: parsed.claims.map((claim) =>
      describeClaim(claim, reasonsByClaim.get(claim.index), lexical?.get(claim.index)),
    ),
    statements: parsed.statements.map(({ index, text, pieces }) => ({
      index,
      text,
      pieces,
      ...(lexical === null ? {} : { needs_citation: needsCitation(text) }),
    })),
    findings,
    finding_counts: sumCounts([sources.counts, parsed.counts, extra.counts]),
    sources: sources.list.map(describeSource),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

// Objects are filled rather than spread together: this runs for every source and claim of every request.
function describeSource({ id, title, url, span }: Source, index: number): VerifiedSource {
  const described: Mutable<VerifiedSource> = { index, id, span };
  if (title !== undefined) described.title = title;
  if (url !== undefined) described.url = url;
  return described;
}

function describeClaim(
  { index, text, span, element, ids, duplicate_of }: Claim,
  findings: readonly FindingReason[] | undefined,
  evidence: ClaimEvidence | undefined,
): VerifiedClaim {
  const described: Mutable<VerifiedClaim> = {
    index,
    text,
    span,
    element,
    ids,
    duplicate_of,
    findings: findings === undefined ? [] : findings,
  };
  if (evidence !== undefined) described.evidence = describeEvidence(evidence);
  return described;
}

/** Evidence for each claim that cites a known source, with the findings it gives. */
function lexicalEvidence(
  response: string,
  parsed: ParsedResponse,
  sources: SourceSet,
  findings: FindingList,
): Map<number, ClaimEvidence> {
  const index = indexSourceSet(sources);
  const byClaim = new Map<number, ClaimEvidence>();
  for (const claim of parsed.claims) {
    const evidence = evidenceOf(index, claim);
    if (evidence === null) continue;
    byClaim.set(claim.index, evidence);
    reportEvidence(claim, evidence, findings);
  }
  const answer = parsed.answer;
  if (answer !== null) {
    for (const span of suspectedInjections(response, answer.start, answer.end)) {
      findings.add({ reason: 'judge_injection_suspected', in: 'response', span });
    }
  }
  return byClaim;
}

function ratiosOf(
  parsed: ParsedResponse,
  sources: SourceSet,
  lexical: ReadonlyMap<number, ClaimEvidence> | null,
): CitationRatios {
  const known = new Set<string>();
  const unknown = new Set<string>();
  let citations = 0;
  let claims = 0;
  let claimLength = 0;
  let copiedLength = 0;
  for (const claim of parsed.claims) {
    for (const { id, source } of claim.ids) (source === null ? unknown : known).add(id);
    if (claim.duplicate_of !== null) continue;
    claims++;
    citations += claim.ids.length;
    claimLength += claim.text.length;
    if ((lexical?.get(claim.index)?.verbatim.length ?? 0) > 0) copiedLength += claim.text.length;
  }
  const distinct = known.size + unknown.size;
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  return {
    claims,
    uncited_statements: parsed.statements.length,
    citations,
    distinct_ids: distinct,
    cited_share: share(claims, claims + parsed.statements.length),
    known_id_share: share(known.size, distinct),
    source_use: share(known.size, sources.list.length),
    ...(lexical === null ? {} : { copied_share: share(copiedLength, claimLength) }),
  };
}
