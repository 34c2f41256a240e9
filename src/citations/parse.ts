/**
 * The citation parser: finds the claims, uncited statements and findings of a response. It never throws, keeps offsets,
 * and takes linear time for any input, without regular expressions. The rules for ambiguous input are in blocks.ts
 * (answers, thinking), element-claims.ts (nesting, unclosed tags), marker-claims.ts, link-claims.ts and sources.ts
 * (repeated ids).
 */
import type { InputProblem } from '../input-problem.ts';
import { hasContentWord } from '../lexical/index.ts';
import { MAX_SOURCES } from '../limits.ts';
import { hasContent } from '../text/characters.ts';
import { splitSentences } from '../text/sentences.ts';
import { type Span, trimSpan } from '../text/span.ts';
import { pageKey } from '../text/url.ts';
import { type AnswerLimits, answerLimits, comparedChars } from './answer-limits.ts';
import { type AnswerBlock, type AnswerChoice, readBlocks } from './blocks.ts';
import { markDuplicates } from './duplicates.ts';
import { type ReadClaims, readElementClaims } from './element-claims.ts';
import type { FindingList } from './findings.ts';
import { GRAMMARS, type Grammar, type GrammarName } from './grammars.ts';
import { readLinkClaims } from './link-claims.ts';
import { readMarkerClaims } from './marker-claims.ts';
import { isSourcesHeading } from './source-headings.ts';
import { uncitedStatements, withoutSpans } from './statements.ts';
import { strayMarkup } from './stray-markup.ts';
import type { CitedId, Claim, Finding, FindingCounts, FindingReason, ParsedResponse, SourceSet } from './types.ts';

/** A claim that cites more sources than this is `ids_shotgun`. */
export const SHOTGUN_IDS_PER_CLAIM = 5;
/** So is a claim that cites at least this many sources, and nearly all: this share of them. */
const SHOTGUN_SOURCES = 3;
const SHOTGUN_SHARE = 0.8;
/** A claim with this share of the answer's text and this many sentences is `claim_covers_answer`. */
const COVERING_CLAIM_SHARE = 0.9;
const COVERING_CLAIM_SENTENCES = 3;

/** Options of `parseResponse`. */
export type ParseOptions = {
  /** How citations are written; default `snippet`. */
  readonly grammar?: GrammarName;
  /** Which part is judged; default `first` for element grammars, else `whole`. */
  readonly answer?: AnswerChoice;
};

/** Findings that cost the format bonus. A missing answer costs it too. */
const FORMAT_BREAKERS: readonly FindingReason[] = [
  'several_answers',
  'answer_unclosed',
  'citation_unclosed',
  'citation_nested',
  'citation_stray_close',
  'citation_empty_claim',
  'citation_no_id',
  'citation_id_malformed',
  'citation_id_unknown',
];

/**
 * Parses a response: finds the judged answer, its claims, its uncited statements, and findings about its form.
 *
 * Never throws. Takes time linear in the response.
 *
 * @param response The text of the response. All offsets in the result are UTF-16 code units of this string.
 * @param sources The sources that it may cite, from `parseSources` or `sourcesFromList`.
 * @example
 * const sources = parseSources('<snippet id=S1>The bridge opened in 1937.</snippet>');
 * const { claims } = parseResponse('<answer><snippet id=S1>It opened in 1937.</snippet></answer>', sources);
 * claims[0]?.ids[0]?.source; // 0
 */
export function parseResponse(response: string, sources: SourceSet, options: ParseOptions = {}): ParsedResponse {
  const grammar: Grammar = GRAMMARS[options.grammar ?? 'snippet'];
  const choice = options.answer ?? (grammar.form === 'element' ? 'first' : 'whole');
  const blocks = readBlocks(response, grammar.form === 'element' ? grammar.element : null, choice);
  const findings = blocks.findings;
  const block = blocks.judged;
  if (block === null) return withoutAnswer(response, blocks.closedAnswers, findings, null);

  const read = readClaims(response, block, grammar, sources, findings);
  const stretches = withoutSpans(read.stretches, read.references);
  if (!stretches.some(({ start, end }) => hasContent(response, start, end))) {
    if (block.content.end > block.content.start) {
      const span = trimSpan(response, block.content.start, block.content.end);
      if (span.end > span.start) findings.add({ reason: 'markup_only', in: 'response', span });
    }
    return { ...withoutAnswer(response, blocks.closedAnswers, findings, block), references: read.references };
  }
  const claims = markDuplicates(read.claims);
  for (const { reason, span } of strayMarkup(response, block.content, grammar, sources)) {
    findings.add({ reason, in: 'response', span });
  }
  reportClaims(response, claims, block, sources, findings);
  const outside = choice === 'whole' ? [] : outsideSpans(response, block.element);
  const wellFormed = isWellFormed(findings.counts);
  return {
    answer: block.content,
    claims,
    statements: uncitedStatements(response, stretches),
    references: read.references,
    findings: findings.list,
    counts: findings.counts,
    outside,
    format: { full: wellFormed ? 1 : 0, answer_only: wellFormed && outside.length === 0 ? 1 : 0 },
    answers: blocks.closedAnswers,
  };
}

function readClaims(
  response: string,
  block: AnswerBlock,
  grammar: Grammar,
  sources: SourceSet,
  findings: FindingList,
): ReadClaims {
  switch (grammar.form) {
    case 'element':
      return readElementClaims(response, block.content, block.tags, grammar.attributes, sources, findings);
    case 'marker':
      return readMarkerClaims(response, block.content, grammar, sources, findings);
    case 'link':
      return readLinkClaims(response, block.content, sources, findings);
  }
}

