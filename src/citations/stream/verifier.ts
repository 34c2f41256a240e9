/**
 * Verification of a response while it is being written: claims and findings come as soon as they are certain
 * (incremental-events.ts says what that means). Chunks may be cut anywhere, and the events do not depend on where. Time is
 * linear in the text whatever the chunks; beyond the text, memory holds what is open.
 *
 * What is certain when depends on the choice of the answer:
 * - `first`: claims and findings of the first answer come while it is open. Only what is never closed
 *   unmakes them: the answer, or the citation concerned.
 * - `last`: any answer may be followed by another, so the judged one's claims and findings come in the end.
 * - `whole`: everything belongs to answer 0 until a `</think>`; then that was thinking, and the next ordinal begins.
 *
 * Certain in the end only: a missing or unclosed answer, text behind the answer, claims that cover the answer, findings
 * about claims without a letter or digit, and text that addresses a judge. Duplicates and statements are in the parse.
 */

import { trimSpan } from '../../text/span.ts';
import { type AnswerChoice, BlockState, blockTagNames } from '../blocks.ts';
import { GRAMMARS, type Grammar, type GrammarName } from '../grammars.ts';
import { parseResponse } from '../parse.ts';
import type { Tag } from '../tags.ts';
import type { ParsedResponse, SourceSet } from '../types.ts';
import { readAgain } from './again.ts';
import { ElementReader } from './claims.ts';
import { type JudgedBlock, reportEnd } from './end.ts';
import { EventList, type StreamEvent } from './events.ts';
import { MarkerReader, markersOf } from './markers.ts';
import { type AnswerReader, Comparison } from './reader.ts';
import { type StreamedTag, TagScanner } from './tags.ts';
import { StreamedText } from './text.ts';

export type IncrementalOptions = {
  readonly sources: SourceSet;
  /** Default `snippet`. */
  readonly grammar?: GrammarName;
  /** Which text is judged; default `first` for element grammars, `whole` for marker grammars. */
  readonly answer?: AnswerChoice;
  /** Default `full`. In `answer_only`, text outside the answer block is a finding. */
  readonly mode?: 'answer_only' | 'full';
  /** Default `none`. `lexical` compares each claim with its sources when it closes. */
  readonly evidence?: 'none' | 'lexical';
};

export type FinishedVerification = {
  readonly events: readonly StreamEvent[];
  /** The whole text. */
  readonly response: string;
  /** What `parseResponse` makes of it. */
  readonly parsed: ParsedResponse;
};

export type IncrementalVerifier = {
  /** Takes the next piece of the response, of any size. @throws Error after `finish`. */
  push(text: string): readonly StreamEvent[];
  /** Ends the response. @throws Error if called again. */
  finish(): FinishedVerification;
};

export function createIncrementalVerifier(options: IncrementalOptions): IncrementalVerifier {
  return new StreamVerifier(options);
}

class StreamVerifier implements IncrementalVerifier {
  readonly #options: IncrementalOptions;
  readonly #grammar: Grammar;
  readonly #choice: AnswerChoice;
  readonly #names: readonly string[];
  readonly #comparison: Comparison | null;
  readonly #text = new StreamedText();
  readonly #events = new EventList();
  readonly #scanner: TagScanner;
  readonly #blocks: BlockState;
  #reader: AnswerReader | null = null;
  /** Ordinal of the answer opened last, -1 = none yet. */
  #answer = -1;
  /** Opening tag of the answer opened last. */
  #opening: Tag | null = null;
  /** `whole`: where the judged text begins. */
  #wholeStart = 0;
  #judged: JudgedBlock | null = null;
  #finished = false;

  constructor(options: IncrementalOptions) {
    this.#options = options;
    this.#grammar = GRAMMARS[options.grammar ?? 'snippet'];
    this.#choice = options.answer ?? (this.#grammar.form === 'element' ? 'first' : 'whole');
    this.#names = blockTagNames(this.#grammar.form === 'element' ? this.#grammar.element : null);
    this.#comparison = options.evidence === 'lexical' ? new Comparison(options.sources) : null;
    this.#scanner = new TagScanner(this.#text, this.#names);
    this.#blocks = new BlockState(this.#choice);
  }

