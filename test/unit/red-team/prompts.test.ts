import { expect, it } from 'vitest';
import { batchOf, MAX_SOURCES } from '../../../scripts/red-team/prompts.ts';
import type { Row } from '../../../scripts/red-team/rows.ts';
import { Vocabulary } from '../../../scripts/red-team/words.ts';

const ROW: Row = {
  question: 'How long is the Aare?',
  sources: ['The Reuss is wide.', 'The Aare is long.'],
  facts: [],
  positive: [],
  negative: [],
};
const QUESTION = Array.from({ length: 7 }, () => 0);

it('marks the source of each token, and of those that the question has too, if they are asked for', () => {
  const vocabulary = new Vocabulary(['S Q', ROW.question, ...ROW.sources]);
  const marks = (marksAsked: boolean) => batchOf([ROW], vocabulary, 20, marksAsked).sources;
  // S, The, name, is, adjective, full stop.
  expect(marks(false)).toEqual([[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, ...QUESTION]]);
  const [first, second] = [MAX_SOURCES + 1, MAX_SOURCES + 2];
  expect(marks(true)).toEqual([[1, 1, 1, first, 1, 1, 2, 2, second, second, second, 2, ...QUESTION]]);
});
