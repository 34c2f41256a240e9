/**
 * Reads the claims of the link grammar: Markdown links whose address is the id, and notes `[3]` that a references
 * section at the end of the answer resolves (references.ts). Its section is neither claim nor uncited statement.
 *
 * - A link is a label if its text is a number or a host, if it or its run is in brackets, or if it follows the end of a
 *   sentence. Notes are labels too. A run of labels cites the text before it in its sentence, as a marker does.
 * - The text of any other link is prose. It cites its sentence, up to the next citation, with the link's text.
 * - Two addresses with one `pageKey` (text/url.ts) are one page. A link cites every source of its page. A spelling
 *   that differs from the source's, or from an earlier one, is a `citation_url_alias` finding.
 * - The id of a citation is the id of its source; for an unknown page the normal form of its address; for a note that
 *   nothing resolves its number. Its span is the address or the number as written.
 */
import { MAX_IDS_PER_CITATION } from '../limits.ts';
import { hasContent, isAsciiDigit, isLetterOrDigit, isSpace, LINE_FEED } from '../text/characters.ts';
import { splitSentences } from '../text/sentences.ts';
import { type Span, trimSpan, withBlanks } from '../text/span.ts';
import { keyOfPage, normalisedUrl } from '../text/url.ts';
import { citedText } from './cited-text.ts';
import { withoutCode } from './code.ts';
import type { ReadClaims } from './element-claims.ts';
import type { FindingSink } from './findings.ts';
import { encloses, isInlineSpace, type Mark, noteNumbers, readMarks } from './links.ts';
import { joinsMarkers, onlySeparators } from './marker-claims.ts';
import { withoutReferences } from './references.ts';
import type { Stretch } from './statements.ts';
import type { CitedId, Claim, SourceSet } from './types.ts';

/** Adjacent marks, with the brackets around them. */
type Run = {
  span: Span;
  readonly marks: Mark[];
  /** The texts of links that belong to the claim, in order. Empty if all marks are labels. */
  readonly prose: Span[];
  endsInProse: boolean;
};

/** Reads the claims of `text[content)` in linear time. */
export function readLinkClaims(text: string, content: Span, sources: SourceSet, findings: FindingSink): ReadClaims {
  const isSource = (id: string): boolean => sources.byId.has(id);
  const references = withoutReferences(withoutCode(text, content).text, content, isSource);
  const { text: plain, urls } = references;
  const { marks, broken } = readMarks(plain, content, isSource, (label) => urls.has(label.toLowerCase()));
  for (const span of broken) findings.add({ reason: 'citation_id_malformed', in: 'response', span });
  const runs = readRuns(text, content, marks);
  // Sentences are split as without the markup.
  const masked = withBlanks(plain, runs.flatMap(markupOf));
  const sentences = splitSentences(masked, content.start, content.end);
  const pages = new Pages(sources, urls);
  const claims: Claim[] = [];
  const stretches: Stretch[] = [];
  let from = content.start;
  let sentence = 0;

  const addText = (to: number): void => {
    if (to > from) stretches.push({ start: from, end: to, claim: false });
  };

  for (let n = 0; n < runs.length; n++) {
    const run = runs[n];
    if (run === undefined) continue;
    const [firstText] = run.prose;
    const lastText = run.prose.at(-1);
    // Labels mark the last sentence that begins before them; prose belongs to the sentence in which it begins.
    const anchor = firstText === undefined ? run.span.start : firstText.start + 1;
    while ((sentences[sentence + 1]?.start ?? content.end) < anchor) sentence++;
    const start = Math.max(from, sentences[sentence]?.start ?? content.start);
    let end = run.span.start;
    if (lastText !== undefined) {
      end = lastText.end;
      while (sentence + 1 < sentences.length && (sentences[sentence]?.end ?? end) < end) sentence++;
      const next = runs[n + 1];
      let limit = Math.max(sentences[sentence]?.end ?? end, run.span.end);
      if (next !== undefined && next.span.start < limit) {
        limit = next.prose.length > 0 ? next.span.start : run.span.end;
      }
      if (hasContent(masked, run.span.end, limit)) end = limit;
    }
    const span = citedText(masked, start, Math.max(start, end));
    const index = claims.length;
    const ids = pages.idsOf(text, run, index, findings);
    const isEmpty = !hasContent(masked, span.start, span.end);
    if (isEmpty) {
      findings.add({ reason: 'citation_empty_claim', in: 'response', span: run.span, claim: index });
      addText(run.span.start);
      const place = { start: run.span.start, end: run.span.start };
      claims.push({ index, text: '', span: place, element: run.span, ids, duplicate_of: null });
    } else {
      addText(Math.min(span.start, run.span.start));
      stretches.push({ ...span, claim: true });
      const element = { start: Math.min(span.start, run.span.start), end: Math.max(span.end, run.span.end) };
      const claim = withoutMarkup(text, span, run);
      claims.push({ index, text: claim, span, element, ids, duplicate_of: null });
    }
    from = Math.max(run.span.end, isEmpty ? 0 : span.end);
  }
  addText(content.end);
  return { claims, stretches, references: references.spans };
}