function withoutAnswer(
  response: string,
  answers: number,
  findings: FindingList,
  block: AnswerBlock | null,
): ParsedResponse {
  findings.add({ reason: 'no_answer', in: 'response', span: block === null ? { start: 0, end: 0 } : block.element });
  return {
    answer: null,
    claims: [],
    statements: [],
    references: [],
    findings: findings.list,
    counts: findings.counts,
    outside: block === null ? outsideSpans(response, { start: 0, end: 0 }) : outsideSpans(response, block.element),
    format: { answer_only: 0, full: 0 },
    answers,
  };
}

function isWellFormed(counts: FindingCounts): boolean {
  return FORMAT_BREAKERS.every((reason) => counts[reason] === undefined);
}

function outsideSpans(response: string, element: Span): Span[] {
  const before = trimSpan(response, 0, element.start);
  const after = trimSpan(response, element.end, response.length);
  return [before, after].filter((span) => span.end > span.start);
}

function reportClaims(
  response: string,
  claims: readonly Claim[],
  block: AnswerBlock,
  sources: SourceSet,
  findings: FindingList,
): void {
  for (const claim of claims) {
    if (citesMany(claim, sources))
      findings.add({ reason: 'ids_shotgun', in: 'response', span: claim.element, claim: claim.index });
    if (lacksContent(claim)) {
      findings.add({ reason: 'claim_without_content', in: 'response', span: claim.span, claim: claim.index });
    }
    if (coversAnswer(response, claim, block.content)) {
      findings.add({ reason: 'claim_covers_answer', in: 'response', span: claim.span, claim: claim.index });
    }
  }
}

/** Returns whether a claim is `ids_shotgun`. One address that several sources share counts once, a range does not. */
export function citesMany({ ids }: Claim, { list }: SourceSet): boolean {
  if (ids.length < Math.min(SHOTGUN_IDS_PER_CLAIM, SHOTGUN_SOURCES)) return false;
  const pageOf = ({ id, source }: CitedId): string => pageKey((source === null ? undefined : list[source]?.url) ?? id);
  const written = ids.filter((cited, n) => {
    const before = ids[n - 1];
    return before?.span.start !== cited.span.start || pageOf(before) !== pageOf(cited);
  }).length;
  if (written > SHOTGUN_IDS_PER_CLAIM) return true;
  if (written < SHOTGUN_SOURCES || written < SHOTGUN_SHARE * list.length) return false;
  return new Set(ids.flatMap(({ source }) => source ?? [])).size >= SHOTGUN_SHARE * list.length;
}

/**
 * Returns whether a claim is `claim_without_content`: function words, or a heading of sources (`Sources: [1], [2]`). One
 * without a letter or digit is `citation_empty_claim` instead.
 */
export function lacksContent({ text }: Claim): boolean {
  return hasContent(text, 0, text.length) && (!hasContentWord(text) || isSourcesHeading(text));
}

/** Returns whether a claim is `claim_covers_answer`. */
export function coversAnswer(response: string, { element, span }: Claim, answer: Span): boolean {
  if (element.end - element.start < COVERING_CLAIM_SHARE * (answer.end - answer.start)) return false;
  return splitSentences(response, span.start, span.end).length >= COVERING_CLAIM_SENTENCES;
}

/**
 * The response as scoring reads it: one with more claims, citations or statements than the limits allow has no answer
 * that could be judged. It is not refused, because a policy could otherwise leave itself unscored by writing more.
 * @param samples the number of samples that are scored together, which share the limits.
 */
export function scorableResponse(parsed: ParsedResponse, sources: SourceSet, samples = 1): ParsedResponse {
  const { answer } = parsed;
  const limits = answerLimits(samples);
  const isOversized = sizeProblems(parsed, sources, 'sources', limits).some(({ path }) => path[0] === 'response');
  if (answer === null || !isOversized) return parsed;
  const added: Finding[] = [
    { reason: 'no_answer', in: 'response', span: answer },
    { reason: 'answer_oversized', in: 'response', span: answer },
  ];
  return {
    ...parsed,
    answer: null,
    claims: [],
    statements: [],
    findings: [...added, ...parsed.findings.filter(({ claim }) => claim === undefined)],
    counts: { ...parsed.counts, no_answer: 1, answer_oversized: 1 },
    format: { answer_only: 0, full: 0 },
  };
}

/**
 * Lists the limits (src/limits.ts) that a parsed response or its sources exceed. Empty for every realistic response.
 * Callers refuse a response with problems before they compare or judge it: the limits bound time, memory and the size
 * of a reply.
 *
 * @param sourcesField The field of the request that holds the sources, for the paths of the problems.
 */
export function sizeProblems(
  parsed: ParsedResponse,
  sources: SourceSet,
  sourcesField: 'tool_output' | 'sources',
  limits: AnswerLimits = answerLimits(1),
): readonly InputProblem[] {
  const problems: InputProblem[] = [];
  const check = (field: string, what: string, count: number, most: number): void => {
    if (count > most) problems.push({ path: [field], message: `${count} ${what}; at most ${most}` });
  };
  let citations = 0;
  let compared = 0;
  for (const { ids, text } of parsed.claims) {
    citations += ids.length;
    for (const { source } of ids) {
      const cited = source === null ? undefined : sources.list[source];
      if (cited !== undefined) compared += comparedChars(text, cited.text);
    }
  }
  check('response', 'claims', parsed.claims.length, limits.claims);
  check('response', 'citations', citations, limits.citations);
  check('response', 'uncited statements', parsed.statements.length, limits.statements);
  check(sourcesField, 'sources', sources.list.length, MAX_SOURCES);
  check('response', 'characters of cited text and claims over all citations', compared, limits.comparedChars);
  return problems;
}
