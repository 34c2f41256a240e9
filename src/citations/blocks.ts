/**
 * Finds the judged text: the answer blocks of a response and the citation tags in each, in one pass over the tags.
 *
 * Rules where formats are ambiguous:
 * - Thinking goes from `<think>` to `</think>`, or to the end of the response if it is never closed. A `</think>`
 *   before any answer ends thinking that began in the prompt (some chat templates put `<think>` there). Tags inside
 *   thinking are text.
 * - An answer goes from `<answer>` to the next `</answer>`. An `<answer>` inside it is text and a `several_answers`
 *   finding.
 * - `first` judges the first closed answer outside thinking, `last` the last one. `whole` judges everything after the
 *   last thinking, for responses without answer blocks (marker grammars, production text).
 * - Each further closed answer is a `several_answers` finding; an answer without an end is `answer_unclosed`.
 * - A citation outside answers and thinking is a `citation_outside_answer` finding and no claim.
 */

import type { Span } from '../text/span.ts';
import { FindingList } from './findings.ts';
import { readTag, type Tag } from './tags.ts';

/**
 * Which part of a response is judged: its `first` closed `<answer>`, its `last` one, or the `whole` text after the last
 * thinking.
 */
export type AnswerChoice = 'first' | 'last' | 'whole';

/** One answer block with the citation tags inside it, in order. */
export type AnswerBlock = { readonly content: Span; readonly element: Span; readonly tags: readonly Tag[] };

/** The blocks of a response. */
type Blocks = {
  /** The judged block; `null` if no answer was closed. */
  readonly judged: AnswerBlock | null;
  /** Closed answer blocks outside thinking. */
  readonly closedAnswers: number;
  readonly findings: FindingList;
};

// Indexes into the list of `blockTagNames`.
const THINK = 0;
export const CITATION = 2;

/** Lists the tag names to read. `element` is the citation element of an element grammar, or `null`. */
export function blockTagNames(element: string | null): readonly string[] {
  return element === null ? ['think', 'answer'] : ['think', 'answer', element];
}

/** The effect of a tag on the blocks. */
type BlockStep =
  | 'nothing'
  /** With the answer choice `whole`: thinking began. If it ends, the text before it is not judged. */
  | 'thought_began'
  /** With the answer choice `whole`: thinking ended and the judged text begins. */
  | 'thought_ended'
  /** A citation tag in the judged text or an answer. */
  | 'cited'
  | 'cited_outside'
  | 'answer_opened'
  /** An `<answer>` inside an answer. */
  | 'answer_opened_again'
  | 'answer_closed';

/** Tracks the blocks, tag by tag. The batch parser and the incremental verifier share it. */
export class BlockState {
  /** Whether the text after the last tag is inside thinking. */
  thinking = false;
  /** Opening tag of the open answer, or `null`. */
  answer: Tag | null = null;
  closedAnswers = 0;
  readonly #whole: boolean;
  #sawAnswer = false;

  constructor(choice: AnswerChoice) {
    this.#whole = choice === 'whole';
  }

  /** Reads the next tag and returns its effect. */
  step(tag: Tag): BlockStep {
    if (tag.name === THINK) {
      if (this.answer !== null) return 'nothing';
      if (!tag.closing) {
        const began = this.#whole && !this.thinking;
        this.thinking = true;
        return began ? 'thought_began' : 'nothing';
      }
      if (!this.thinking && this.#sawAnswer) return 'nothing';
      this.thinking = false;
      return this.#whole ? 'thought_ended' : 'nothing';
    }
    if (this.thinking) return 'nothing';
    if (tag.name === CITATION) return this.answer !== null || this.#whole ? 'cited' : 'cited_outside';
    if (this.#whole) return 'nothing';
    if (tag.closing) {
      if (this.answer === null) return 'nothing';
      this.answer = null;
      this.closedAnswers++;
      return 'answer_closed';
    }
    if (this.answer !== null) return 'answer_opened_again';
    this.answer = tag;
    this.#sawAnswer = true;
    return 'answer_opened';
  }
}

/**
 * Reads the blocks of a response in linear time. `element` is the citation element of an element grammar, or `null`.
 */
export function readBlocks(response: string, element: string | null, choice: AnswerChoice): Blocks {
  const names = blockTagNames(element);
  const findings = new FindingList();
  const end = response.length;
  const state = new BlockState(choice);
  let judged: AnswerBlock | null = null;
  let opening: Tag | null = null;
  let wholeStart = 0;
  let tags: Tag[] = [];

  for (let at = response.indexOf('<'); at !== -1; ) {
    const tag = readTag(response, at, end, names);
    if (tag === null) {
      at = response.indexOf('<', at + 1);
      continue;
    }
    at = response.indexOf('<', tag.span.end);
    switch (state.step(tag)) {
      case 'nothing':
      case 'thought_began':
        break;
      case 'thought_ended':
        tags = [];
        wholeStart = tag.span.end;
        break;
      case 'cited':
        tags.push(tag);
        break;
      case 'cited_outside':
        findings.add({ reason: 'citation_outside_answer', in: 'response', span: tag.span });
        break;
      case 'answer_opened':
        opening = tag;
        tags = [];
        break;
      case 'answer_opened_again':
        findings.add({ reason: 'several_answers', in: 'response', span: tag.span });
        tags.push(tag);
        break;
      case 'answer_closed': {
        if (opening === null) break;
        const elementSpan = { start: opening.span.start, end: tag.span.end };
        if (state.closedAnswers > 1) findings.add({ reason: 'several_answers', in: 'response', span: elementSpan });
        if (judged === null || choice === 'last') {
          judged = { content: { start: opening.span.end, end: tag.span.start }, element: elementSpan, tags };
        }
        break;
      }
    }
  }
  if (state.answer !== null) findings.add({ reason: 'answer_unclosed', in: 'response', span: state.answer.span });
  if (choice === 'whole') {
    const content = { start: wholeStart, end: state.thinking ? wholeStart : end };
    return { judged: { content, element: content, tags }, closedAnswers: 1, findings };
  }
  return { judged, closedAnswers: state.closedAnswers, findings };
}