/** Joins marks with only white space or separators between them, and labels with a word, to runs, and takes in the brackets around a run. */
function readRuns(text: string, body: Span, marks: readonly Mark[]): Run[] {
  const runs: Run[] = [];
  for (let n = 0; n < marks.length; ) {
    const first = marks[n];
    if (first === undefined) break;
    const group = [first];
    let last = first;
    let end = first.span.end;
    for (n++; n < marks.length; n++) {
      const next = marks[n];
      if (next === undefined) break;
      const isJoined = onlySeparators(text, end, next.span.start);
      const areLabels = !isJoined && joinsMarkers(text, end, next.span.start) && isLabel(text, last);
      if (!isJoined && !(areLabels && isLabel(text, next))) break;
      last = next;
      group.push(next);
      end = next.span.end;
    }
    const inner = { start: first.span.start, end };
    const outer = withBrackets(text, body, inner, runs.at(-1)?.span.end ?? body.start);
    if (outer !== null || followsSentence(text, body, inner)) addLabels(text, runs, group, outer ?? inner);
    else {
      for (const mark of group) {
        if (isLabel(text, mark)) addLabels(text, runs, [mark], mark.span);
        else addProse(text, runs, mark);
      }
    }
  }
  return runs;
}

/** Adds labels to the run before them, or begins a run. */
function addLabels(text: string, runs: Run[], labels: readonly Mark[], span: Span): void {
  const last = runs.at(-1);
  const isJoined = last?.endsInProse === false && joinsMarkers(text, last.span.end, span.start);
  if (last !== undefined && (isJoined || onlySeparators(text, last.span.end, span.start))) {
    for (const label of labels) last.marks.push(label);
    last.span = { start: last.span.start, end: span.end };
    last.endsInProse = false;
  } else runs.push({ span, marks: [...labels], prose: [], endsInProse: false });
}

/** Adds a link whose text is prose to the run before it if that ends in prose too, or begins a run. */
function addProse(text: string, runs: Run[], mark: Mark): void {
  const prose = mark.form === 'link' ? [mark.text] : [];
  const last = runs.at(-1);
  if (last?.endsInProse === true && onlySeparators(text, last.span.end, mark.span.start)) {
    last.marks.push(mark);
    last.prose.push(...prose);
    last.span = { start: last.span.start, end: mark.span.end };
  } else runs.push({ span: mark.span, marks: [mark], prose, endsInProse: true });
}

/** A note, or a link whose text is empty, a number or a host. */
function isLabel(text: string, mark: Mark): boolean {
  if (mark.form === 'notes') return true;
  const { start, end } = trimSpan(text, mark.text.start, mark.text.end);
  if (encloses(text.charCodeAt(start), text.charCodeAt(end - 1)) && end - start > 2) {
    if (noteNumbers(text, { start: start + 1, end: end - 1 }) !== null) return true;
  }
  if (noteNumbers(text, { start, end }) !== null || !hasContent(text, start, end)) return true;
  let dots = 0;
  let letters = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (isSpace(code)) return false;
    if (code === 0x2e && i > start && i < end - 1) dots++;
    else if (isLetterOrDigit(code) && !isAsciiDigit(code)) letters++;
  }
  return dots > 0 && letters > 1;
}

/** Returns the span with the pair of brackets around it, or `null` if there is none on its line after `floor`. */
function withBrackets(text: string, body: Span, { start, end }: Span, floor: number): Span | null {
  let before = start - 1;
  while (before >= floor && isInlineSpace(text.charCodeAt(before))) before--;
  let after = end;
  while (after < body.end && isInlineSpace(text.charCodeAt(after))) after++;
  if (before < floor || after >= body.end) return null;
  return encloses(text.charCodeAt(before), text.charCodeAt(after)) ? { start: before, end: after + 1 } : null;
}

