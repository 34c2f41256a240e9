/**
 * Finding the judged text: the answer blocks of a response, and the citation tags in each. One pass over the tags.
 *
 * Policies, each where formats are ambiguous:
 * - `<think>` runs to its `</think>`, or to the end if it is never closed. A `</think>` before any answer closes a
 *   thinking part whose opening tag the chat template put into the prompt. Nothing inside is an answer or a citation.
 * - An answer runs from `<answer>` to the next `</answer>`; an `<answer>` inside it is text and one `several_answers`.
 * - The first closed answer outside thinking is judged (`first`), or the last one (`last`). `whole` judges everything
 *   after the last thinking part, for answers that have no block (marker grammars, production text).
 * - Further closed answers are one `several_answers` finding each, an answer without its end `answer_unclosed`.
 * - A citation outside every answer and thinking part is `citation_outside_answer` and no claim.
 */
import { FindingList } from './findings.ts';
import { readTag, type Tag } from './tags.ts';
import type { Span } from './types.ts';

export type AnswerChoice = 'first' | 'last' | 'whole';

/** One answer block with the citation tags inside it, in order. */
export type AnswerBlock = { readonly content: Span; readonly element: Span; readonly tags: readonly Tag[] };

export type Blocks = {
  /** The judged block; `null` if no answer was closed. */
  readonly judged: AnswerBlock | null;
  readonly closedAnswers: number;
  readonly findings: FindingList;
};

/** Positions in the names asked for: think, answer, then the citation element. */
const THINK = 0;
/** Position of the citation element in the names asked for. */
export const CITATION = 2;

/** Reads the blocks of a response. `element` is the citation element of an element grammar, or `null`. */
export function readBlocks(response: string, element: string | null, choice: AnswerChoice): Blocks {
  const names = element === null ? ['think', 'answer'] : ['think', 'answer', element];
  const findings = new FindingList();
  const end = response.length;
  const whole = choice === 'whole';
  let judged: AnswerBlock | null = null;
  let closedAnswers = 0;
  let thinking = false;
  let sawAnswer = false;
  let answerOpen: Tag | null = null;
  let wholeStart = 0;
  let tags: Tag[] = [];

  for (let at = response.indexOf('<'); at !== -1; ) {
    const tag = readTag(response, at, end, names);
    if (tag === null) {
      at = response.indexOf('<', at + 1);
      continue;
    }
    at = response.indexOf('<', tag.span.end);
    if (tag.name === THINK) {
      if (answerOpen !== null) continue;
      if (!tag.closing) thinking = true;
      else if (thinking || !sawAnswer) {
        thinking = false;
        if (whole) {
          tags = [];
          wholeStart = tag.span.end;
        }
      }
      continue;
    }
    if (thinking) continue;
    if (tag.name === CITATION) {
      if (answerOpen !== null || whole) tags.push(tag);
      else findings.add({ reason: 'citation_outside_answer', in: 'response', span: tag.span });
      continue;
    }
    if (whole) continue;
    if (tag.closing) {
      if (answerOpen === null) continue;
      closedAnswers++;
      if (closedAnswers > 1) {
        findings.add({
          reason: 'several_answers',
          in: 'response',
          span: { start: answerOpen.span.start, end: tag.span.end },
        });
      }
      if (judged === null || choice === 'last') {
        judged = {
          content: { start: answerOpen.span.end, end: tag.span.start },
          element: { start: answerOpen.span.start, end: tag.span.end },
          tags,
        };
      }
      answerOpen = null;
    } else if (answerOpen === null) {
      answerOpen = tag;
      sawAnswer = true;
      tags = [];
    } else {
      findings.add({ reason: 'several_answers', in: 'response', span: tag.span });
      tags.push(tag);
    }
  }
  if (answerOpen !== null) findings.add({ reason: 'answer_unclosed', in: 'response', span: answerOpen.span });
  if (whole) {
    const content = { start: wholeStart, end: thinking ? wholeStart : end };
    return { judged: { content, element: content, tags }, closedAnswers: 1, findings };
  }
  return { judged, closedAnswers, findings };
}
