/**
 * The citation parser: a response and its sources in, claims, uncited statements and findings out. It never throws, keeps
 * offsets, and reads any input in linear time without a regular expression. Policies for what is ambiguous stand in
 * blocks.ts (answers, thinking), claims.ts (nesting, unclosed tags), markers.ts and sources.ts (repeated ids).
 */
import { hasContent } from '../text/characters.ts';
import { splitSentences } from '../text/sentences.ts';
import { type Span, trimSpan } from '../text/span.ts';
import { type AnswerBlock, type AnswerChoice, readBlocks } from './blocks.ts';
import { type ReadClaims, readElementClaims } from './claims.ts';
import { markDuplicates } from './duplicates.ts';
import type { FindingList } from './findings.ts';
import { GRAMMARS, type Grammar, type GrammarName } from './grammars.ts';
import { readMarkerClaims } from './markers.ts';
import { uncitedStatements } from './statements.ts';
import type { Claim, FindingCounts, FindingReason, ParsedResponse, SourceSet } from './types.ts';

/** A claim that cites more sources than this is `ids_shotgun` (REWARDS.md section 2). */
export const SHOTGUN_IDS_PER_CLAIM = 5;
/** A claim of several sentences that holds at least this share of the answer's text is `claim_covers_answer`. */
const COVERING_CLAIM_SHARE = 0.9;

export type ParseOptions = {
  /** Default `snippet`. */
  readonly grammar?: GrammarName;
  /** Which text is judged; default `first` for element grammars, `whole` for marker grammars. */
  readonly answer?: AnswerChoice;
};

/** A claim longer than one or two sentences that is nearly the whole answer is no claim but a blanket. */
const COVERING_CLAIM_SENTENCES = 3;

/** What breaks the format bonus besides the answer block itself (REWARDS.md section 2). */
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

export function parseResponse(response: string, sources: SourceSet, options: ParseOptions = {}): ParsedResponse {
  const grammar: Grammar = GRAMMARS[options.grammar ?? 'snippet'];
  const choice = options.answer ?? (grammar.form === 'element' ? 'first' : 'whole');
  const blocks = readBlocks(response, grammar.form === 'element' ? grammar.element : null, choice);
  const findings = blocks.findings;
  const block = blocks.judged;
  if (block === null) return withoutAnswer(response, blocks.closedAnswers, findings, null);

  const read = readClaims(response, block, grammar, sources, findings);
  if (!read.stretches.some(({ start, end }) => hasContent(response, start, end))) {
    if (block.content.end > block.content.start) {
      const span = trimSpan(response, block.content.start, block.content.end);
      if (span.end > span.start) findings.add({ reason: 'markup_only', in: 'response', span });
    }
    return withoutAnswer(response, blocks.closedAnswers, findings, block);
  }
  const claims = markDuplicates(read.claims);
  reportClaims(response, claims, block, findings);
  const outside = choice === 'whole' ? [] : outsideSpans(response, block.element);
  const wellFormed = isWellFormed(findings.counts);
  return {
    answer: block.content,
    claims,
    statements: uncitedStatements(response, read.stretches),
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

function reportClaims(response: string, claims: readonly Claim[], block: AnswerBlock, findings: FindingList): void {
  for (const claim of claims) {
    if (citesMany(claim))
      findings.add({ reason: 'ids_shotgun', in: 'response', span: claim.element, claim: claim.index });
    if (coversAnswer(response, claim, block.content)) {
      findings.add({ reason: 'claim_covers_answer', in: 'response', span: claim.span, claim: claim.index });
    }
  }
}

/** Whether a claim is `ids_shotgun`. */
export function citesMany({ ids }: Claim): boolean {
  return ids.length > SHOTGUN_IDS_PER_CLAIM;
}

/** Whether a claim is `claim_covers_answer`. */
export function coversAnswer(response: string, { element, span }: Claim, answer: Span): boolean {
  if (element.end - element.start < COVERING_CLAIM_SHARE * (answer.end - answer.start)) return false;
  return splitSentences(response, span.start, span.end).length >= COVERING_CLAIM_SENTENCES;
}
