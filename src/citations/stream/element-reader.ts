/**
 * Reads the claims of an element grammar as they close. It reads the ids of a citation when the opening tag ends. A
 * claim inside another citation waits until that citation has closed or the answer has ended, because only then its
 * index is certain.
 */
import { CITATION } from '../blocks.ts';
import { areText, CodeMask } from '../code.ts';
import { claimBetween, OpenCitations, readCitedIds } from '../element-claims.ts';
import type { ElementGrammar } from '../grammars.ts';
import type { Tag } from '../tags.ts';
import type { CitedId } from '../types.ts';
import { type AnswerReader, type ClosedClaim, inspectClaim, type ReaderContext, sendClaim } from './answer-reader.ts';
import { CitationFindings } from './events.ts';
import type { StreamedTag } from './streamed-text.ts';

/** Text without a tag is read for code in pieces of this many UTF-16 code units, or up to the next tag. */
const PIECE_CHARS = 1024;

/** One claim that waits to be sent, in the order of opening tags. */
type Slot = { readonly citation: number; closed: ClosedClaim | null; unclosed: boolean };

type OpenCitation = {
  readonly tag: Tag;
  /** Index among the tags since the outermost open citation. */
  readonly position: number;
  ids: readonly CitedId[];
  /** `null` if the citation has no ids and so makes no claim. */
  slot: Slot | null;
};

/** Reads one answer of an element grammar. */
export class ElementReader implements AnswerReader {
  readonly #context: ReaderContext;
  readonly #attributes: readonly string[];
  readonly #open = new OpenCitations<OpenCitation>();
  /** The tags since the outermost open citation. They are left out of the text of that citation's claim. */
  #tags: Tag[] = [];
  /** The open outermost claim and the claims inside it, not sent yet. */
  #slots: Slot[] = [];
  #claims = 0;
  readonly #code: CodeMask;
  /** End of the text that the mask has read. */
  #fed: number;
  /** Tags that may be in code. */
  #waiting: StreamedTag[] = [];
  /** Number of pieces of code that end before every waiting tag. */
  #passed = 0;

  constructor(context: ReaderContext, grammar: ElementGrammar, start: number) {
    this.#context = context;
    this.#attributes = grammar.attributes;
    this.#code = new CodeMask(start);
    this.#fed = start;
  }

  tag(read: StreamedTag): void {
    this.#waiting.push(read);
    this.advance(read.tag.span.end);
  }

  advance(to: number): void {
    if (to <= this.#fed || (this.#waiting.length === 0 && to - this.#fed < PIECE_CHARS)) return;
    this.#code.push(this.#context.text.slice(this.#fed, to));
    this.#fed = to;
    this.#takeWaiting();
  }

  /** Takes the waiting tags of which it is known whether they are in code. */
  #takeWaiting(): void {
    const { spans, settled } = this.#code;
    let taken = 0;
    for (
      let next = this.#waiting[0];
      next !== undefined && next.tag.span.start < settled;
      next = this.#waiting[taken]
    ) {
      const { start } = next.tag.span;
      while ((spans[this.#passed]?.end ?? start + 1) <= start) this.#passed++;
      const code = spans[this.#passed];
      let end = taken + 1;
      if (code !== undefined && code.start <= start) {
        while ((this.#waiting[end]?.tag.span.start ?? code.end) < code.end) end++;
        if (areText(this.#waiting.slice(taken, end).map(({ tag }) => tag))) {
          taken = end;
          continue;
        }
      }
      for (; taken < end; taken++) {
        const read = this.#waiting[taken];
        if (read !== undefined) this.#take(read);
      }
    }
    if (taken > 0) this.#waiting = this.#waiting.slice(taken);
  }

  #take(read: StreamedTag): void {
    const position = this.#tags.push(read.tag) - 1;
    if (read.tag.name === CITATION) {
      if (read.tag.closing) this.#closeInnermost(read.tag, position);
      else this.#openCitation(read, position);
    }
    if (this.#open.list.length === 0) this.#tags = [];
  }

  close(): void {
    this.#code.finish();
    this.#takeWaiting();
    const { events, answer } = this.#context;
    for (const { tag, slot } of this.#open.list) {
      events.addFinding('citation_unclosed', tag.span, answer, tag.span.start);
      if (slot !== null) slot.unclosed = true;
    }
    this.#sendClaims();
  }

  #openCitation({ tag, header, local }: StreamedTag, position: number): void {
    const { events, answer, sources } = this.#context;
    const citation = tag.span.start;
    if (this.#open.list.length > 0) events.addFinding('citation_nested', tag.span, answer, citation);
    const entry: OpenCitation = { tag, position, ids: [], slot: null };
    if (!tag.selfClosing && !this.#open.open(entry)) return;
    const findings = new CitationFindings(events, answer, citation);
    entry.ids = readCitedIds(header, local, this.#attributes, sources, 0, findings, citation);
    if (entry.ids.length > 0) {
      entry.slot = { citation, closed: null, unclosed: false };
      this.#slots.push(entry.slot);
    }
    if (tag.selfClosing) this.#makeClaim(entry, tag, position);
  }

  #closeInnermost(tag: Tag, position: number): void {
    const opened = this.#open.close();
    if (opened === 'too_deep') return;
    if (opened === 'stray') {
      this.#context.events.addFinding('citation_stray_close', tag.span, this.#context.answer, null);
    } else this.#makeClaim(opened, tag, position);
  }

  #makeClaim({ tag, position, ids, slot }: OpenCitation, closer: Tag, closerPosition: number): void {
    if (slot === null) return;
    const { text, events, answer } = this.#context;
    const offset = tag.span.end;
    const content = closerPosition === position ? '' : text.slice(offset, closer.span.start);
    const findings = new CitationFindings(events, answer, slot.citation);
    const claim = claimBetween(content, this.#tags, position, closerPosition, ids, 0, findings, offset);
    slot.closed = { claim, evidence: inspectClaim(claim, slot.citation, this.#context) };
    this.#sendClaims();
  }

  /** Sends the closed claims up to the first citation that is still open. */
  #sendClaims(): void {
    let sent = 0;
    for (const slot of this.#slots) {
      if (slot.closed !== null) sendClaim(slot.closed, this.#claims++, slot.citation, this.#context);
      else if (!slot.unclosed) break;
      sent++;
    }
    if (sent > 0) this.#slots = this.#slots.slice(sent);
  }
}
