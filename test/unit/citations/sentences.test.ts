/** Splitting a text in steps gives the same sentences as splitting it at once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  SENTENCE_LOOKBACK,
  type SentenceState,
  settleSentence,
  splitFurther,
  splitSentences,
} from '../../../src/text/sentences.ts';
import type { Span } from '../../../src/text/span.ts';

const text = fc
  .array(
    fc.constantFrom(
      ...['It opened in 1937.', 'Dr.', 'approx.', 'U.S.', 'J.', '12.', '3)', '-', '#', '…', '。', '!”', '(', '[12]'],
      ...['the', 'The', 'Mai', ' ', ' ', ' ', '\n', '\n', '\r\n', '\u2028', '\u3000'],
    ),
    { maxLength: 24 },
  )
  .map((pieces) => pieces.join(''));

it('continues from any white space, with only SENTENCE_LOOKBACK units of the text before it', () => {
  fc.assert(
    fc.property(text, fc.nat(), (text, choice) => {
      const spaces = [...text.matchAll(/[ \u3000]/gu)].map(({ index }) => index + 1);
      const end = spaces[choice % Math.max(1, spaces.length)] ?? 0;
      const begin = text.length - text.trimStart().length;
      const state: SentenceState = { from: 0, at: begin, lineStart: begin, blockLine: null };
      const spans: Span[] = [];
      splitFurther(text, Math.max(end, begin), false, state, spans);
      settleSentence(text, state);

      const dropped = Math.max(0, state.at - SENTENCE_LOOKBACK);
      const kept = text.slice(dropped);
      const rest = {
        ...state,
        from: state.from - dropped,
        at: state.at - dropped,
        lineStart: state.lineStart - dropped,
      };
      const further: Span[] = [];
      splitFurther(kept, kept.length, true, rest, further);
      for (const span of further) spans.push({ start: span.start + dropped, end: span.end + dropped });
      const last = text.slice(rest.from + dropped).trim();
      if (last !== '') {
        const from = rest.from + dropped;
        const start = from + text.slice(from).indexOf(last);
        spans.push({ start, end: start + last.length });
      }
      expect(spans).toEqual(splitSentences(text));
    }),
    { numRuns: 5_000 },
  );
});
