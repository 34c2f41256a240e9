/**
 * Checks the quotations of an answer without a judge: a cited source must contain them. White space, case, quotation
 * marks, punctuation and what copying changes (text/quote-fold.ts) are no difference, and an ellipsis or a word in square
 * brackets may replace any text. Words, digits and their borders are compared exactly.
 *
 * A quotation that no claim cites is compared with all sources. The question and the titles of sources may be quoted,
 * too. Short quotations are terms or names, and quotations Like This One are titles: neither is checked.
 *
 * Time is linear in the answer and in the sources times the quotations, whose product is limited.
 */
import { countContentTokens, isSpacedUnit } from '../lexical/index.ts';
import { isAsciiDigit, isLetterOrDigit } from '../text/characters.ts';
import { bordersOf, unitsOf } from '../text/contains.ts';
import { characterEnd, foldForQuote, visibleText } from '../text/quote-fold.ts';
import { type Span, trimSpan } from '../text/span.ts';
import { pageKey } from '../text/url.ts';
import { withoutCode } from './code.ts';
import { proseOf } from './prose-ids.ts';
import { mayQuote, quotedSpans } from './quoted-text.ts';
import type { Claim, Finding, ParsedResponse, Source, SourceSet } from './types.ts';

/** Quotations of an answer that are checked: the first ones. */
const MAX_QUOTATIONS = 64;
/** Quotations times characters of the sources: about 50 ms of work. Fewer are checked with larger sources. */
const MAX_COMPARED_CHARS = 8_000_000;
/** Characters of all sources, whose folded form takes 6 bytes each. With more, no quotation is checked. */
const MAX_SOURCES_CHARS = 2_000_000;

/** Fewest content words of a quotation that is checked: a shorter one is a term, a name or a title. */
const MIN_WORDS = 5;
/** Fewest words, content words among them, of a shorter one that is checked too: "we will not raise taxes this year". */
const CLAUSE = { words: 7, content: 3 } as const;
/** Characters that count as one word in scripts without spaces. */
const CHARS_PER_WORD = 4;
/** Least share of the longer words that begin with a capital letter in a title. */
const TITLE_SHARE = 0.75;
/** Least share of its words that an altered quotation has in common with a source, in runs of two or more. */
const ALTERED_SHARE = 2 / 3;

type Quotation = {
  readonly span: Span;
  readonly text: string;
  /** The claim that contains it, and the sources that its claims cite; none = compared with all. */
  readonly claim: number | null;
  readonly cited: ReadonlySet<number>;
  /** What a text must contain: all parts of one of the lists, in order. */
  readonly wordings: readonly (readonly Pattern[])[];
};

/** The findings about the quotations of a judged answer. Linear, see above. */
export function quotationFindings(
  response: string,
  { answer, claims, references }: Pick<ParsedResponse, 'answer' | 'claims' | 'references'>,
  sources: SourceSet,
  question = '',
): Finding[] {
  const { list } = sources;
  if (answer === null || list.length === 0) return [];
  if (!mayQuote(response.slice(answer.start, answer.end))) return [];
  const size = list.reduce((sum, { text, title = '' }) => sum + text.length + title.length, question.length);
  if (size > MAX_SOURCES_CHARS) return [];
  const limit = Math.max(1, Math.min(MAX_QUOTATIONS, Math.floor(MAX_COMPARED_CHARS / size)));
  const quotations = quotationsOf(response, answer, claims, references, limit);
  if (quotations.length === 0) return [];

  const known = foldWords([question, ...list.map(({ title = '' }) => title)].join('\n'));
  let open = quotations.filter((quotation) => !holds(known, quotation));
  const others = new Map<Quotation, number>();
  for (const at of list.keys()) {
    const held = heldBy(sources, at, open, ({ cited }) => cited.size === 0 || cited.has(at));
    open = open.filter((quotation) => !held.has(quotation));
  }
  for (const at of list.keys()) {
    const asked = (quotation: Quotation) => quotation.cited.size > 0 && !others.has(quotation);
    for (const quotation of heldBy(sources, at, open, asked)) others.set(quotation, at);
  }
  const kinds = kindsOf(
    open.filter((quotation) => !others.has(quotation)),
    sources,
  );
  return open.flatMap((quotation): Finding[] => {
    const { span, claim } = quotation;
    const about = { in: 'response' as const, span, ...(claim === null ? {} : { claim }) };
    const source = others.get(quotation);
    if (source === undefined) return [{ reason: kinds.get(quotation) ?? 'quotation_invented', ...about }];
    return isSamePage(list, source, quotation) ? [] : [{ reason: 'quotation_misattributed', ...about, source }];
  });
}

