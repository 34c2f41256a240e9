/**
 * Compares the incremental verifier with the batch parser, for random texts in any chunks: whole, unit by unit (also
 * inside tags and surrogate pairs) and split at random places. The unit tests and the slow tests share it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CITATION_POLICIES } from '../../../src/citations/citation-policy.ts';
import { GRAMMAR_NAMES, GRAMMARS } from '../../../src/citations/grammars.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import type { IncrementalOptions } from '../../../src/citations/stream/verifier.ts';
import type { Finding } from '../../../src/citations/types.ts';
import { describeResponse } from '../../../src/citations/verify.ts';
import { hasContent } from '../../../src/text/characters.ts';
import { hostileText, likelyResponse } from './hostile-text.ts';
import { cut, type Streamed, standing, stream } from './streamed.ts';

export const SOURCES = sourcesFromList([
  { id: 'S1', text: 'It opened in 1937. The bridge is long.' },
  { id: 'S2', text: 'It is red.' },
]);

const options = fc
  .record({
    grammar: fc.constantFrom(...GRAMMAR_NAMES),
    answer: fc.constantFrom('first', 'last', 'whole', undefined),
    mode: fc.constantFrom('full', 'answer_only'),
    citations: fc.constantFrom(...CITATION_POLICIES),
    evidence: fc.constantFrom('none', 'none', 'none', 'lexical'),
  })
  .map(
    ({ answer, ...rest }): IncrementalOptions => ({
      sources: SOURCES,
      ...rest,
      ...(answer === undefined ? {} : { answer }),
    }),
  );

const key = ({ reason, span }: Pick<Finding, 'reason' | 'span'>, claim?: number): string =>
  `${reason} ${span.start}-${span.end} ${claim ?? ''}`;

/** Reasons that the batch parser reports with the index of the claim. */
const OF_CLAIMS: ReadonlySet<string> = new Set([
  'citation_id_malformed',
  'citation_id_unknown',
  'citation_id_repeated',
  'citation_url_alias',
  'citation_empty_claim',
  'citation_forbidden',
  'markup_only',
  'ids_shotgun',
  'claim_covers_answer',
  'claim_verbatim',
  'number_not_in_source',
  'name_not_in_source',
  'quotation_invented',
  'quotation_misattributed',
  'quotation_stitched',
  'quotation_altered',
  'claim_states_nothing',
  'claim_abstains',
  'claim_repeats_question',
  'claim_without_content',
  'claims_contradict',
]);

/** `toEqual` for JSON values, ten times faster if they are equal. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected);
}

/** The valid events are exactly what the batch parser finds. */
function checkAgainstBatch(text: string, streamed: Streamed, given: IncrementalOptions): void {
  const parsed = parseResponse(text, given.sources, given);
  expect(streamed.response).toBe(text);
  expectSame(streamed.parsed, parsed);
  const { claims, findings } = standing(streamed.all);
  expectSame(
    claims.map(({ index, text, span, element, ids }) => ({ index, text, span, element, ids, duplicate_of: null })),
    parsed.claims.map((claim) => ({ ...claim, duplicate_of: null })),
  );

  const { sources, mode = 'full', evidence = 'none', citations, question } = given;
  const batch = describeResponse(text, parsed, sources, { mode, evidence, citations, question });
  const found = batch.findings.slice(given.sources.findings.length);
  expectSame(findings.map((event) => key(event)).sort(), found.map((finding) => key(finding)).sort());
  // A finding about a citation is one about its claim. A citation without a claim has no such finding.
  const claimOf = new Map(claims.map(({ citation, index }) => [citation, index]));
  const ofClaims = new Set(found.map((finding) => key(finding, finding.claim)));
  for (const event of findings) {
    const claim = event.citation === null ? undefined : claimOf.get(event.citation);
    if (claim !== undefined && OF_CLAIMS.has(event.reason)) expect(ofClaims).toContain(key(event, claim));
  }
  for (const claim of batch.claims) {
    if (hasContent(claim.text, 0, claim.text.length)) expectSame(claims[claim.index]?.evidence, claim.evidence);
  }
}

