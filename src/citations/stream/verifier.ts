/**
 * Verifies a response while it is being written. Claims and findings arrive as soon as they are certain (events.ts
 * defines that). The events depend on the text only, not on where the chunks are split. Time is linear in the text.
 * Memory holds the text and what is open.
 *
 * When an event is certain depends on which answer is judged:
 * - `first`: claims and findings of the first answer arrive while it is open. They become invalid only if the answer,
 *   or the citation concerned, is never closed.
 * - `last`: another answer may always follow, so claims and findings arrive at the end.
 * - `whole`: all text belongs to answer 0. At a `</think>` the text so far becomes thinking, and the next answer
 *   begins.
 *
 * Some findings are certain only at the end: a missing or unclosed answer, text after the answer, claims that cover
 * the answer, findings about claims without a letter or digit, citations that are missing or forbidden, stray markup,
 * ids in prose, quotations, and text that addresses a judge. Duplicate claims and uncited statements are in the final
 * parse only.
 */

import { hasContent } from '../../text/characters.ts';
import { type Span, trimSpan } from '../../text/span.ts';
import { type AnswerChoice, BlockState, blockTagNames } from '../blocks.ts';
import { type CitationPolicy, policyFindings } from '../citation-policy.ts';
import { contradictingClaims } from '../contradictions.ts';
import { GRAMMARS, type Grammar, type GrammarName } from '../grammars.ts';
import { suspectedInjections } from '../injection.ts';
import { citesMany, coversAnswer, parseResponse } from '../parse.ts';
import { idsInProse } from '../prose-ids.ts';
import { quotationFindings } from '../quotations.ts';
import { strayMarkup } from '../stray-markup.ts';
import type { Tag } from '../tags.ts';
import type { Claim, ParsedResponse, SourceSet } from '../types.ts';
import { type AnswerReader, ClaimComparison } from './answer-reader.ts';
import { ElementReader } from './element-reader.ts';
import { CitationFindings, EventList, type StreamEvent } from './events.ts';
import { LinkReader } from './link-reader.ts';
import { MarkerReader, markersStart } from './marker-reader.ts';
import { type StreamedTag, StreamedText, TagScanner } from './streamed-text.ts';

/** Options of `createIncrementalVerifier`. */
export type IncrementalOptions = {
  /** The sources that the response may cite, from `parseSources` or `sourcesFromList`. */
  readonly sources: SourceSet;
  /** How citations are written; default `snippet`. */
  readonly grammar?: GrammarName;
  /** Which answer is judged; default `first` for element grammars, else `whole`. */
  readonly answer?: AnswerChoice;
  /** With `answer_only`, text outside the answer block is a finding; default `full`. */
  readonly mode?: 'answer_only' | 'full';
  /** With `required`, an answer that cites nothing is a finding; with `forbidden`, each citation; default `allowed`. */
  readonly citations?: CitationPolicy;
  /** With `lexical`, each claim is compared with its sources when it closes; default `none`. */
  readonly evidence?: 'none' | 'lexical';
  /** With lexical evidence, a claim that says nothing that the question does not is a finding. */
  readonly question?: string;
};

/** The end of an incremental verification. */
export type FinishedVerification = {
  /** The events since the last `push`. */
  readonly events: readonly StreamEvent[];
  /** The whole response. */
  readonly response: string;
  /** The result of `parseResponse` for the whole response. */
  readonly parsed: ParsedResponse;
};

/** Verifies one response, chunk by chunk. */
export type IncrementalVerifier = {
  /** Reads the next chunk, of any size, and returns the events that it makes certain. @throws Error after `finish`. */
  push(text: string): readonly StreamEvent[];
  /** Ends the response and returns the remaining events. @throws Error if called twice. */
  finish(): FinishedVerification;
};

/**
 * Creates a verifier for one response that arrives in chunks.
 *
 * @example
 * const sources = parseSources('<snippet id=S1>The bridge opened in 1937.</snippet>');
 * const verifier = createIncrementalVerifier({ sources, evidence: 'lexical' });
 * const stream = ['<answer><snippet id=S', '9>It opened in 1937.</snip', 'pet></answer>'];
 * const reasons = stream.flatMap((chunk) => verifier.push(chunk)).map(({ type }) => type);
 * const { events, parsed } = verifier.finish();
 * parsed.claims.length; // 1
 */
export function createIncrementalVerifier(options: IncrementalOptions): IncrementalVerifier {
  return new StreamVerifier(options);
}

/** The judged answer, which may be empty. */
type JudgedBlock = { readonly answer: number; readonly content: Span; readonly element: Span };

class StreamVerifier implements IncrementalVerifier {
  readonly #options: IncrementalOptions;
  readonly #grammar: Grammar;
  readonly #choice: AnswerChoice;
  readonly #names: readonly string[];
  readonly #comparison: ClaimComparison | null;
  readonly #text = new StreamedText();
  readonly #events = new EventList();
  readonly #scanner: TagScanner;
  readonly #blocks: BlockState;
  #reader: AnswerReader | null = null;
  /** Ordinal of the last answer that opened; -1 if there is none. */
  #answer = -1;
  /** Opening tag of the last answer. */
  #opening: Tag | null = null;
  /** With `whole`, the start of the judged text. */
  #wholeStart = 0;
  #judged: JudgedBlock | null = null;
  #finished = false;