  push(text: string): readonly StreamEvent[] {
    if (this.#finished) throw new Error('push: the verification is finished');
    if (text === '') return [];
    this.#text.append(text);
    this.#beginWhole();
    for (let at = 0; at < text.length; ) {
      at = this.#scanner.step(text, at);
      if (this.#scanner.found !== null) this.#takeTag(this.#scanner.found);
    }
    this.#reader?.reach(this.#scanner.settled, this.#scanner.settled < this.#text.end);
    return this.#events.take();
  }

  finish(): FinishedVerification {
    if (this.#finished) throw new Error('finish: the verification is finished');
    this.#finished = true;
    this.#beginWhole();
    const last = this.#scanner.finish();
    if (last !== null) this.#takeTag(last);
    const response = this.#text.whole();
    const { sources, grammar, mode } = this.#options;
    const parsed = parseResponse(response, sources, {
      ...(grammar === undefined ? {} : { grammar }),
      answer: this.#choice,
    });
    this.#endBlocks();
    reportEnd({
      response,
      parsed,
      judged: this.#judged,
      comparison: this.#comparison,
      events: this.#events,
      citationOf: (claim) => (this.#grammar.form === 'element' ? claim.element.start : markersOf(response, claim)),
    });
    if (mode === 'answer_only') this.#reportOutside(parsed);
    return { events: this.#events.take(), response, parsed };
  }

  #takeTag(read: StreamedTag): void {
    const { tag } = read;
    const events = this.#events;
    this.#reader?.reach(tag.span.start, true);
    switch (this.#blocks.step(tag)) {
      case 'nothing':
        break;
      case 'thought_began':
        // Unless the thinking ends, which begins the text anew, blocks.ts lets the tags stand that came before it.
        if (this.#grammar.form === 'marker') this.#reader = null;
        break;
      case 'thought_ended':
        this.#wholeStart = tag.span.end;
        this.#openAnswer(tag.span.end, true);
        break;
      case 'cited':
        this.#reader?.tag(read);
        break;
      case 'cited_outside':
        events.addFinding('citation_outside_answer', tag.span, null, tag.span.start);
        break;
      case 'answer_opened':
        this.#opening = tag;
        this.#openAnswer(tag.span.end, this.#choice === 'first' && this.#judged === null);
        if (this.#options.mode === 'answer_only') this.#reportBefore(tag.span.start);
        break;
      case 'answer_opened_again':
        events.addFinding('several_answers', tag.span, null, null);
        this.#reader?.tag(read);
        break;
      case 'answer_closed':
        this.#closeAnswer(tag);
        break;
    }
  }

  /** `whole`: the judged text begins where the response does. */
  #beginWhole(): void {
    if (this.#choice === 'whole' && this.#answer === -1) this.#openAnswer(0, true);
  }

  #openAnswer(start: number, isRead: boolean): void {
    this.#answer++;
    this.#events.add({ type: 'answer', state: 'opened', answer: this.#answer, start });
    this.#reader = isRead ? this.#newReader(this.#answer, start) : null;
  }

  #closeAnswer(tag: Tag): void {
    if (this.#opening === null) return;
    const events = this.#events;
    const answer = this.#answer;
    const content = { start: this.#opening.span.end, end: tag.span.start };
    const element = { start: this.#opening.span.start, end: tag.span.end };
    this.#reader?.close(content.end);
    this.#reader = null;
    events.add({ type: 'answer', state: 'closed', answer, content });
    if (this.#blocks.closedAnswers > 1) events.addFinding('several_answers', element, null, null);
    if (this.#choice === 'first' && this.#judged !== null) return;
    this.#judged = { answer, content, element };
    if (this.#choice === 'first') events.add({ type: 'answer', state: 'judged', answer });
  }

  /** Says which answer is judged, if that is open still, and reads it, if nobody has. */
  #endBlocks(): void {
    const events = this.#events;
    const open = this.#blocks.answer;
    if (open !== null) events.addFinding('answer_unclosed', open.span, null, null);
    switch (this.#choice) {
      case 'first':
        if (this.#judged === null) events.add({ type: 'answer', state: 'judged', answer: null });
        return;
      case 'last':
        events.add({ type: 'answer', state: 'judged', answer: this.#judged?.answer ?? null });
        if (this.#judged !== null) {
          readAgain(
            this.#text,
            this.#names,
            this.#judged,
            this.#newReader(this.#judged.answer, this.#judged.content.start),
          );
        }
        return;
      case 'whole':
        this.#endWhole(this.#text.end);
        return;
    }
  }

  #endWhole(end: number): void {
    const thinking = this.#blocks.thinking;
    const answer = this.#answer;
    const content = { start: this.#wholeStart, end: thinking ? this.#wholeStart : end };
    this.#judged = { answer, content, element: content };
    if (this.#reader !== null) {
      if (!thinking) this.#reader.reach(end, false);
      this.#reader.close(content.end);
      this.#events.add({ type: 'answer', state: 'closed', answer, content });
    }
    this.#events.add({ type: 'answer', state: 'judged', answer: this.#reader === null ? null : answer });
  }

  #newReader(answer: number, start: number): AnswerReader {
    const context = {
      text: this.#text,
      events: this.#events,
      sources: this.#options.sources,
      comparison: this.#comparison,
      answer,
    };
    return this.#grammar.form === 'element'
      ? new ElementReader(context, this.#grammar)
      : new MarkerReader(context, this.#grammar, start);
  }

  /** Text before the first answer is outside it, if that one is judged. */
  #reportBefore(end: number): void {
    if (this.#choice !== 'first' || this.#answer !== 0) return;
    const text = this.#text.slice(0, end);
    const span = trimSpan(text, 0, text.length);
    if (span.end > span.start) this.#events.addFinding('text_outside_answer', span, this.#answer, null);
  }

  #reportOutside({ outside }: ParsedResponse): void {
    for (const span of outside) {
      const reported = this.#choice === 'first' && this.#judged !== null && span.end <= this.#judged.element.start;
      if (!reported) this.#events.addFinding('text_outside_answer', span, null, null);
    }
  }
}
