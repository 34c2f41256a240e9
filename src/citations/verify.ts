/**
 * Verifies citations without a model: checks their form and, with `evidence: 'lexical'`, compares words. The result is
 * the JSON reply of `/v1/verify`. Lexical support is a hint, not a verdict: on hard data (SummEdits), no lexical score
 * does much better than chance.
 */
import { type ClaimEvidence, createAskedWords, needsCitation } from '../lexical/index.ts';
import type { Span } from '../text/span.ts';
import type { AnswerChoice } from './blocks.ts';
import { type CitationPolicy, policyFindings } from './citation-policy.ts';
import { contradictingClaims } from './contradictions.ts';
import { FindingList, sumCounts } from './findings.ts';
import type { GrammarName } from './grammars.ts';
import { suspectedInjections } from './injection.ts';
import {
  describeEvidence,
  evidenceOfClaims,
  type IsAsked,
  type LexicalEvidence,
  reportEvidence,
} from './lexical-evidence.ts';
import { idsInProse } from './prose-ids.ts';
import { quotationFindings } from './quotations.ts';
import type { SourceInput } from './sources.ts';
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

export type { LexicalEvidence } from './lexical-evidence.ts';

/** A response and its sources: either `tool_output` or `sources`. */
export type VerifyInput = {
  readonly response: string;
  readonly tool_output?: string;
  readonly sources?: readonly SourceInput[];
  /** How citations are written; default `snippet`. */
  readonly grammar?: GrammarName;
  /** Which part is judged; default `first` for element grammars, else `whole`. */
  readonly answer?: AnswerChoice;
  /** With `answer_only`, text outside the answer block is a finding; default `full`. */
  readonly mode?: 'answer_only' | 'full';
  /** With `required`, an answer that cites nothing is a finding; with `forbidden`, each citation; default `allowed`. */
  readonly citations?: CitationPolicy;
  /** With lexical evidence, a claim that says nothing that the question does not is a finding. */
  readonly question?: string;
};

/** A claim with its findings. */
export type VerifiedClaim = {
  readonly index: number;
  readonly text: string;
  readonly span: Span;
  readonly element: Span;
  readonly ids: readonly CitedId[];
  readonly duplicate_of: number | null;
  /** Reasons of the findings about this claim. Each occurs once. */
  readonly findings: readonly FindingReason[];
  /** Only with lexical evidence, if the claim cites a known source. */
  readonly evidence?: LexicalEvidence;
};

/** A statement without a citation. */
type VerifiedStatement = {
  readonly index: number;
  readonly text: string;
  readonly pieces: readonly Span[];
  /** Only with lexical evidence: whether the statement looks like a checkable fact. */
  readonly needs_citation?: boolean;
};

/** Counts and shares. A share is in [0, 1], or `null` if its denominator is 0. Duplicate claims count once. */
type CitationRatios = {
  readonly claims: number;
  readonly uncited_statements: number;
  readonly citations: number;
  readonly distinct_ids: number;
  /** Claims / (claims + uncited statements). */
  readonly cited_share: number | null;
  /** Distinct cited ids that exist / distinct cited ids. */
  readonly known_id_share: number | null;
  /** Cited sources / sources. */
  readonly source_use: number | null;
  /** Only with lexical evidence: share of the claims' text that is copied from whole source sentences. */
  readonly copied_share?: number | null;
};

/** The verification of a response. Offsets are UTF-16 code units; `withOffsets` converts them. */
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

/** A source without its text. `span` is its place in the tool output, `null` for listed sources. */
type VerifiedSource = {
  readonly index: number;
  readonly id: string;
  readonly title?: string;
  readonly url?: string;
  readonly span: Span | null;
};

type DescribeOptions = Required<Pick<VerifyInput, 'mode'>> & {
  /** `lexical`: compares each claim with its cited sources by words; `none`: checks the form; a map: evidence that is known. */
  readonly evidence: 'none' | 'lexical' | ReadonlyMap<number, ClaimEvidence>;
  readonly citations?: CitationPolicy | undefined;
  readonly question?: string | undefined;
};

/**
 * Verifies a parsed response. Takes time linear in the response and the sources; with lexical evidence, also in the texts
 * that each claim cites, so callers refuse a response with `sizeProblems` first.
 */
export function describeResponse(
  response: string,
  parsed: ParsedResponse,
  sources: SourceSet,
  { mode, evidence, citations = 'allowed', question }: DescribeOptions,
): Verification {
  const extra = new FindingList();
  if (mode === 'answer_only') {
    for (const span of parsed.outside) extra.add({ reason: 'text_outside_answer', in: 'response', span });
  }
  for (const { reason, span, ...about } of policyFindings(parsed, citations)) {
    extra.add({ reason, in: 'response', span, ...('claim' in about ? { claim: about.claim.index } : {}) });
  }
  if (parsed.answer !== null) {
    for (const span of idsInProse(response, parsed.answer, parsed.claims, sources, parsed.references)) {
      extra.add({ reason: 'id_in_prose', in: 'response', span });
    }
  }
  const lexical =
    evidence === 'none' ? null : evidence === 'lexical' ? evidenceOfClaims(sources, parsed.claims) : evidence;
  if (lexical !== null) {
    const isAsked = question === undefined || lexical.size === 0 ? null : createAskedWords(question);
    reportLexically(response, parsed, sources, lexical, isAsked, extra);
    for (const finding of quotationFindings(response, parsed, sources, question)) extra.add(finding);
    for (const { span, index } of contradictingClaims(parsed.claims)) {
      extra.add({ reason: 'claims_contradict', in: 'response', span, claim: index });
    }
  }
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

// Fields are assigned instead of spread, for speed: this runs for every source and claim of every request.
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

/** Reports the findings that follow from comparing words: of each claim, and text that addresses a judge. */
function reportLexically(
  response: string,
  { answer, claims }: ParsedResponse,
  sources: SourceSet,
  lexical: ReadonlyMap<number, ClaimEvidence>,
  isAsked: IsAsked,
  findings: FindingList,
): void {
  for (const claim of claims) {
    const evidence = lexical.get(claim.index);
    if (evidence !== undefined) reportEvidence(claim, evidence, sources, isAsked, findings);
  }
  if (answer === null) return;
  for (const span of suspectedInjections(response, answer.start, answer.end)) {
    findings.add({ reason: 'judge_injection_suspected', in: 'response', span });
  }
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
