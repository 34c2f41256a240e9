import { describe, expect, it } from 'vitest';
import { canonicalAnswer } from '../../../src/citations/canonical-answer.ts';
import type { GrammarName } from '../../../src/citations/grammars.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';

const SOURCES = sourcesFromList([
  { id: 'S1', text: 'One.' },
  { id: 'S2', text: 'Two.' },
  { id: 'https://a.example/', text: 'Three.' },
]);

function canonical(content: string, grammar: GrammarName): string {
  const response = `<answer>${content}</answer>`;
  const { answer, claims } = parseResponse(response, SOURCES, { grammar, answer: 'first' });
  if (answer === null) throw new Error('no answer');
  return canonicalAnswer(response, answer, claims, grammar);
}

describe('canonicalAnswer', () => {
  it.each([
    ['snippet', '<snippet  id="S1">One</snippet>', '<snippet  id="S1">One</snippet>'],
    ['cite', 'So: <cite id="S1,S2">one</cite>.', 'So: <snippet id=S1,S2>one</snippet>.'],
    ['bracket', 'It is one [S1][S2]. Two.', '<snippet id=S1,S2>It is one</snippet>. Two.'],
    ['link', 'It is [three](https://a.example/).', '<snippet id="https://a.example/">It is three</snippet>.'],
  ] as const)('%s: %s', (grammar, content, expected) => {
    expect(canonical(content, grammar)).toBe(expected);
  });

  it('snippet tags of another grammar become text', () => {
    expect(canonical('<snippet id=S1>one</snippet> is two [S2].', 'bracket')).toBe(
      '<snippet id=S2>‹snippet id=S1>one‹/snippet> is two</snippet>.',
    );
  });

  it('an id cannot close its tag', () => {
    expect(canonical('It is one 【S1"><b>】.', 'lenticular')).not.toContain('<b>');
  });
});
