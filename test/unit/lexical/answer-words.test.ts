/** The words that an answer shares with its sources and its question. */
import { describe, expect, it } from 'vitest';
import { type AnswerText, createWordCounter } from '../../../src/lexical/index.ts';

const SOURCES = [
  { text: 'The Aare is 288 km long. It rises in the Bernese Alps and joins the Rhine near the town of Koblenz.' },
  { text: 'Bern lies on a loop of the river.' },
];
const QUESTION = 'How long is the Aare?';

const counted = (answer: string, changes: Partial<AnswerText> = {}) =>
  createWordCounter()({
    answer,
    question: QUESTION,
    sources: SOURCES,
    claims: [[0]],
    claimTexts: [],
    repeated: 0,
    ...changes,
  });

describe('the words of an answer', () => {
  it('counts words without citations of any grammar that judges read', () => {
    expect(counted('<snippet id=S1>It is 288 km long</snippet>, <cite id="S2">they say</cite>.')).toMatchObject({
      words: 7,
      normalised: 'it is 288 km long they say',
    });
    expect(counted('a < b and <b>c</b>').normalised).toBe('a b and b c b');
    expect(counted('<snippet id=S1').normalised).toBe('snippet id s1');
  });

  it('counts words in spans of eight or more that one source contains', () => {
    expect(counted('It rises in the Bernese Alps and joins').copied).toBe(8);
    expect(counted('It rises in the Bernese Alps and').copied).toBe(0);
    expect(counted('it rises IN the Bernese Alps, and joins the Rhine, I think.')).toMatchObject({
      words: 12,
      copied: 10,
    });
    // No span goes from one source to the next.
    expect(counted('near the town of Koblenz. Bern lies on a loop').copied).toBe(0);
  });

  it('counts content words of the question in the answer, and in the best sentence', () => {
    expect(counted('It rises in the Bernese Alps.')).toMatchObject({ shared: 0, best: 2 });
    expect(counted('The Aare, the Aare is long.')).toMatchObject({ shared: 2, best: 2 });
    expect(counted('Yes.', { sources: [] })).toMatchObject({ shared: 0, best: 0, copied: 0 });
  });

  it('reads shared sources once, and keeps the question of each answer', () => {
    const count = createWordCounter();
    const text = {
      answer: 'Bern.',
      sources: SOURCES,
      claims: [
        [0, null],
        [1, 0],
      ],
      claimTexts: [],
      repeated: 0,
    };
    expect(count({ ...text, question: QUESTION })).toMatchObject({ best: 2, sources: 2, cited: 2 });
    expect(count({ ...text, question: 'Where is Bern?' })).toMatchObject({ shared: 1, best: 1 });
  });

  it('takes linear time for texts that repeat themselves, and for tags that do not end', () => {
    const started = performance.now();
    const same = 'aare '.repeat(50_000);
    expect(counted(same, { sources: [{ text: same }] }).copied).toBe(50_000);
    counted('<snippet '.repeat(50_000));
    counted(`${'<snippet '.repeat(50_000)}>`);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
