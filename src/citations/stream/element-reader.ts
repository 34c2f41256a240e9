/**
 * Reads the claims of an element grammar as they close. It reads the ids of a citation when the opening tag ends. A
 * claim inside another citation waits until that citation has closed or the answer has ended, because only then its
 * index is certain.
 */
import { CITATION } from '../blocks.ts';
import { claimBetween, OpenCitations, readCitedIds } from '../element-claims.ts';
import type { ElementGrammar } from '../grammars.ts';
import type { Tag } from '../tags.ts';
import type { CitedId } from '../types.ts';
import { type AnswerReader, type ClosedClaim, inspectClaim, type ReaderContext, sendClaim } from './answer-reader.ts';
import { CitationFindings } from './events.ts';
import type { StreamedTag } from './streamed-text.ts';

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

  constructor(context: ReaderContext, grammar: ElementGrammar) {
    this.#context = context;
    this.#attributes = grammar.attributes;
  }

  tag(read: StreamedTag): void {
    const position = this.#tags.push(read.tag) - 1;
    if (read.tag.name === CITATION) {
      if (read.tag.closing) this.#closeInnermost(read.tag, position);
      else this.#openCitation(read, position);
    }
    if (this.#open.list.length === 0) this.#tags = [];
  }

  advance(): void {
    // Only tags matter here. The text between them is read when the citation around it closes.
  }

  close(): void {
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