/** Returns whether a run stands between the end of a sentence and the end of the line, or directly after a full stop. */
function followsSentence(text: string, body: Span, { start, end }: Span): boolean {
  let before = start - 1;
  while (before >= body.start && isInlineSpace(text.charCodeAt(before))) before--;
  if (before < body.start || !'.!?。！？'.includes(text.charAt(before))) return false;
  if (before === start - 1 && '.!?'.includes(text.charAt(before))) return true;
  let after = end;
  while (after < body.end && isInlineSpace(text.charCodeAt(after))) after++;
  return after >= body.end || text.charCodeAt(after) === LINE_FEED;
}

/** The parts of a run that are not text of its claim, in order. */
function markupOf(run: Run): Span[] {
  const markup: Span[] = [];
  let from = run.span.start;
  for (const { start, end } of run.prose) {
    markup.push({ start: from, end: start });
    from = end;
  }
  markup.push({ start: from, end: run.span.end });
  return markup;
}

/** The text of a claim without the markup of its run. */
function withoutMarkup(text: string, span: Span, run: Run): string {
  // A list, because reading the end of a growing string copies it.
  const kept: string[] = [];
  let from = span.start;
  for (const markup of markupOf(run)) {
    if (markup.start >= span.end) break;
    if (markup.start > from) kept.push(text.slice(from, markup.start));
    from = Math.max(from, Math.min(markup.end, span.end));
    if (kept.at(-1)?.endsWith(' ') === true && text[from] === ' ') from++;
  }
  kept.push(text.slice(from, Math.max(from, span.end)));
  return kept.join('').trim();
}

/** A page: its sources, the spellings of its address that are no alias, and its id if it has no source. */
type Page = { readonly sources: number[]; readonly spellings: Set<string>; readonly id: string };

/** The pages that a response may cite, by the key of their address. */
class Pages {
  readonly #pages = new Map<string, Page>();
  readonly #sources: SourceSet;
  readonly #notes: ReadonlyMap<string, string>;

  constructor(sources: SourceSet, notes: ReadonlyMap<string, string>) {
    this.#sources = sources;
    this.#notes = notes;
    sources.list.forEach((source, position) => {
      for (const address of new Set([source.url ?? source.id, source.id])) {
        const key = keyOfPage(address);
        if (key === null) continue;
        const page = this.#page(address, key);
        if (page.sources.at(-1) !== position) page.sources.push(position);
        page.spellings.add(address);
      }
    });
  }

  #page(address: string, key: string): Page {
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page: Page = { sources: [], spellings: new Set(), id: normalisedUrl(address) ?? address };
    this.#pages.set(key, page);
    return page;
  }

  /** Returns the distinct ids that a run cites, and reports those that are repeated, unknown, or aliases. */
  idsOf(text: string, run: Run, claim: number, findings: FindingSink): CitedId[] {
    const ids: CitedId[] = [];
    const seen = new Set<string>();
    for (const { span, cited } of citationsOf(text, run)) {
      const found = this.#resolve(cited, span, claim, findings).filter(({ id }) => !seen.has(id));
      if (found.length === 0) findings.add({ reason: 'citation_id_repeated', in: 'response', span, claim });
      for (const one of found) {
        if (ids.length === MAX_IDS_PER_CITATION) {
          findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
          return ids;
        }
        seen.add(one.id);
        ids.push(one);
        if (one.source === null) findings.add({ reason: 'citation_id_unknown', in: 'response', span, claim });
      }
    }
    return ids;
  }

  #resolve(cited: string, span: Span, claim: number, findings: FindingSink): CitedId[] {
    const address = this.#notes.get(cited.toLowerCase()) ?? cited;
    const key = keyOfPage(address);
    if (key === null) return [{ id: cited, span, source: this.#sources.byId.get(cited) ?? null }];
    const page = this.#page(address, key);
    if (page.spellings.size === 0) page.spellings.add(address);
    else if (!page.spellings.has(address)) {
      findings.add({ reason: 'citation_url_alias', in: 'response', span, claim });
    }
    if (page.sources.length === 0) return [{ id: page.id, span, source: null }];
    return page.sources.slice(0, MAX_IDS_PER_CITATION + 1).map((source) => {
      const id = this.#sources.list[source]?.id ?? page.id;
      return { id, span, source };
    });
  }
}

/** What a run cites, in order: addresses and numbers of notes. */
function citationsOf(text: string, { marks }: Run): { readonly span: Span; readonly cited: string }[] {
  return marks
    .flatMap((mark) => (mark.form === 'link' ? [mark.url] : mark.numbers))
    .map((span) => ({ span, cited: text.slice(span.start, span.end) }));
}