/** The quotations that a source contains, of those that are compared with it. */
function heldBy(
  sources: SourceSet,
  at: number,
  quotations: readonly Quotation[],
  isCompared: (quotation: Quotation) => boolean,
): ReadonlySet<Quotation> {
  const compared = quotations.filter(isCompared);
  if (compared.length === 0) return new Set();
  const folded = foldedSource(sources, at);
  return new Set(compared.filter((quotation) => holds(folded, quotation)));
}

/** The folded sources of each set, which all samples of a group share. */
const foldedSets = new WeakMap<SourceSet, FoldedWords[]>();

function foldedSource(sources: SourceSet, at: number): FoldedWords {
  const folded = foldedSets.get(sources) ?? [];
  foldedSets.set(sources, folded);
  const words = folded[at] ?? foldWords(sources.list[at]?.text ?? '');
  folded[at] = words;
  return words;
}

/** Whether a quotation cites another part of the page that contains it. */
function isSamePage(list: readonly Source[], source: number, { cited }: Quotation): boolean {
  const url = list[source]?.url;
  if (url === undefined) return false;
  return [...cited].some((at) => pageKey(list[at]?.url ?? '') === pageKey(url));
}

function quotationsOf(
  response: string,
  answer: Span,
  claims: readonly Claim[],
  references: readonly Span[],
  limit: number,
): Quotation[] {
  const text = withoutMarkup(response, answer, claims, references);
  const claimEnds = claims.map(({ element }) => element.end - answer.start).sort((one, other) => one - other);
  const found: Quotation[] = [];
  for (const { start, end } of dividedAt(claimEnds, quotedSpans(text))) {
    const span = trimSpan(text, start, end);
    const wording = text.slice(span.start, span.end).replace(/^[ \t]*>[ \t>]*/gm, '');
    if (!isChecked(wording)) continue;
    const place = { start: span.start + answer.start, end: span.end + answer.start };
    const inside = claims.filter((claim) => claim.span.start < place.end && claim.span.end > place.start);
    found.push({
      span: place,
      text: wording,
      claim: inside[0]?.index ?? null,
      cited: new Set(inside.flatMap(({ ids }) => ids.flatMap(({ source }) => source ?? []))),
      wordings: wordingsOf(wording),
    });
    if (found.length === limit) return found;
  }
  return found;
}

