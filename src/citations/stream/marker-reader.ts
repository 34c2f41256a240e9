/**
 * Reads the claims of a marker grammar as they become certain. It reads ids when a marker closes; after a bare bracket
 * it waits one unit, because a link could follow. It sends a claim at the first unit that cannot continue its run of
 * markers, without waiting for the rest of the sentence.
 */

import { hasContent, isSpace } from '../../text/characters.ts';
import { SENTENCE_LOOKBACK, type SentenceState, settleSentence, splitFurther } from '../../text/sentences.ts';
import { isBlank, type Span } from '../../text/span.ts';
import { beginIds, type IdReading, readIdsIn } from '../cited-ids.ts';
import { citedText } from '../cited-text.ts';
import { CodeMask } from '../code.ts';
import type { MarkerGrammar } from '../grammars.ts';
import {
  continuesRun,
  type IdRule,
  idRuleOf,
  isBlankSpan,
  isMarker,
  linkEnd,
  markerEnd,
  NO_MARKER,
  nextMarker,
  UNDECIDED,
} from '../marker-claims.ts';
import { ReferenceMask } from '../references.ts';
import { isIdSeparator } from '../tags.ts';
import type { Claim } from '../types.ts';
import { isDash } from '../written-ids.ts';
import { type AnswerReader, inspectClaim, type ReaderContext, sendClaim } from './answer-reader.ts';
import { CitationFindings } from './events.ts';

/**
 * A run of adjacent markers, and those of them without an id. All places are offsets into the response. `isParted`: a
 * comma, or its like, is read behind it.
 */
type Run = {
  readonly start: number;
  end: number;
  readonly reading: IdReading;
  readonly empty: Span[];
  isParted: boolean;
};

const NONE = -1;

/** Reads one answer of a marker grammar. */
export class MarkerReader implements AnswerReader {
  readonly #context: ReaderContext;
  readonly #grammar: MarkerGrammar;
  readonly #rule: IdRule;
  readonly #sentences: SentenceStarts;
  /** Hide code and references from the reader: the window has other characters in their place. */
  readonly #code: CodeMask;
  readonly #references: ReferenceMask;
  /** End of the text that the masks have read. */
  #fed: number;
  /** The masked text after the last run. */
  #plain = '';
  /**
   * The masked text that is not decided yet (at most one marker and the latest addition), and the offset of that text
   * in the response.
   */
  #window = '';
  #base: number;
  /** Offset in the window from which to search for the next opening mark or for the end of the run. */
  #at = 0;
  /** Offsets in the window of a possible marker's opening mark, and of its first unread unit. */
  #opening = NONE;
  #inside = 0;
  #run: Run | null = null;
  /** A `<` follows the window. It is neither a link nor a separator. */
  #beforeTag = false;
  /** End of the last run. */
  #from: number;
  #claims = 0;

  constructor(context: ReaderContext, grammar: MarkerGrammar, start: number) {
    this.#context = context;
    this.#grammar = grammar;
    this.#rule = idRuleOf(grammar, context.sources);
    this.#sentences = new SentenceStarts(start);
    this.#code = new CodeMask(start);
    this.#references = new ReferenceMask(start, (id) => context.sources.byId.has(id));
    this.#fed = start;
    this.#base = start;
    this.#from = start;
  }

  tag(): void {
    // Tags inside the answer are text in a marker grammar.
  }

