/**
 * Claims of a marker grammar as they become certain. Ids are read where a marker closes (a bare bracket one unit later: a
 * link could follow). A claim ends where its run of markers does, so it is sent at the first unit behind the run that
 * cannot continue it; how its sentence goes on does not matter.
 */
import { hasContent, isSpace, LINE_FEED } from '../../text/characters.ts';
import { isBlank, type Span, trimSpan } from '../../text/span.ts';
import type { MarkerGrammar } from '../grammars.ts';
import { beginIds, type IdReading, readIdsIn } from '../ids.ts';
import { isMarker, markerEnd, mayBegin, NO_MARKER, UNDECIDED } from '../markers.ts';
import { isIdSeparator } from '../tags.ts';
import type { Claim } from '../types.ts';
import { CitationFindings } from './events.ts';
import { type AnswerReader, addClaim, inspectClaim, type ReaderContext } from './reader.ts';
import { SentenceStarts } from './sentences.ts';

/** Adjacent markers; places in the response. */
type Run = { readonly start: number; end: number; readonly reading: IdReading };

const NONE = -1;

export class MarkerReader implements AnswerReader {
  readonly #context: ReaderContext;
  readonly #grammar: MarkerGrammar;
  readonly #sentences: SentenceStarts;
  /** Text that is not decided yet, at most one marker and what was just added, and where it stands in the response. */
  #window = '';
  #base: number;
  /** In the window: where to look for the next opening mark or, behind a run, for its end. */
  #at = 0;
  /** In the window: the opening mark of what may be a marker, and how far its inside was looked at. */
  #opening = NONE;
  #inside = 0;
  #run: Run | null = null;
  /** Behind the window stands a `<`: whatever it begins, it is no link and no separator. */
  #cut = false;
  /** Where the last run ended. */
  #from: number;
  #claims = 0;

  constructor(context: ReaderContext, grammar: MarkerGrammar, start: number) {
    this.#context = context;
    this.#grammar = grammar;
    this.#sentences = new SentenceStarts(start);
    this.#base = start;
    this.#from = start;
  }

  tag(): void {
    // Tags are text here: which of them end the answer is not this reader's to know.
  }

  reach(to: number, cut: boolean): void {
    const known = this.#base + this.#window.length;
    if (to > known) this.#window += this.#context.text.slice(known, to);
    else if (!cut || this.#cut) return;
    this.#cut = cut;
    this.#read(false);
    const decided = this.#opening === NONE ? this.#at : this.#opening;
    this.#window = this.#window.slice(decided);
    this.#base += decided;
    this.#at -= decided;
    if (this.#opening !== NONE) {
      this.#inside -= decided;
      this.#opening = 0;
    }
  }

  close(): void {
    this.#read(true);
    if (this.#run !== null) this.#endRun(this.#run);
  }

  /** Decides what can be decided; if the text is `complete`, everything. */
  #read(complete: boolean): void {
    for (;;) {
      if (this.#opening === NONE && !this.#findOpening(complete)) return;
      const from = this.#opening + this.#grammar.open.length;
      const end = markerEnd(this.#window, from, this.#inside, this.#window.length, complete, this.#grammar);
      if (end === UNDECIDED) {
        // A mark may be cut at the end of the window: its beginning is looked at again.
        const marks = this.#grammar.open.length + this.#grammar.close.length;
        this.#inside = Math.max(from, this.#window.length - marks);
        return;
      }
      if (end === NO_MARKER) this.#passOver();
      else {
        const after = end + this.#grammar.close.length;
        // Looked at again with the unit behind it, which tells a link.
        if (this.#grammar.ambiguous && !complete && !this.#cut && after >= this.#window.length) return;
        const inside = { start: from, end };
        if (this.#grammar.ambiguous && !isMarker(this.#window, inside, this.#context.sources)) this.#passOver();
        else this.#addMarker(inside, after);
      }
    }
  }

  /** True if there is something that may be a marker. Before, a run ends that nothing continues. */
  #findOpening(complete: boolean): boolean {
    const { open } = this.#grammar;
    const window = this.#window;
    if (this.#run !== null) {
      while (this.#at < window.length && continuesRun(window.charCodeAt(this.#at))) this.#at++;
      if (this.#at >= window.length) {
        if (this.#cut && !open.startsWith('<')) this.#endRun(this.#run);
        return false;
      }
      if (window.startsWith(open, this.#at)) return this.#begin(this.#at);
      if (!complete && mayBegin(window, this.#at, open)) return false;
      this.#endRun(this.#run);
    }
    const found = window.indexOf(open, this.#at);
    if (found !== -1) return this.#begin(found);
    this.#at = Math.max(this.#at, window.length - (complete ? 0 : open.length - 1));
    return false;
  }

  #begin(opening: number): true {
    this.#opening = opening;
    this.#inside = opening + this.#grammar.open.length;
    return true;
  }

  /** What opened was no marker, so it is text, and the run before it has ended. */
  #passOver(): void {
    this.#at = this.#opening + 1;
    this.#opening = NONE;
    if (this.#run !== null) this.#endRun(this.#run);
  }

  #addMarker(inside: Span, after: number): void {
    const { events, answer, sources } = this.#context;
    const start = this.#base + this.#opening;
    const end = this.#base + after;
    this.#run ??= { start, end, reading: beginIds() };
    this.#run.end = end;
    const findings = new CitationFindings(events, answer, this.#run.start);
    readIdsIn(this.#run.reading, this.#window, inside, sources, 0, findings, this.#base);
    this.#at = after;
    this.#opening = NONE;
  }

  #endRun({ start, end, reading: { ids } }: Run): void {
    const { text, events, answer } = this.#context;
    const from = this.#from;
    this.#run = null;
    this.#from = end;
    const stretch = text.slice(from, start);
    this.#sentences.add(stretch, end - start);
    const blank = isBlank(stretch);
    const begin = blank ? from : Math.max(from, this.#sentences.before(start));
    const span = trimSpan(stretch, begin - from, stretch.length);
    if (ids.length === 0) {
      events.addFinding('citation_no_id', { start, end }, answer, start);
      return;
    }
    const empty = blank || !hasContent(stretch, span.start, span.end);
    if (empty) events.addFinding('citation_empty_claim', { start, end }, answer, start);
    const place = empty ? { start, end: start } : { start: span.start + from, end: span.end + from };
    const claim: Claim = {
      index: this.#claims,
      text: empty ? '' : stretch.slice(span.start, span.end),
      span: place,
      element: { start: place.start, end },
      ids,
      duplicate_of: null,
    };
    addClaim({ claim, evidence: inspectClaim(claim, start, this.#context) }, this.#claims++, start, this.#context);
  }
}

/** White space and separators between two markers; a line break ends the run. */
function continuesRun(code: number): boolean {
  return code !== LINE_FEED && (isSpace(code) || isIdSeparator(code));
}

/** Where the markers of a claim begin: nothing but white space stands between. */
export function markersOf(response: string, { span }: Claim): number {
  let start = span.end;
  while (isSpace(response.charCodeAt(start))) start++;
  return start;
}
