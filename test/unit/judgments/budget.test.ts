/**
 * The cuts of a prompt that is too long: uncited sources from the last one on, then cited ones to a common length;
 * nothing else is ever cut.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { citations } from '../../../src/judgments/kinds/citations/citations.ts';
import { type RubricRequest, rubric } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { judgePrompt } from '../../../src/judgments/model-judge.ts';
import type { Fitted } from '../../../src/judgments/protocol/budget.ts';
import { estimateTokens, hasMoreTokens } from '../../../src/judgments/protocol/token-estimate.ts';
import { CITATIONS, type CitedRequest, RUBRIC } from './requests.ts';

function fitRequest(request: CitedRequest, promptTokens: number, cited: ReadonlySet<number>): Fitted<CitedRequest> {
  return request.kind === 'rubric'
    ? rubric.fit(request, promptTokens, cited)
    : citations.fit(request, promptTokens, cited);
}

/** A source text of so many tokens, as estimated. */
function textOf(tokens: number): string {
  return 'there '.repeat(Math.ceil(tokens / 2)).slice(0, 3 * tokens);
}

function withSources(...tokens: readonly number[]): RubricRequest {
  return { ...RUBRIC, sources: tokens.map((size, n) => ({ id: `S${n + 1}`, text: textOf(size) })) };
}

/** The budget that this request just fits into. */
function costOf(request: CitedRequest): number {
  let low = 0;
  let high = 10_000_000;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const fitted = fitRequest(request, middle, new Set());
    if (fitted.ok && fitted.cuts.length === 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

function kept(request: CitedRequest, budget: number, cited: readonly number[]): number[] {
  const fitted = fitRequest(request, budget, new Set(cited));
  if (!fitted.ok) throw new Error(fitted.failure.detail);
  return fitted.request.sources.map(({ text }) => text.length / 3);
}

describe('a prompt that fits', () => {
  it('is left as it is', () => {
    const request = withSources(300, 300);
    expect(fitRequest(request, costOf(request), new Set([0]))).toEqual({ ok: true, request, cuts: [] });
  });
});

describe('a prompt that does not', () => {
  const request = withSources(1_000, 1_000, 1_000, 1_000);
  const full = costOf(request);

  it('loses uncited sources first, from the last one on', () => {
    expect(kept(request, full - 400, [1])).toEqual([1_000, 1_000, 1_000, 600]);
    expect(kept(request, full - 1_500, [1]).map((size) => size === 1_000)).toEqual([true, true, false, false]);
    expect(kept(request, full - 2_500, [3]).map((size) => size === 1_000)).toEqual([false, false, false, true]);
  });

  it('then shortens the cited ones to a common length', () => {
    const uneven = withSources(2_000, 300, 1_000);
    const sizes = kept(uneven, costOf(uneven) - 1_600, [0, 1, 2]);
    expect(sizes[1]).toBe(300);
    expect(sizes[0]).toBe(sizes[2]);
  });

  it('leaves out whole what would say nothing any more', () => {
    expect(kept(request, full - 980, [0, 1, 2])).toEqual([1_000, 1_000, 1_000, 0]);
  });

  it('says what was cut, and keeps place and id of each source', () => {
    const fitted = fitRequest(request, full - 400, new Set([1]));
    expect(fitted).toMatchObject({ ok: true, cuts: [{ source: 3, kept_chars: 1_800, chars: 3_000 }] });
    if (fitted.ok) expect(fitted.request.sources.map(({ id }) => id)).toEqual(['S1', 'S2', 'S3', 'S4']);
  });

  it('fails where not even that is enough', () => {
    const long = textOf(5_000);
    for (const whole of [
      { ...RUBRIC, question: long },
      { ...CITATIONS, question: long },
    ]) {
      const fitted = fitRequest(whole, 3_000, new Set([0]));
      expect(fitted).toMatchObject({ ok: false, failure: { reason: 'judge_prompt_too_long', retryable: false } });
      expect(fitted).not.toHaveProperty('entries_cut');
    }
  });

  it.each(['7', '漢', '😀', '!', 'ab '])('cuts the answer where it alone is too long: %s', (piece) => {
    const answer = piece.repeat(12_000);
    const fitted = fitRequest({ ...RUBRIC, answer }, 6_000, new Set([0]));
    if (!fitted.ok || !('answer' in fitted.request)) throw new Error('not fitted');
    const { kept_chars = 0 } = fitted.answer_cut ?? {};
    expect(fitted.answer_cut).toEqual({ kept_chars, chars: answer.length });
    expect(fitted.request.answer).toBe(answer.slice(0, kept_chars));
    expect(fitted.request.answer.isWellFormed()).toBe(true);
    expect(estimateTokens(fitted.request.answer)).toBeGreaterThan(2_000);
    // The same answer, cut, fits as it is: the key of both is the same.
    expect(fitRequest(fitted.request, 6_000, new Set([0]))).toMatchObject({ ok: true, request: fitted.request });
  });
});

describe('any cut', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  const source = fc.record({
    id: fc.string({ maxLength: 5 }),
    text: fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }),
  });
  const shape = fc.record({
    sources: fc.array(source, { minLength: 1, maxLength: 6 }),
    cited: fc.uniqueArray(fc.nat(5), { maxLength: 4 }),
    answer: text,
    budget: fc.integer({ min: 1_000, max: 3_500 }),
  });

  it('touches nothing but source texts, cuts no character in two, fits, and is the same each time', () => {
    fc.assert(
      fc.property(shape, ({ sources, cited, answer, budget }) => {
        const request: RubricRequest = { ...RUBRIC, sources, answer };
        const inRange = new Set(cited.filter((position) => position < sources.length));
        const fitted = fitRequest(request, budget, inRange);
        expect(fitRequest(structuredClone(request), budget, inRange)).toEqual(fitted);
        if (!fitted.ok) return;
        const { sources: cut, ...rest } = fitted.request;
        expect({ ...rest, sources }).toEqual(request);
        cut.forEach((one, position) => {
          const whole = sources[position]?.text ?? '';
          expect(whole.startsWith(one.text)).toBe(true);
          expect(one.id).toBe(sources[position]?.id);
          if (whole.isWellFormed()) expect(one.text.isWellFormed()).toBe(true);
        });
        expect(fitted.cuts.map(({ source: position }) => position)).toEqual(
          cut.flatMap((one, position) => (one.text === sources[position]?.text ? [] : [position])),
        );
        const prompt = judgePrompt(fitted.request).messages.map(({ content }) => content);
        if (fitted.cuts.length > 0) expect(estimateTokens(prompt.join(''))).toBeLessThanOrEqual(budget);
      }),
      { numRuns: 300 },
    );
  });
});