  constructor(options: IncrementalOptions) {
    this.#options = options;
    this.#grammar = GRAMMARS[options.grammar ?? 'snippet'];
    this.#choice = options.answer ?? (this.#grammar.form === 'element' ? 'first' : 'whole');
    this.#names = blockTagNames(this.#grammar.form === 'element' ? this.#grammar.element : null);
    this.#comparison = options.evidence === 'lexical' ? new ClaimComparison(options.sources, options.question) : null;
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
    this.#reader?.advance(this.#scanner.settled, this.#scanner.settled < this.#text.end);
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
    this.#reportEnd(response, parsed);
    if (mode === 'answer_only') this.#reportOutside(parsed);
    return { events: this.#events.take(), response, parsed };
  }

  #takeTag(read: StreamedTag): void {
    const { tag } = read;
    const events = this.#events;
    this.#reader?.advance(tag.span.start, true);
    switch (this.#blocks.step(tag)) {
      case 'nothing':
        break;
      case 'thought_began':
        // If the thinking never ends, tags before it still count (`BlockState`), but markers and links do not.
        if (this.#grammar.form !== 'element') this.#reader = null;
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

  /** With `whole`, opens the answer at the start of the response. */
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

  /** Reports which answer is judged, unless it is known already. With `last`, reads its claims now. */
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
        if (this.#judged !== null) this.#replayAnswer(this.#judged);
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
      if (!thinking) this.#reader.advance(end, false);
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
    switch (this.#grammar.form) {
      case 'element':
        return new ElementReader(context, this.#grammar, start);
      case 'marker':
        return new MarkerReader(context, this.#grammar, start);
      case 'link':
        return new LinkReader(context, start);
    }
  }

  /** Reports the text before the first answer, which is outside it if that one is judged. */
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
  /** Feeds an answer that has passed to its reader. */
  #replayAnswer({ answer, content, element }: JudgedBlock): void {
    const reader = this.#newReader(answer, content.start);
    const blocks = new BlockState('first');
    const scanner = new TagScanner(this.#text, this.#names, element.start);
    const inside = this.#text.slice(element.start, element.end);
    for (let at = 0; at < inside.length; ) {
      at = scanner.step(inside, at);
      if (scanner.found === null) continue;
      const step = blocks.step(scanner.found.tag);
      if (step === 'cited' || step === 'answer_opened_again') reader.tag(scanner.found);
    }
    reader.advance(content.end, true);
    reader.close(content.end);
  }

  /** Reports the findings about the judged answer that only the end of the response decides. */
  #reportEnd(response: string, parsed: ParsedResponse): void {
    const events = this.#events;
    if (parsed.answer === null || this.#judged === null) {
      this.#reportNoAnswer(response);
      return;
    }
    const { answer } = this.#judged;
    for (const { reason, span } of strayMarkup(response, parsed.answer, this.#grammar, this.#options.sources)) {
      events.addFinding(reason, span, answer, null);
    }
    for (const claim of parsed.claims) {
      const citation = this.#citationStart(response, claim);
      if (!hasContent(claim.text, 0, claim.text.length)) {
        if (citesMany(claim, this.#options.sources)) events.addFinding('ids_shotgun', claim.element, answer, citation);
        this.#comparison?.compare(claim, new CitationFindings(events, answer, citation));
      }
      if (coversAnswer(response, claim, parsed.answer)) {
        events.addFinding('claim_covers_answer', claim.span, answer, citation);
      }
    }
    for (const finding of policyFindings(parsed, this.#options.citations ?? 'allowed')) {
      const citation = finding.reason === 'citation_forbidden' ? this.#citationStart(response, finding.claim) : null;
      events.addFinding(finding.reason, finding.span, answer, citation);
    }
    const { answer: content, claims, references } = parsed;
    for (const span of idsInProse(response, content, claims, this.#options.sources, references)) {
      events.addFinding('id_in_prose', span, answer, null);
    }
    if (this.#comparison === null) return;
    for (const span of suspectedInjections(response, parsed.answer.start, parsed.answer.end)) {
      events.addFinding('judge_injection_suspected', span, answer, null);
    }
    const { sources, question } = this.#options;
    for (const { reason, span, claim: index } of quotationFindings(response, parsed, sources, question)) {
      const claim = index === undefined ? undefined : claims[index];
      events.addFinding(reason, span, answer, claim === undefined ? null : this.#citationStart(response, claim));
    }
    for (const claim of contradictingClaims(claims)) {
      events.addFinding('claims_contradict', claim.span, answer, this.#citationStart(response, claim));
    }
  }

  /** Where the citation of a claim starts, as the events about it say. */
  #citationStart(response: string, claim: Claim): number {
    return this.#grammar.form === 'marker' ? markersStart(response, claim, this.#grammar) : claim.element.start;
  }

  #reportNoAnswer(response: string): void {
    const judged = this.#judged;
    if (judged !== null) {
      const span = trimSpan(response, judged.content.start, judged.content.end);
      if (span.end > span.start) this.#events.addFinding('markup_only', span, judged.answer, null);
    }
    this.#events.addFinding('no_answer', judged === null ? { start: 0, end: 0 } : judged.element, null, null);
  }
}
