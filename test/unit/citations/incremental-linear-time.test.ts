/**
 * Pushing a text unit by unit takes linear time, whatever stays open in it. As linear-growth.ts measures it, the larger
 * text is eight times the smaller one, and the bound is half of what a quadratic step would take.
 */
import { describe, it } from 'vitest';
import { parseResponse } from '../../../src/citations/parse.ts';
import { parseSources } from '../../../src/citations/sources.ts';
import { createIncrementalVerifier } from '../../../src/citations/stream/verifier.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

const SOURCES = parseSources('<snippet id=S1>x</snippet>');
const LARGE_CHARS = 32 * 1024;

/** The beginning of a text, and the part that is repeated behind it. */
const HOSTILE: Readonly<Record<string, readonly [string, string]>> = {
  'a quote that never closes': ['<snippet id="', '>'],
  'typographic quotes in one header': ['<snippet', ' a=“'],
  'an attribute without end': ['<snippet id=', 'x'],
  'attributes without end': ['<snippet', ' a='],
  'a claim without end': ['<snippet id=S1>', 'x '],
  'claims in a citation without end': ['<snippet id=S1>', '<snippet id=S1>x</snippet>'],
  'openings of tags': ['', '<'],
  'names of tags': ['', '<snippet'],
  'a marker without end': ['[1', ' '],
  'openings of markers': ['', '[1'],
  'overlapping openings of markers': ['', '<<a'],
  'space behind a marker': ['[1]', ' '],
  'markers behind a stop': ['x.', '\n[1]'],
  'a stop and openings': ['x.', '('],
  'markers and words': ['', 'a [1] '],
  'a long line of sentences': ['- ', 'A b. [1] '],
  text: ['', 'It opened in 1937. '],
};

describe.each(Object.entries(HOSTILE))('%s', (_name, [before, unit]) => {
  const textOf = (chars: number): string => before + unit.repeat(Math.ceil(chars / unit.length));
  const large = textOf(LARGE_CHARS);
  const small = textOf(LARGE_CHARS / GROWTH);

  it.each(['snippet', 'bracket', 'guillemet', 'paren'] as const)('%s, unit by unit', (grammar) => {
    const push = (text: string): void => {
      const verifier = createIncrementalVerifier({ sources: SOURCES, grammar, answer: 'first' });
      verifier.push('<answer>');
      for (let at = 0; at < text.length; at++) verifier.push(text.charAt(at));
      verifier.finish();
    };
    expectLinear(push, small, large);
  });

  it('the batch parser', () => {
    expectLinear((text) => parseResponse(`<answer>${text}</answer>`, SOURCES), small, large);
  });
});