it.each([
  ['', 0],
  ['the', 1],
  ['there', 2],
  ['xqj', 3],
  ['1234567890', 10],
  ['a, b', 3],
  ['{"a":[1]}', 9],
  // As many as bytes: what byte-level BPE makes of characters that are not in its vocabulary.
  ['ä', 2],
  ['你好', 6],
  ['😀', 4],
  ['𐎠', 4],
])('%j is estimated at %d tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

it.each([
  ['random letters', 'qxzjvkwpfhbgdncmtlrs', 0.9],
  ['random letters of both cases', 'aEtHoRiNsOleDaTuReMi', 0.7],
  ['single letters', 'e a t o ', 0.49],
  ['syllables without end', 'lanotirestedamora', 0.45],
  ['mixed white space', '\t \n\v', 0.9],
])('%s count more than words', (_what, piece, least) => {
  const text = piece.repeat(600);
  expect(estimateTokens(text) / text.length).toBeGreaterThan(least);
});

it('prose of several languages counts a third', () => {
  const prose = [
    'The river Aare has a length of 288 kilometres and joins the Rhine near Koblenz, after it has left three lakes.',
    'Die Aare entspringt an den Gletschern der Berner Alpen und verlässt nach drei Seen die Stadt, die sie umfließt.',
    'La rivière prend sa source dans les glaciers des Alpes bernoises et se jette dans le fleuve après trois lacs.',
  ];
  for (const one of prose) {
    const letters = one.replaceAll(/[^a-zA-Z\s]/gu, '');
    const others = new TextEncoder().encode(one.replaceAll(/[a-zA-Z\s]/gu, '')).length;
    expect(estimateTokens(one)).toBe(Math.ceil(letters.length / 3) + others);
  }
});

it('no text beyond ASCII letters and white space is estimated at fewer tokens than it has bytes', () => {
  const rest = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[a-zA-Z\s]/gu, ''));
  fc.assert(
    fc.property(rest, (text) => {
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(new TextEncoder().encode(text).length);
    }),
  );
});

describe('an answer beyond the budget', () => {
  it('is known to be so without its count', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(250), (text, tokens) => {
        expect(hasMoreTokens(text, tokens)).toBe(estimateTokens(text) > tokens);
      }),
    );
  });

  it('is not read to its end: one that is 100 times as long takes the same time', () => {
    const budget = costOf(RUBRIC) + 20_000;
    const fitted = (answer: string) => () => rubric.fit({ ...RUBRIC, answer }, budget, new Set());
    const [short, long] = [textOf(40_000), textOf(4_000_000)];
    const cuts = [short, long].map((answer) => {
      const fit = fitted(answer)();
      return fit.ok && fit.answer_cut?.kept_chars;
    });
    expect(cuts[0]).toBe(cuts[1]);
    const cpuOf = (work: () => unknown): number => {
      const before = process.threadCpuUsage();
      for (let call = 0; call < 20; call++) work();
      return process.threadCpuUsage(before).user;
    };
    cpuOf(fitted(short));
    expect(cpuOf(fitted(long))).toBeLessThan(10 * cpuOf(fitted(short)));
  });
});
