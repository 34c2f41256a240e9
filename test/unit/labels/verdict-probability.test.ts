/** The probability of a verdict from the tokens of a reply, as OpenAI, vLLM and llama.cpp write them. */
import { describe, expect, test } from 'vitest';
import { verdictProbability } from '../../../src/labels/verdict-probability.ts';
import { expectLinear, GROWTH } from '../linear-growth.ts';

type Alternatives = Readonly<Record<string, number>>;

/** A token with the probabilities of its alternatives. */
function token(text: string, alternatives: Alternatives = { [text]: 1 }): object {
  const bytes = [...new TextEncoder().encode(text)];
  const top_logprobs = Object.entries(alternatives).map(([one, share]) => ({
    token: one,
    logprob: Math.log(share),
    bytes: [...new TextEncoder().encode(one)],
  }));
  return { token: text, logprob: Math.log(alternatives[text] ?? 1e-9), bytes, top_logprobs };
}

const split = (...texts: readonly string[]): object[] => texts.map((text) => token(text));

describe('each kind of row', () => {
  test('a claim: the words of the levels, by their first tokens', () => {
    const reply = [
      ...split('{"', 'k', '1', '":', '{"reason":"', 'it says so', '","quote":"","', 'support', '":"'),
      token('full', { full: 0.6, partial: 0.2, none: 0.1, no: 0.05, f: 0.02, the: 0.03 }),
      ...split('","relevant":[true]}}'),
    ];
    expect(verdictProbability('claim', reply)).toBeCloseTo(0.62 / 0.97, 12);
  });

  test('a criterion: the entry of its position, with the space before the digit', () => {
    const reply = [
      ...split('{"c1": {"reason": "r", "score":'),
      token(' 2', { ' 2': 0.9, ' 1': 0.1 }),
      ...split('}, "c2": {"reason": "the \\"score\\": 2, I think", "score":'),
      token(' 0', { ' 0': 0.7, ' 1': 0.1, '2': 0.05, ' 2': 0.05, ' 3': 0.1 }),
      ...split('}}'),
    ];
    expect(verdictProbability('criterion', reply, 0)).toBeCloseTo(0.9, 12);
    expect(verdictProbability('criterion', reply, 1)).toBeCloseTo(0.1 / 0.9, 12);
    expect(verdictProbability('criterion', reply, 2)).toBe('unreadable');
  });

  test('a criterion that is met or not, and a statement: true and false', () => {
    const met = [
      ...split('{"c1":{"reason":"r","met'),
      token('":true', { '":true': 0.8, '":false': 0.2 }),
      ...split('}}'),
    ];
    expect(verdictProbability('criterion', met)).toBeCloseTo(0.8, 12);
    const statement = [
      ...split('{"u1":{"reason":"r","needs_citation":'),
      token('fal', { fal: 0.75, true: 0.25 }),
      ...split('se}}'),
    ];
    expect(verdictProbability('needs_citation', statement)).toBeCloseTo(0.25, 12);
  });
});