/** The answer with U+0000 for citation markup, definitions of sources and the quotation marks in code. */
function withoutMarkup(response: string, answer: Span, claims: readonly Claim[], references: readonly Span[]): string {
  const { code } = withoutCode(response, answer);
  const pieces: string[] = [];
  let from = answer.start;
  let next = 0;
  for (const prose of proseOf(answer, claims, references)) {
    pieces.push('\0'.repeat(prose.start - from));
    for (from = prose.start; from < prose.end; ) {
      while ((code[next]?.end ?? prose.end) <= from) next++;
      const { start = prose.end, end = prose.end } = code[next] ?? {};
      const to = Math.min(prose.end, start > from ? start : end);
      const piece = response.slice(from, to);
      pieces.push(start > from ? piece : piece.replace(/["'“”„«»‘’「」>]/g, '\0'));
      from = to;
    }
  }
  return pieces.join('');
}

/** The parts of the spans between some offsets, all in order: the text behind a citation has another one. */
function* dividedAt(offsets: readonly number[], spans: Iterable<Span>): Generator<Span> {
  let next = 0;
  for (const { start, end } of spans) {
    let from = start;
    while ((offsets[next] ?? Number.POSITIVE_INFINITY) <= from) next++;
    for (let to = offsets[next] ?? end; to < end; to = offsets[++next] ?? end) {
      yield { start: from, end: to };
      from = to;
    }
    yield { start: from, end };
  }
}

function isChecked(text: string): boolean {
  let unspaced = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f && isLetterOrDigit(unit) && !isSpacedUnit(unit)) unspaced++;
  }
  const words = countContentTokens(text) - unspaced + unspaced / CHARS_PER_WORD;
  const isClause = words >= CLAUSE.content && (text.match(/\S+/g) ?? []).length >= CLAUSE.words;
  return (words >= MIN_WORDS || isClause) && !text.includes('://') && !isTitle(text);
}

function isTitle(text: string): boolean {
  const words = text.match(/\p{L}[\p{L}'’-]{3,}/gu) ?? [];
  const capitalised = words.filter((word) => word.charAt(0) !== word.charAt(0).toLowerCase());
  return capitalised.length > 0 && capitalised.length >= TITLE_SHARE * words.length;
}

const ELLIPSIS = /[[(]?(?:…|\.\s?\.\s?\.)[\s.…]*[\])]?/;
const BRACKETS = /\[[^\]\n]{0,100}\]/g;

/** As written, and, if it has square brackets, with other text in their place. */
function wordingsOf(text: string): Pattern[][] {
  const texts = text.includes('[') ? [text, text.replace(BRACKETS, '…')] : [text];
  return texts.map((one) =>
    one.split(ELLIPSIS).flatMap((part) => {
      const units = unitsOf(foldWords(part).text);
      return units.length === 0 ? [] : [{ units, borders: bordersOf(units) }];
    }),
  );
}

/** What the search of Knuth, Morris and Pratt needs to know of a text. */
type Pattern = { readonly units: Uint16Array; readonly borders: Int32Array };

function holds(folded: FoldedWords, { wordings }: Quotation): boolean {
  return wordings.some((parts) => {
    let from = 0;
    return parts.every((part) => {
      from = endAfter(folded, part, from);
      return from !== -1;
    });
  });
}

/** Returns where the first occurrence of a pattern from `from` on ends, which begins and ends with words; -1 = none. */
function endAfter(folded: FoldedWords, { units, borders }: Pattern, from: number): number {
  const { text } = folded;
  for (let at = from, matched = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== units[matched]) matched = borders[matched - 1] ?? 0;
    if (code === units[matched]) matched++;
    if (matched === units.length && isBorder(folded, at + 1 - matched) && isBorder(folded, at + 1)) return at + 1;
  }
  return -1;
}

/** The letters and digits of a text, folded, with the offset of each in the original. */
type FoldedWords = { readonly original: string; readonly text: string; readonly offsets: Int32Array };

/** Marks that the fold for quotes keeps: those of sentences. Between digits they are part of a number. */
const SENTENCE_MARKS = '.,;:!?()。、·';
const SENTENCE_MARK = /[.,;:!?()。、·]/g;

function foldWords(original: string): FoldedWords {
  const { text: all, offsets } = foldForQuote(original);
  const pieces: string[] = [];
  let count = 0;
  let from = 0;
  const keep = (to: number): void => {
    pieces.push(all.slice(from, to));
    offsets.copyWithin(count, from, to);
    count += to - from;
  };
  for (const { index: at } of all.matchAll(SENTENCE_MARK)) {
    const isOneNumber = isAsciiDigit(all.charCodeAt(at - 1)) && isAsciiDigit(all.charCodeAt(at + 1));
    if (isOneNumber && (offsets[at + 1] ?? 0) - (offsets[at - 1] ?? 0) === 2) continue;
    keep(at);
    from = at + 1;
  }
  keep(all.length);
  return { original, text: pieces.join(''), offsets: offsets.subarray(0, count) };
}

/** Whether a word or number ends before the folded unit at `at`, and another one begins. */
function isBorder({ original, text, offsets }: FoldedWords, at: number): boolean {
  const [before, next] = [offsets[at - 1], offsets[at]];
  if (before === undefined || next === undefined) return true;
  if (before === next) return false;
  const end = characterEnd(original, before);
  const gap = next === end ? '' : visibleText(original, end, Math.min(next, end + MAX_GAP_CHARS));
  if (gap !== '') return !(APOSTROPHES.includes(gap) && /^t(?!\p{L})/iu.test(original.slice(next, next + 3)));
  const isWord = isSpacedUnit(original.charCodeAt(before)) && isSpacedUnit(original.charCodeAt(next));
  const isNumber = isAsciiDigit(text.charCodeAt(at - 1)) !== isAsciiDigit(text.charCodeAt(at));
  const isMark = SENTENCE_MARKS.includes(text.charAt(at - 1)) || SENTENCE_MARKS.includes(text.charAt(at));
  return !(isMark || (isWord && !isNumber && !isNewWord(original.charAt(before), original.charAt(next))));
}

const MAX_GAP_CHARS = 64;
const APOSTROPHES = "'’";

/** "the riverThe Aare": a converter lost a blank. */
function isNewWord(last: string, first: string): boolean {
  return last !== last.toUpperCase() && first !== first.toLowerCase();
}

/** How each quotation differs from the text that is most like it; invented ones are absent. */
function kindsOf(
  quotations: readonly Quotation[],
  sources: SourceSet,
): Map<Quotation, 'quotation_stitched' | 'quotation_altered'> {
  const kinds = new Map<Quotation, 'quotation_stitched' | 'quotation_altered'>();
  const pairs = new Map(quotations.map((quotation) => [quotation, [...wordPairs(foldWords(quotation.text))]]));
  const wanted = new Set([...pairs.values()].flat());
  for (const at of sources.list.keys()) {
    const compared = quotations.filter(({ cited }) => cited.size === 0 || cited.has(at));
    if (compared.length === 0) continue;
    const present = new Set<string>();
    const folded = foldedSource(sources, at);
    for (const pair of wordPairs(folded)) if (wanted.has(pair)) present.add(pair);
    for (const quotation of compared) {
      // A quotation that is much longer than the source has little in common with it.
      if (quotation.text.length > 2 * folded.text.length || kinds.get(quotation) === 'quotation_stitched') continue;
      const share = sharedWords(pairs.get(quotation) ?? [], present);
      if (share === 1) kinds.set(quotation, 'quotation_stitched');
      else if (share >= ALTERED_SHARE) kinds.set(quotation, 'quotation_altered');
    }
  }
  return kinds;
}

/** The share of the words of a quotation that belong to a pair of neighbours which the source has, too. */
function sharedWords(pairs: readonly string[], present: ReadonlySet<string>): number {
  let words = 0;
  for (let at = 0; at <= pairs.length; at++) {
    if (present.has(pairs[at - 1] ?? '') || present.has(pairs[at] ?? '')) words++;
  }
  return pairs.length === 0 ? 0 : words / (pairs.length + 1);
}

/** Each two neighbouring words of a text, joined. */
function* wordPairs(folded: FoldedWords): Generator<string> {
  let first = -1;
  let second = -1;
  for (let at = 0; at <= folded.text.length; at++) {
    if (!isBorder(folded, at)) continue;
    if (first !== -1) yield folded.text.slice(first, at);
    first = second;
    second = at;
  }
}
