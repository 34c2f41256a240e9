/**
 * Time is linear on hostile input: eight times the input takes about eight times as long. The bound is 32 times, half of
 * what a quadratic step would take. The test compares the fastest of several runs, to tolerate a busy machine.
 */
import { describe, expect, it } from 'vitest';
import { suspectedInjections } from '../../../src/citations/injection.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { parseSources } from '../../../src/citations/sources.ts';
import { splitSentences } from '../../../src/text/sentences.ts';

/** Length of the larger input / length of the smaller one. */
export const GROWTH = 8;
export const SLACK = 4;

const HOSTILE: Readonly<Record<string, string>> = {
  'a million <': '<',
  'unclosed tags': '<snippet id=S1>',
  'unclosed headers': '<snippet id=',
  'open quotes': '<snippet id="',
  'alternating open quotes': `<snippet id="<snippet id='`,
  'quoted tags': `<snippet a='<snippet ' `,
  'typographic quotes': '<snippet id=“',
  'closing tags': '</snippet>',
  pairs: '<snippet id=S1>x</snippet>',
  commas: '<snippet id=,,,,,,,,,,>x</snippet>',
  answers: '<answer>x</answer>',
  'open answers': '<answer>',
  thoughts: '<think>x</think>',
  brackets: '[',
  stops: '. ',
  spaces: '        ',
  'soft lines': ' a\n',
  initials: 'A. ',
  'line breaks': '\r\n',
  webpages: '<webpage id=W1><snippet id=S1>x</webpage>',
};

/** Time of the fastest of several runs. */
export function fastestMilliseconds(work: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    work();
    fastest = Math.min(fastest, performance.now() - started);
  }
  return fastest;
}

/** @param largeChars Length of the larger input in UTF-16 code units. */
export function testLinearTime(largeChars: number): void {
  describe.each(Object.entries(HOSTILE))('%s', (_name, unit) => {
    const large = unit.repeat(Math.ceil(largeChars / unit.length));
    const small = unit.repeat(Math.ceil(largeChars / GROWTH / unit.length));
    const none = parseSources('<snippet id=S1>x</snippet>');

    it.each<[string, (text: string) => unknown]>([
      ['response', (text) => parseResponse(`<answer>${text}</answer>`, none)],
      ['whole response, markers', (text) => parseResponse(text, none, { grammar: 'bracket' })],
      ['tool output', (text) => parseSources(text)],
      ['sentences', (text) => splitSentences(text)],
      ['injection scan', (text) => suspectedInjections(text, 0, text.length)],
    ])('%s', (_what, read) => {
      // Without a floor of 2 ms, the ratio of two very fast runs would be noise.
      const before = Math.max(
        2,
        fastestMilliseconds(() => read(small)),
      );
      expect(fastestMilliseconds(() => read(large)) / before).toBeLessThan(GROWTH * SLACK);
    });
  });
}
