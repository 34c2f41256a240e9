import { expect, it } from 'vitest';
import { answerLimits, mostClaims } from '../../../src/citations/answer-limits.ts';
import { parseResponse, scorableResponse, sizeProblems } from '../../../src/citations/parse.ts';
import { sourcesFromList } from '../../../src/citations/sources.ts';
import { MAX_CITATIONS, MAX_CLAIMS, MAX_COMPARED_CHARS, MAX_SOURCES } from '../../../src/limits.ts';

function problems(inner: string, texts: Readonly<Record<string, string>>): string[] {
  const sources = sourcesFromList(Object.entries(texts).map(([id, text]) => ({ id, text })));
  const parsed = parseResponse(`<answer>${inner}</answer>`, sources);
  return sizeProblems(parsed, sources, 'sources').map(({ path, message }) => `${path.join('.')}: ${message}`);
}

it('accepts realistic rollouts', () => {
  expect(problems('<snippet id=S1>It opened.</snippet>', { S1: 'It opened.' })).toEqual([]);
});

it('lists every exceeded limit with the count and the limit', () => {
  const claims = Array.from({ length: MAX_CLAIMS + 1 }, (_, n) => `<snippet id=S1>It opened ${n}.</snippet>`).join('');
  expect(problems(claims, { S1: 'x' })).toEqual([`response: ${MAX_CLAIMS + 1} claims; at most ${MAX_CLAIMS}`]);

  const ids = Array.from({ length: 250 }, (_, n) => `a${n}`).join(',');
  const cited = `<snippet id=${ids}>It opened.</snippet>`.repeat(MAX_CITATIONS / 250 + 1);
  expect(problems(cited, {})).toEqual([`response: ${MAX_CITATIONS + 250} citations; at most ${MAX_CITATIONS}`]);

  const many = Object.fromEntries(Array.from({ length: MAX_SOURCES + 1 }, (_, n) => [`s${n}`, 'x']));
  expect(problems('It opened.', many)).toEqual([`sources: ${MAX_SOURCES + 1} sources; at most ${MAX_SOURCES}`]);
});

it('limits comparisons of many claims with one long source', () => {
  const long = 'x'.repeat(MAX_COMPARED_CHARS / 100);
  const claims = Array.from({ length: 101 }, (_, n) => `<snippet id=S1>It opened ${n}.</snippet>`).join('');
  expect(problems(claims, { S1: long }).join()).toContain('characters of cited text and claims over all citations');
});

it('limits comparisons of long claims with many short sources', () => {
  const ids = Array.from({ length: 250 }, (_, n) => `a${n}`);
  const claim = (chars: number) => `<snippet id=${ids.join()}>${'word '.repeat(chars / 5)}</snippet>`;
  const texts = Object.fromEntries(ids.map((id) => [id, 'x']));
  expect(problems(claim(90_000), texts)).toEqual([]);
  expect(problems(claim(100_000), texts).join()).toContain('characters of cited text and claims over all citations');
});

it('takes an answer beyond the limits as no answer when it is scored', () => {
  const sources = sourcesFromList([{ id: 'S1', text: 'It opened.' }]);
  const read = (claims: number) =>
    parseResponse(`<answer>${'<snippet id=S1,S9>It opened.</snippet>'.repeat(claims)}</answer>`, sources);
  const most = read(MAX_CLAIMS);
  expect(scorableResponse(most, sources)).toBe(most);
  const scorable = scorableResponse(read(MAX_CLAIMS + 1), sources);
  expect(scorable).toMatchObject({ answer: null, claims: [], statements: [], format: { answer_only: 0, full: 0 } });
  expect(scorable.counts).toMatchObject({ no_answer: 1, answer_oversized: 1, citation_id_unknown: MAX_CLAIMS + 1 });
  expect(scorable.findings.map(({ reason }) => reason)).toEqual(['no_answer', 'answer_oversized']);
});

it('gives each answer of a large group an equal share of the limits, and each of eight the whole', () => {
  expect(answerLimits(8)).toEqual(answerLimits(1));
  expect(answerLimits(1).claims).toBe(MAX_CLAIMS);
  expect(answerLimits(64)).toEqual({ claims: 250, citations: 2_500, statements: 625, comparedChars: 25_000_000 });
  const sources = sourcesFromList([{ id: 'S1', text: 'It opened.' }]);
  const parsed = parseResponse(`<answer>${'<snippet id=S1>It opened.</snippet>'.repeat(251)}</answer>`, sources);
  expect(scorableResponse(parsed, sources, 63)).toBe(parsed);
  expect(scorableResponse(parsed, sources, 64).counts).toMatchObject({ no_answer: 1, answer_oversized: 1 });
});

it('counts at least the claims that an answer has, up to its limits', () => {
  const sources = sourcesFromList([{ id: 'S1', text: 'It opened.', url: 'https://a.test/1' }]);
  for (const [answer, grammar] of [
    ['<snippet id=S1>It opened.</snippet> <snippet id=S1>It closed.</snippet>', 'snippet'],
    ['It opened [S1]. It closed [S1].', 'bracket'],
    ['It opened 【S1】. It closed 【S1】.', 'lenticular'],
    ['It opened [one](https://a.test/1). It closed [two](https://a.test/1).', 'link'],
  ] as const) {
    const text = grammar === 'snippet' ? `<answer>${answer}</answer>` : answer;
    const { claims } = parseResponse(text, sources, { grammar });
    expect(claims).toHaveLength(2);
    expect(mostClaims(text, 1, 'any')).toBeGreaterThanOrEqual(2);
  }
  expect(mostClaims('<a>'.repeat(5_000), 1, 'any')).toBe(2_000);
  expect(mostClaims('<a></a>'.repeat(5_000), 64, 'any')).toBe(250);
  expect(mostClaims('<Snippet id=S1>It opened.</snippet><cite\nid="S1">It closed.</cite>', 1, 'recipes')).toBe(2);
  expect(mostClaims('if a[0] < b[1]: print("<citizen>")', 1, 'recipes')).toBe(0);
});
