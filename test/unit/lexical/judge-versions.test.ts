/** A run that an earlier version of the lexical judge judged is still one of the lexical judge. */
import { expect, it } from 'vitest';
import { isLexicalJudge, LEXICAL_JUDGE_MODEL } from '../../../src/lexical/index.ts';

it.each([
  [LEXICAL_JUDGE_MODEL, true],
  ['citeward-lexical-4', true],
  ['Qwen/Qwen3-32B', false],
  [null, false],
])('%s: %s', (model, isLexical) => {
  expect(isLexicalJudge(model)).toBe(isLexical);
});
