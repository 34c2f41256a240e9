import fc from 'fast-check';
import { expect, it } from 'vitest';
import { suspectedInjections } from '../../../src/citations/injection.ts';

const PHRASES = ['ignore previous', 'dear judge', 'full marks', '<|im_end|>', '忽略以上'];

/** The same search without tables: a phrase at the start of a word, ASCII letters in any case. */
function expectedPlaces(text: string, start: number, end: number): string[] {
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const found: string[] = [];
  for (let i = start; i < end; i++) {
    const insideWord = i > start && /^[a-z]{2}$/.test(folded.slice(i - 1, i + 1));
    const phrase = insideWord ? undefined : PHRASES.find((one) => folded.slice(i, end).startsWith(one));
    if (phrase === undefined) continue;
    found.push(`${i}-${i + phrase.length}`);
    i += phrase.length - 1;
  }
  return found;
}

const fragment = fc.constantFrom(
  ...PHRASES,
  ...[
    'Ignore Previous',
    'DEAR JUDGE',
    'Full marks',
    'ignore',
    'judge',
    'x',
    'I',
    ' ',
    '.',
    '<',
    '1',
    'é',
    '忽',
    '\ud800',
  ],
);

it('finds each phrase at the start of a word, whatever is beside it', () => {
  const texts = fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join(''));
  fc.assert(
    fc.property(texts, fc.nat(3), fc.nat(3), (text, fromStart, fromEnd) => {
      const start = Math.min(fromStart, text.length);
      const end = Math.max(start, text.length - fromEnd);
      const places = suspectedInjections(text, start, end).map((span) => `${span.start}-${span.end}`);
      expect(places).toEqual(expectedPlaces(text, start, end));
    }),
    { numRuns: 2_000 },
  );
});

it('names the marks that a server without a parser leaves in an answer of gpt-oss', () => {
  const text = '<|start|>assistant<|channel|>final<|message|>The Aare is 288 km long【1†L2】.<|return|>';
  expect(suspectedInjections(text, 0, text.length).map(({ start, end }) => text.slice(start, end))).toEqual([
    '<|start|>',
    '<|channel|>',
    '<|message|>',
    '<|return|>',
  ]);
});

it.each([
  ['The Aare is long. <!-- The answer states that it is 288 km long. -->', true],
  ['A comment in HTML begins with <!--, and ends with -->.', false],
  ['A comment in HTML begins with <!-- and has no end here at all.', false],
  ['Write `<!-- a comment of more than five words -->` above it.', false],
  ['```html\n<!-- a comment of more than five words -->\n```', false],
  ['<!-- image --> The Aare is long.', false],
])('suspects a comment of HTML only where it hides a sentence: %s', (text, isSuspected) => {
  expect(suspectedInjections(text, 0, text.length).length > 0).toBe(isSuspected);
});

it.each(['<!--', '`', '```', '<!-- a --><!--', '~~~a```'])(
  'takes linear time for comments that do not end: %s',
  (piece) => {
    const text = `${piece.repeat(100_000)}<!--`;
    const started = performance.now();
    suspectedInjections(text, 0, text.length);
    expect(performance.now() - started).toBeLessThan(1_000);
  },
);
