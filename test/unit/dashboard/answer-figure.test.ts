/** The picture of a marked answer: lines, marks, notes, and no text that could be markup. */
import { expect, test } from 'vitest';
import { answerFigure } from '../../../dashboard/src/figure/answer-figure.ts';
import { layOut } from '../../../dashboard/src/figure/line-layout.ts';
import { claimStatuses } from '../../../dashboard/src/playground/claim-status.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import { describeResponse } from '../../../src/citations/verify.ts';

const TEN_EACH = (text: string): number => text.length * 10;

function wrapped(texts: readonly (string | { readonly attached: string })[], width: number): string[] {
  const runs = texts.map((text, style) =>
    typeof text === 'string' ? { text, style } : { text: text.attached, style, isAttached: true },
  );
  return layOut(runs, width, TEN_EACH).map((line) => line.runs.map(({ text }) => text).join(''));
}

test('lines break at spaces, in words that are too long, and between ideographs', () => {
  expect(wrapped(['one two three'], 80)).toEqual(['one two', 'three']);
  expect(wrapped(['\n\na\n\n  b\n\n'], 80)).toEqual(['a', '', '  b']);
  expect(wrapped(['abcdefghij k'], 40)).toEqual(['abcd', 'efgh', 'ij k']);
  expect(wrapped(['東京都の人口。'], 40)).toEqual(['東京都の', '人口。']);
  // What continues a word in another style stays with it, as a superscript does.
  expect(wrapped(['one tw', 'o', '. x'], 60)).toEqual(['one', 'two. x']);
  expect(wrapped(['one two', { attached: '12' }, ' x'], 80)).toEqual(['one', 'two12 x']);
});

function figureOf(response: string, question = ''): string {
  const sources = sourcesFromList([{ id: 'S1', text: 'The lake is 1,642 metres deep and very old.' }]);
  const verification = describeResponse(response, parseResponse(response, sources), sources, {
    mode: 'full',
    evidence: 'lexical',
  });
  const states = claimStatuses(verification.claims, null);
  const answer = { title: 'A & B', question, response, verification, states, judges: [] };
  return answerFigure(answer, (name) => `#${name}`, TEN_EACH);
}

test('each claim has its mark, its number and ids, and a note if something is found', () => {
  const svg = figureOf(
    '<answer><snippet id=S1>The lake is 1,462 metres deep.</snippet> It freezes in winter for five months. ' +
      '<snippet id=S9>It is in Asia.</snippet></answer>',
    'How deep?',
  );
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text?.trim());
  expect(texts).toContain('How deep?');
  expect(texts).toContain('[S9]');
  expect(texts).not.toContain(expect.stringContaining('snippet'));
  const notes = texts.join(' ');
  expect(notes).toContain('Number in no cited source: “1,462”');
  expect(notes).toContain('Cites only sources that do not exist. Invented source.');
  expect(notes).toContain('Uncited statement 1');
  for (const tone of ['none-wash', 'invented-wash']) expect(svg).toContain(`fill="#${tone}"`);
});

test('an answer in Arabic or Hebrew begins at the right edge, and its marks are under its words', () => {
  const svg = figureOf('<answer>ab <snippet id=S1>עומק האגם 1,642 מטר.</snippet></answer>', 'מה עומק האגם?');
  const [question, first] = [...svg.matchAll(/<text x="([\d.]+)"( direction="rtl")?/g)].map(([, x, rtl]) => [x, rtl]);
  expect(question).toEqual(['696', ' direction="rtl"']);
  expect(first).toEqual(['24', undefined]);
  const hebrew = figureOf('<answer>\n<snippet id=S1>עומק האגם 1,462 מטר.</snippet></answer>');
  const claim = /<text x="([\d.]+)" direction="rtl" y="[\d.]+" textLength="(\d+)"/.exec(hebrew);
  const wash = /<rect x="([\d.]+)" y="[\d.]+" width="(\d+)" height="21" rx="2" fill="#/.exec(hebrew);
  expect(claim?.[1]).toBe('696');
  expect(Number(wash?.[1]) + Number(wash?.[2])).toBe(696);
});

test('no text of an answer is markup, or a character that XML forbids', () => {
  const svg = figureOf(
    '<answer><snippet id=S1>Deep </text><script>alert(1)</script> & "old"\u0000\u001b\ud800\ufffe</snippet></answer>',
  );
  expect(svg).toContain('&lt;script&gt;');
  expect(svg).not.toContain('<script');
  expect(svg).toContain('<title>A &amp; B</title>');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not occur.
  expect(svg).not.toMatch(/[\u0000-\u0008\u001b\ufffe]|&(?!amp;|lt;|gt;|quot;)/u);
  expect(svg.isWellFormed()).toBe(true);
});

test('each line of an answer has the direction of its own first letter, and so do the lines that go on with it', () => {
  const svg = figureOf(`<answer>עומק האגם\nIn English now.\n${'מטר '.repeat(30)}</answer>`);
  const directions = [...svg.matchAll(/<text x="[\d.]+"( direction="rtl")?[^>]*>(.)/g)].map(
    ([, rtl]) => rtl !== undefined,
  );
  expect(directions.slice(0, 4)).toEqual([true, false, true, true]);
});
