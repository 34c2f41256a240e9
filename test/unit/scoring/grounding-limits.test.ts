import { expect, it } from 'vitest';
import { comparedChars } from '../../../src/citations/answer-limits.ts';
import { MAX_CLAIMS, MAX_COMPARED_CHARS } from '../../../src/limits.ts';
import { groundingProblem } from '../../../src/scoring/grounding.ts';

function problem(text: string, sources: readonly string[]): string | null {
  return groundingProblem({ text, question: '', sources, asksRelevance: false })?.message ?? null;
}

it('takes a text whose sentences times sources reach the limit, and refuses one more character', () => {
  const text = 'The dam is high.';
  const pairs = 1_000;
  const rest = MAX_COMPARED_CHARS / pairs - comparedChars(text, '');
  const source = 'x'.repeat(rest);
  const others = Array.from({ length: pairs - 1 }, () => source);
  expect(problem(text, [...others, source])).toBeNull();
  expect(problem(text, [...others, `${source}x`])).toBe(
    `comparing each sentence with each source takes ${MAX_COMPARED_CHARS + 1} characters; ` +
      `expected at most ${MAX_COMPARED_CHARS}: send fewer sentences or shorter sources`,
  );
});

it('takes as many sentences as an answer may have claims, and refuses one more', () => {
  const sentences = (count: number) => 'It is high. '.repeat(count);
  expect(problem(sentences(MAX_CLAIMS), ['a'])).toBeNull();
  expect(problem(sentences(MAX_CLAIMS + 1), ['a'])).toBe('expected at most 2000 sentences, got 2001');
});