/** An invented id is reported at the last unit of its tag or marker; for a bare bracket, one unit later. */
function checkInventedIds(text: string, streamed: Streamed, grammarName: keyof typeof GRAMMARS): void {
  const grammar = GRAMMARS[grammarName];
  // Links are read when the answer ends. Text that may be code or references waits for its end.
  if (
    grammar.form === 'link' ||
    /[`~\\$]|<(?:pre|code|kbd|samp|tt|!--)|(?:^|>)\s*(?:[[【]|[#*\s]*(?:Sources|Notes|References))/imu.test(text)
  )
    return;
  streamed.all.forEach((event, n) => {
    if (event.type !== 'finding' || event.reason !== 'citation_id_unknown') return;
    const told = streamed.at[n] ?? Number.NaN;
    // A tag in the place of an id may begin another answer, so it waits for the end.
    if (text.slice(event.span.start, event.span.end).includes('<')) return;
    const before = text.slice(0, event.span.end);
    const rest = text.slice(event.span.end);
    if (grammar.form === 'marker') {
      // The id may be in the header of an incomplete tag.
      const header = before.split(/(?=<[/a-z])/iu).at(-1) ?? '';
      if (/^<[/a-z][^>]*$/iu.test(header)) return;
      const end = event.span.end + rest.indexOf(grammar.close) + grammar.close.length;
      // Behind `[` it may be the text of a link: `[[1]](https://…)`.
      const isWrapped = text[(event.citation ?? 0) - 1] === '[';
      expect(told).toBeLessThanOrEqual(end + (grammar.when === 'always' && !isWrapped ? 0 : 1));
      return;
    }
    const end = event.span.end + rest.indexOf('>') + 1;
    // Only the next tag decides whether a quote is closed.
    const isQuoted = /["'“”‘’]/u.test(text.slice(event.citation ?? 0, end));
    const next = rest.search(/<[/a-z]/iu);
    const quotedEnd = next === -1 ? text.length + 1 : event.span.end + next + 2;
    expect(told).toBeLessThanOrEqual(isQuoted ? quotedEnd : end);
  });
}

export function check(text: string, given: IncrementalOptions, places: readonly number[]): void {
  const whole = stream([text], given);
  const units = stream(text.split(''), given);
  expectSame(units.all, whole.all);
  expectSame(stream(cut(text, places), given).all, whole.all);
  checkAgainstBatch(text, whole, given);
  if (given.answer !== 'last') checkInventedIds(text, units, given.grammar ?? 'snippet');
}

const HEADER_PIECES = [
  ...[' ', '=', ',', ' , ', '/', '"', "'", '“', '”', '<', '>', '\n', 'S1', 'S9', ' id=', ' ids =', ' a=', ' a =<'],
  ...[' id=S1,', ' id=S9', ' a="x>y"', '"x>y"', "'x>y'", '“x>y”', ' /', '<3'],
];

/** @param runs Texts of each of three kinds. @param timeout_ms Timeout of each test. */
export function testChunking(runs: number, timeout_ms: number): void {
  describe(`any text in any chunks, ${3 * runs} times`, { timeout: timeout_ms }, () => {
    const places = fc.array(fc.nat(400), { maxLength: 6 });

    it('hostile text', () => {
      fc.assert(fc.property(hostileText, options, places, check), { numRuns: runs });
    });

    it('headers of tags', () => {
      const header = fc.array(fc.constantFrom(...HEADER_PIECES), { maxLength: 12 }).map((pieces) => pieces.join(''));
      const tags = fc
        .array(header, { minLength: 1, maxLength: 3 })
        .map((headers) => `<answer>${headers.map((one) => `<snippet${one}> x </snippet>`).join(' y')}</answer>`);
      fc.assert(fc.property(tags, options, places, check), { numRuns: runs });
    });

    it('plausible answers', () => {
      fc.assert(fc.property(likelyResponse, options, places, check), { numRuns: runs });
    });
  });
}