describe('where servers differ', () => {
  test('alternatives without the chosen token count it too', () => {
    const chosen = { token: '0', logprob: Math.log(0.2), top_logprobs: [{ token: '2', logprob: Math.log(0.6) }] };
    expect(verdictProbability('criterion', [...split('{"c1":{"score":'), chosen, ...split('}}')])).toBeCloseTo(
      0.75,
      12,
    );
  });

  test('a draft before the reply does not count', () => {
    const reply = [
      ...split('<think>{"u1":{"needs_citation":'),
      token('true', { true: 0.9, false: 0.1 }),
      ...split('}}</think>{"u1":{"needs_citation":'),
      token('false', { true: 0.3, false: 0.7 }),
      ...split('}}'),
    ];
    expect(verdictProbability('needs_citation', reply)).toBeCloseTo(0.3, 12);
  });

  test('vLLM writes -9999 for what it did not compute, and no bytes', () => {
    const forbidden = { token: '1', logprob: -9999 };
    const chosen = { token: '2', logprob: -0.1, bytes: null };
    const of = (...top_logprobs: readonly object[]) =>
      verdictProbability('criterion', [...split('{"c1":{"score":'), { ...chosen, top_logprobs }, ...split('}}')]);
    expect(of(chosen, forbidden)).toBe(1);
    // It is not the other level that a verdict beside the list needs.
    expect(of(forbidden)).toBe('not_reported');
  });

  test('vLLM lists the tokens that the schema forbids with -9999, control tokens without a text', () => {
    const forbidden = Array.from({ length: 17 }, () => ({ token: '', logprob: -9999, bytes: [] }));
    const allowed = { p: -0.39, f: -1.24, n: -3.44 };
    const top_logprobs = [...Object.entries(allowed).map(([one, logprob]) => ({ token: one, logprob })), ...forbidden];
    const [before, after] = [split('{"k1":{"reason":"$O46z","support":"'), split(...'artial"}}')];
    const reply = [...before, { token: 'p', logprob: allowed.p, top_logprobs }, ...after];
    const sum = Object.values(allowed).reduce((total, logprob) => total + Math.exp(logprob), 0);
    expect(verdictProbability('claim', reply)).toBeCloseTo(Math.exp(allowed.f) / sum, 12);
  });

  test.each([0.1, 1_000])('a log-probability above 0, %d, is no probability', (logprob) => {
    const value = { token: '2', logprob, top_logprobs: [{ token: '0', logprob }] };
    const reply = [...split('{"c1":{"score":'), value, ...split('}}')];
    expect(verdictProbability('criterion', reply)).toBe('unreadable');
  });

  test('no number where the alternatives of the verdict are not reported', () => {
    const before = split('{"k1":{"reason":"r","support":"');
    const alone = (top_logprobs: unknown) => [...before, { token: 'full', logprob: -2, top_logprobs }, ...split('"}}')];
    expect(verdictProbability('claim', alone([]))).toBe('not_reported');
    expect(verdictProbability('claim', alone(null))).toBe('not_reported');
    expect(verdictProbability('claim', [...before, ...split('none', '"}}')])).toBe('not_reported');
    expect(verdictProbability('claim', alone([{ token: 'none', logprob: Math.log(0.4) }]))).toBeCloseTo(0.253, 3);
    // llama.cpp lists the likeliest tokens before the schema allows a verdict that is none of them.
    expect(verdictProbability('claim', alone([{ token: 'The', logprob: -0.1 }]))).toBe('not_reported');
  });

  test('an entry without a verdict does not take that of the next', () => {
    const reply = [
      ...split('{"c1":{"reason":"a } and \\"score\\": 1","parts":{"a":{}}},"c2":{"score":'),
      token('2', { '2': 0.9, '0': 0.1 }),
      ...split('}}'),
    ];
    expect(verdictProbability('criterion', reply, 0)).toBe('unreadable');
    expect(verdictProbability('criterion', reply, 1)).toBeCloseTo(0.9, 12);
  });

  test('no number where there is none', () => {
    expect(verdictProbability('claim', [])).toBe('not_reported');
    expect(verdictProbability('claim', [{ token: 'x' }])).toBe('unreadable');
    expect(verdictProbability('claim', split('{"k1":{"reason":"cut'))).toBe('unreadable');
    const elsewhere = [...split('{"c1":{"score":'), token('7', { '7': 1 }), ...split('}}')];
    expect(verdictProbability('criterion', elsewhere)).toBe('unreadable');
  });
});

test('a long reply is read in linear time', () => {
  const many = (entries: number): object[] =>
    Array.from({ length: entries }, (_, n) => [
      ...split(`"c${n + 1}":{"reason":"${'word '.repeat(20)}","score":`),
      token('2', { '2': 0.5, '0': 0.5 }),
      ...split('},'),
    ]).flat();
  const last = (tokens: readonly object[]): void => {
    const position = tokens.length / 3 - 1;
    expect(verdictProbability('criterion', tokens, position)).toBeCloseTo(0.5, 12);
  };
  expectLinear(last, many(8_000 / GROWTH), many(8_000));
});