  advance(to: number, beforeTag: boolean): void {
    if (to > this.#fed) {
      this.#take(this.#references.push(this.#code.push(this.#context.text.slice(this.#fed, to))));
      this.#fed = to;
    } else if (!beforeTag || this.#beforeTag) return;
    this.#beforeTag = beforeTag && !this.#code.isHolding && !this.#references.isHolding;
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

  #take(masked: string): void {
    this.#window += masked;
    this.#plain += masked;
  }

  close(): void {
    this.#take(this.#references.push(this.#code.finish()) + this.#references.finish());
    this.#read(true);
    if (this.#run !== null) this.#endRun(this.#run);
  }

  /** Decides as much of the window as possible: all of it if the text is `complete`. */
  #read(complete: boolean): void {
    for (;;) {
      if (this.#opening === NONE && !this.#findOpening(complete)) return;
      const from = this.#opening + this.#grammar.open.length;
      const end = markerEnd(this.#window, from, this.#inside, this.#window.length, complete, this.#grammar);
      if (end === UNDECIDED) {
        // The window may end inside a mark, so the next call reads that part again.
        const marks = this.#grammar.open.length + this.#grammar.close.length;
        this.#inside = Math.max(from, this.#window.length - marks);
        return;
      }
      if (end === NO_MARKER) this.#skipOpening();
      else {
        const after = end + this.#grammar.close.length;
        // The next unit decides whether this is a link.
        if (this.#grammar.when !== 'always' && !complete && !this.#beforeTag && after >= this.#window.length) return;
        const inside = { start: from, end };
        if (!isMarker(this.#window, inside, this.#rule)) this.#skipOpening();
        else {
          const before = this.#base + this.#opening - this.#from - 1;
          const isInBracket = before >= 0 && this.#plain[before] === '[';
          const isWhole = complete || this.#beforeTag;
          const whole = linkEnd(this.#window, isInBracket, after, this.#window.length, isWhole);
          if (whole === UNDECIDED) return;
          this.#addMarker(inside, whole);
        }
      }
    }
  }

  /**
   * Finds the next possible marker; returns false if there is none yet. Ends the run if the text does not continue it.
   */
  #findOpening(complete: boolean): boolean {
    const { open } = this.#grammar;
    const window = this.#window;
    if (this.#run !== null) {
      for (; this.#at < window.length && continuesRun(window.charCodeAt(this.#at)); this.#at++) {
        this.#run.isParted ||= isIdSeparator(window.charCodeAt(this.#at));
      }
      const isDashed = this.#base + this.#at === this.#run.end && isDash(window.charCodeAt(this.#at));
      if (isDashed && window.startsWith(open, this.#at + 1)) return this.#begin(this.#at + 1);
      const isLast = complete || (this.#beforeTag && !open.startsWith('<'));
      if (isDashed && !isLast && open.startsWith(window.slice(this.#at + 1))) return false;
      const passed = { isSpaced: this.#base + this.#at > this.#run.end, isParted: this.#run.isParted };
      const next = nextMarker(window, this.#at, window.length, open, isLast, passed);
      if (next === UNDECIDED) return false;
      if (next !== NO_MARKER) return this.#begin(next);
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

  /** Treats the opening mark as text, which ends the run before it. */
  #skipOpening(): void {
    this.#at = this.#opening + 1;
    this.#opening = NONE;
    if (this.#run !== null) this.#endRun(this.#run);
  }

  #addMarker(inside: Span, after: number): void {
    const { text, events, answer, sources } = this.#context;
    const start = this.#base + this.#opening;
    const end = this.#base + after;
    const isRangeEnd =
      this.#run !== null && start === this.#run.end + 1 && isDash(text.slice(start - 1, start).charCodeAt(0));
    this.#run ??= { start, end, reading: beginIds(), empty: [], isParted: false };
    this.#run.end = end;
    this.#run.isParted = false;
    if (isBlankSpan(this.#window, inside)) this.#run.empty.push({ start, end });
    const findings = new CitationFindings(events, answer, this.#run.start);
    const written = text.slice(this.#base + inside.start, this.#base + inside.end);
    const ids = { start: 0, end: written.length };
    readIdsIn(this.#run.reading, written, ids, sources, 0, findings, this.#base + inside.start, isRangeEnd);
    this.#at = after;
    this.#opening = NONE;
  }

  #endRun({ start, end, reading: { ids }, empty: withoutId }: Run): void {
    const { text, events, answer } = this.#context;
    const from = this.#from;
    this.#run = null;
    this.#from = end;
    const stretch = text.slice(from, start);
    const plain = this.#plain.slice(0, start - from);
    this.#sentences.add(plain, end - start);
    this.#plain = this.#plain.slice(end - from);
    const blank = isBlank(plain);
    const begin = blank ? from : Math.max(from, this.#sentences.before(start));
    const span = citedText(plain, begin - from, plain.length);
    if (ids.length === 0) {
      events.addFinding('citation_no_id', { start, end }, answer, start);
      return;
    }
    for (const place of withoutId) events.addFinding('citation_no_id', place, answer, start);
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
    sendClaim({ claim, evidence: inspectClaim(claim, start, this.#context) }, this.#claims++, start, this.#context);
  }
}

/** Returns where a claim's markers start, after the marks around them. */
export function markersStart(response: string, { span, element }: Claim, grammar: MarkerGrammar): number {
  const { open } = grammar;
  let start = response.indexOf(open, span.end);
  for (; start < element.end; start = response.indexOf(open, start + 1)) {
    const from = start + open.length;
    if (markerEnd(response, from, from, element.end, true, grammar) !== NO_MARKER) break;
  }
  return start;
}

/**
 * Finds the start of the sentence before a marker, for a text that arrives marker by marker. The splitter reads each
 * stretch once, when the marker after it is complete. Markers are replaced by spaces, as in the batch parser, so the
 * splitter always has the unit that it must look ahead to.
 */
class SentenceStarts {
  /** The text with masked markers that the splitter may still read, and the offset of that text in the response. */
  #text = '';
  #base: number;
  #state: SentenceState | null = null;
  /** Start of the last sentence that has ended. */
  #lastStart: number;

  constructor(start: number) {
    this.#base = start;
    this.#lastStart = start;
  }

  /** Adds the next stretch of text, and `mask` spaces in place of the markers after it. */
  add(stretch: string, mask: number): void {
    this.#text += stretch + ' '.repeat(mask);
  }

  /**
   * Returns the start of the last sentence that begins before `place`. The text up to `place` and at least one space
   * must have been added, and the last stretch must not be blank.
   */
  before(place: number): number {
    const text = this.#text;
    const end = place - this.#base + 1;
    const state = this.#state ?? firstLine(text, end);
    const ended: Span[] = [];
    splitFurther(text, end, false, state, ended);
    const last = ended.at(-1);
    if (last !== undefined) this.#lastStart = this.#base + last.start;
    settleSentence(text, state);
    // The open sentence begins at `from`, unless only white space follows up to the markers.
    const open = firstNonSpace(text, state.from, end);
    const start = open < end ? this.#base + open : this.#lastStart;
    this.#drop(state);
    return start;
  }

  #drop(state: SentenceState): void {
    const dropped = Math.max(0, state.at - SENTENCE_LOOKBACK);
    this.#text = this.#text.slice(dropped);
    this.#base += dropped;
    state.from -= dropped;
    state.at -= dropped;
    state.lineStart -= dropped;
    this.#state = state;
  }
}

function firstLine(text: string, end: number): SentenceState {
  const at = firstNonSpace(text, 0, end);
  return { from: 0, at, lineStart: at, blockLine: null };
}

function firstNonSpace(text: string, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}
