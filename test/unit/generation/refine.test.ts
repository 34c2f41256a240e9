/** Running a refinement: events, stopping at an invented id, back-pressure, failures. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CandidateReader } from '../../../src/generation/candidate.ts';
import { finishRefinement } from '../../../src/generation/refine.ts';
import { verifyRequested, verifyRequestSchema } from '../../../src/wire/verify.ts';
import { choice, collected, planOf, running, scripted, TOOL_OUTPUT } from './scripted-generator.ts';

const GOOD = '<answer><snippet id=S1>The Aare is 288 km long.</snippet></answer>';
const INVENTED = '<answer><snippet id=S1>Long.</snippet> <snippet id=S9>And deep.</snippet></answer>';

function verified(response: string, evidence: 'none' | 'lexical' = 'none') {
  const request = verifyRequestSchema.parse({ response, tool_output: TOOL_OUTPUT, mode: 'answer_only' });
  const result = verifyRequested(request, evidence);
  if (!result.ok) throw new Error('too large');
  return result.value;
}

function candidatesOf(refined: Awaited<ReturnType<typeof collected>>['refined']) {
  if (!refined.ok) throw new Error(refined.error.reason);
  return refined.value.candidates;
}

describe('candidates', () => {
  it('arrive in pieces with the certain findings, and end verified', async () => {
    const pieces = ['<answer><snippet id=S1>The Aare is ', '288 km long.</snippet>', '</answer>'];
    const { generator, calls } = scripted(() => [
      ...choice(0, pieces),
      { type: 'usage', usage: { prompt_tokens: 10, completion_tokens: 5 } },
    ]);
    const { events, refined } = await collected(running(await planOf(), generator));
    expect(events.map(({ type }) => type)).toEqual(['delta', 'delta', 'claim', 'delta', 'candidate']);
    expect(refined).toMatchObject({ ok: true, value: { usage: { prompt_tokens: 10, completion_tokens: 5 } } });
    expect(candidatesOf(refined)).toMatchObject([
      { index: 0, response: GOOD, finish_reason: 'stop', aborted: null, thinking: null, verification: verified(GOOD) },
    ]);
    expect(calls).toMatchObject([{ stopped: false, deadline_ms: 1_000 }]);
  });

  it("interleave, and keep the server's finish reason and their thinking apart", async () => {
    const { generator } = scripted(() => [
      { type: 'thinking', choice: 1, text: 'Hm' },
      { type: 'text', choice: 1, text: '<answer>' },
      { type: 'text', choice: 0, text: GOOD },
      { type: 'thinking', choice: 1, text: 'm.' },
      { type: 'finish', choice: 1, finish_reason: 'length' },
      { type: 'finish', choice: 0, finish_reason: 'stop' },
    ]);
    const { events, refined } = await collected(running(await planOf({ n: 2 }), generator));
    expect(events.map(({ type, candidate }) => `${type} ${candidate}`)).toEqual([
      ...['thinking 1', 'delta 1', 'delta 0', 'claim 0', 'thinking 1'],
      // The answer is not closed, so all text is outside an answer.
      ...['finding 1', 'finding 1', 'finding 1', 'candidate 1', 'candidate 0'],
    ]);
    expect(candidatesOf(refined)).toMatchObject([
      { index: 0, finish_reason: 'stop' },
      { index: 1, response: '<answer>', thinking: 'Hmm.', finish_reason: 'length', aborted: null },
    ]);
    expect(refined).toMatchObject({ value: { usage: null } });
  });

  it.each([
    ['required', '<answer>It is long.</answer>', 'citation_missing'],
    ['forbidden', GOOD, 'citation_forbidden'],
  ])('are verified with citations %s if the recipe says so', async (citations, response, reason) => {
    const recipe = { base: 'refiner-rl-balanced', citations };
    const { generator } = scripted(() => choice(0, [response]));
    const plan = await planOf({ recipe, positive_rubrics: ['Says how long'] });
    const { events, refined } = await collected(running(plan, generator));
    expect(candidatesOf(refined)[0]?.verification.findings.map((one) => one.reason)).toContain(reason);
    expect(events.flatMap((event) => (event.type === 'finding' ? [event.reason] : []))).toContain(reason);
  });

  it('verify like POST /v1/verify, however their text is cut', async () => {
    const parts = [
      '<answer>',
      '</answer>',
      '<snippet id=S1>',
      '<snippet id=S2,S9>',
      '</snippet>',
      '<think>',
      'It is 288.',
    ];
    const text = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((chosen) => chosen.join(' '));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (response, size, lexical) => {
        const evidence = lexical ? 'lexical' : 'none';
        const { generator } = scripted(() => choice(0, response.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? []));
        const refined = await finishRefinement(running(await planOf({ evidence }), generator));
        expect(candidatesOf(refined)[0]).toMatchObject({ response, verification: verified(response, evidence) });
      }),
      { numRuns: 200 },
    );
  });
});

describe('an invented citation', () => {
  const reader = () => {
    const sources = planOf().then((plan) => plan.sources);
    return sources.then(
      (set) => new CandidateReader(0, { sources: set, mode: 'answer_only', evidence: 'none', question: '' }),
    );
  };

  it('is found by the push that ends its tag, neither earlier nor later', async () => {
    for (const size of [1, 2, 5, 1_000]) {
      const candidate = await reader();
      const pieces = INVENTED.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
      const known = INVENTED.indexOf('<snippet id=S9>') + '<snippet id=S9>'.length;
      let at = 0;
      for (const piece of pieces) {
        const before = at;
        at += piece.length;
        const { invented } = candidate.push(piece);
        expect(invented !== null, `${before} to ${at}`).toBe(before < known && at >= known);
        if (invented !== null) expect(invented).toMatchObject({ id: 'S9', span: { start: known - 3, end: known - 1 } });
      }
    }
  });

  it('is not reported if the id continues, or inside thinking', async () => {
    expect((await reader()).push('<answer><snippet id=S').invented).toBeNull();
    expect((await reader()).push('<think><answer><snippet id=S9>x</snippet></answer></think>').invented).toBeNull();
  });

  it('stops the generator before the event is yielded, and the candidate reports it', async () => {
    const pieces = ['<answer><snippet id=S1>Long.</snippet> ', '<snippet id=S9>And', ' deep.</snippet>', '</answer>'];
    const { generator, calls } = scripted(() => choice(0, pieces));
    const run = running(await planOf({ on_invented_citation: 'abort' }), generator);
    for (;;) {
      const step = await run.next();
      if (step.done === true) throw new Error('no finding');
      if (step.value.type === 'delta' && step.value.text === pieces[1]) break;
      expect(calls[0]?.signal.aborted).toBe(false);
    }
    expect(calls).toMatchObject([{ read: 2, stopped: true, signal: { aborted: true } }]);
    const { events, refined } = await collected(run);
    const [first, ...rest] = events;
    expect(first).toMatchObject({ type: 'finding', reason: 'citation_id_unknown' });
    expect(rest.map(({ type }) => type)).not.toContain('delta');
    expect(rest.at(-1)?.type).toBe('candidate');
    const [candidate] = candidatesOf(refined);
    expect(candidate).toMatchObject({
      response: pieces.slice(0, 2).join(''),
      finish_reason: null,
      aborted: { reason: 'invented_citation', id: 'S9' },
    });
    expect(calls[0]?.read).toBe(2);
    expect(refined).toMatchObject({ value: { usage: null } });
  });

  it('is only flagged if the request asks for that', async () => {
    const { generator, calls } = scripted(() => choice(0, INVENTED));
    const { events, refined } = await collected(running(await planOf(), generator));
    expect(events.flatMap((event) => (event.type === 'finding' ? [event.reason] : []))).toEqual([
      'citation_id_unknown',
    ]);
    expect(candidatesOf(refined)).toMatchObject([{ aborted: null, finish_reason: 'stop' }]);
    expect(calls[0]?.stopped).toBe(false);
  });

  it('stops only its own candidate: each is a call with its own seed', async () => {
    const texts = [GOOD, INVENTED, GOOD];
    const { generator, calls } = scripted((_, call) => choice(0, (texts[call] ?? '').match(/.{1,7}/gsu) ?? []));
    const plan = await planOf({ n: 3, on_invented_citation: 'abort', sampling: { seed: 40 } });
    const refined = await finishRefinement(running(plan, generator));
    expect(calls.map(({ request }) => [request.n, request.sampling.seed])).toEqual([1, 2, 3].map((n) => [1, 39 + n]));
    expect(calls.map(({ stopped }) => stopped)).toEqual([false, true, false]);
    expect(candidatesOf(refined).map(({ response, aborted }) => [response === GOOD, aborted?.id])).toEqual([
      [true, undefined],
      [false, 'S9'],
      [true, undefined],
    ]);
  });
});

describe('reading', () => {
  it('sends no request before the first read, and never reads ahead', async () => {
    const { generator, calls } = scripted(() => choice(0, ['a', 'b', 'c', 'd']));
    const run = running(await planOf(), generator);
    await Promise.resolve();
    expect(calls).toHaveLength(0);
    await run.next();
    await run.next();
    await Promise.resolve();
    expect(calls[0]?.read).toBe(2);
    await run.return({ ok: true, value: { candidates: [], usage: null } });
    expect(calls).toMatchObject([{ read: 2, stopped: true, signal: { aborted: true } }]);
  });

  it('runs at most six calls concurrently, and stops them all', async () => {
    const { generator, calls } = scripted(() => choice(0, ['a', 'b', 'c']));
    const run = running(await planOf({ n: 20, on_invented_citation: 'abort' }), generator);
    for (let events = 0; events < 8; events++) await run.next();
    expect(calls).toHaveLength(6);
    await run.return({ ok: true, value: { candidates: [], usage: null } });
    expect(calls.map(({ stopped }) => stopped)).toEqual(Array(6).fill(true));
    const whole = await finishRefinement(running(await planOf({ n: 20, on_invented_citation: 'abort' }), generator));
    expect(candidatesOf(whole).map(({ index, response }) => [index, response])).toEqual(
      Array.from({ length: 20 }, (_, index) => [index, 'abc']),
    );
  });
});

describe('a listener that fails', () => {
  it('stops the generator, and its error is the result', async () => {
    const { generator, calls } = scripted(() => choice(0, ['a', 'b', 'c']));
    const finished = finishRefinement(running(await planOf(), generator), async () => {
      throw new Error('nobody listens');
    });
    await expect(finished).rejects.toThrow('nobody listens');
    expect(calls).toMatchObject([{ read: 1, stopped: true, signal: { aborted: true } }]);
  });

  it('delays the next read until it resolves', async () => {
    const { generator, calls } = scripted(() => choice(0, ['a', 'b', 'c']));
    const { promise, resolve } = Promise.withResolvers<void>();
    const finished = finishRefinement(running(await planOf(), generator), () => promise);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    expect(calls[0]?.read).toBe(1);
    resolve();
    expect(candidatesOf(await finished)).toMatchObject([{ response: 'abc' }]);
  });
});

describe('a generator that fails', () => {
  const failure = { reason: 'generator_unreachable', detail: 'gone', retryable: true } as const;

  it('midway gives no whole result, and stops the other calls', async () => {
    const { generator, calls } = scripted((_, call) =>
      call === 1
        ? [
            { type: 'text', choice: 0, text: 'a' },
            { ok: false, error: failure },
          ]
        : choice(0, 'abcdefgh'.split('')),
    );
    const run = running(await planOf({ n: 3, on_invented_citation: 'abort' }), generator);
    const { refined } = await collected(run);
    expect(refined).toEqual({ ok: false, error: failure });
    expect(calls.map(({ stopped }) => stopped)).toEqual([true, true, true]);
  });

  it('by ending well without its choices is a bug and gives no result', async () => {
    const { generator } = scripted(() => choice(0, GOOD));
    await expect(finishRefinement(running(await planOf({ n: 2 }), generator))).rejects.toThrow('before its choices');
  });
});
