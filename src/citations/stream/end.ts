/** The findings that only the end of a response decides, from what the batch parser made of it. */

import { hasContent } from '../../text/characters.ts';
import { type Span, trimSpan } from '../../text/span.ts';
import { suspectedInjections } from '../injection.ts';
import { citesMany, coversAnswer } from '../parse.ts';
import type { Claim, ParsedResponse } from '../types.ts';
import { CitationFindings, type EventList } from './events.ts';
import type { Comparison } from './reader.ts';

/** The answer that is judged, with or without content. */
export type JudgedBlock = { readonly answer: number; readonly content: Span; readonly element: Span };

export type EndContext = {
  readonly response: string;
  readonly parsed: ParsedResponse;
  /** `null`: no answer was closed. */
  readonly judged: JudgedBlock | null;
  readonly comparison: Comparison | null;
  readonly events: EventList;
  /** Where the citation of a claim begins, as its events say. */
  citationOf(claim: Claim): number;
};

/** Reports why there is no answer, or what is wrong with the claims as a whole. */
export function reportEnd({ response, parsed, judged, comparison, events, citationOf }: EndContext): void {
  if (parsed.answer === null || judged === null) {
    reportNoAnswer(response, judged, events);
    return;
  }
  const { answer } = judged;
  for (const claim of parsed.claims) {
    const citation = citationOf(claim);
    if (!hasContent(claim.text, 0, claim.text.length)) {
      if (citesMany(claim)) events.addFinding('ids_shotgun', claim.element, answer, citation);
      comparison?.compare(claim, new CitationFindings(events, answer, citation));
    }
    if (coversAnswer(response, claim, parsed.answer)) {
      events.addFinding('claim_covers_answer', claim.span, answer, citation);
    }
  }
  if (comparison === null) return;
  for (const span of suspectedInjections(response, parsed.answer.start, parsed.answer.end)) {
    events.addFinding('judge_injection_suspected', span, answer, null);
  }
}

function reportNoAnswer(response: string, judged: JudgedBlock | null, events: EventList): void {
  if (judged !== null) {
    const span = trimSpan(response, judged.content.start, judged.content.end);
    if (span.end > span.start) events.addFinding('markup_only', span, judged.answer, null);
  }
  events.addFinding('no_answer', judged === null ? { start: 0, end: 0 } : judged.element, null, null);
}
