/** Every bad input of the API is a clear 4xx problem or a finding, never a 500; good input of any shape works. */
import { describe, expect, it } from 'vitest';
import { MAX_BODY_BYTES, MAX_CLAIMS, MAX_DISCARDED_BYTES } from '../../src/limits.ts';
import { verifyResponseSchema } from '../../src/wire/verify.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, TOOL_OUTPUT, wrongFields } from './api.ts';

async function verify(body: unknown, query = '') {
  const reply = await send(post(`/v1/verify${query}`, body));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return verifyResponseSchema.parse(JSON.parse(text));
}

const VERIFY = { response: ROLLOUT.response, tool_output: TOOL_OUTPUT };
const ROUTES = [
  ['/v1/verify', VERIFY],
  ['/v1/score', ROLLOUT],
] as const;

describe.each(ROUTES)('body of %s', (path, good) => {
  it('must be JSON', async () => {
    for (const body of ['', '{', 'NaN', '{"response":NaN}', `{"response":"${'x'.repeat(50)}" y}`, "{'a':1}"]) {
      await problemOf(await send(post(path, body)), 400, 'body_not_json');
    }
    const { detail } = await problemOf(await send(post(path, '{"response": 1,}')), 400, 'body_not_json');
    expect(detail).toContain('position 15');
    await problemOf(
      await send(new Request(ORIGIN + path, { method: 'POST', headers: { 'content-type': 'application/json' } })),
      400,
      'body_not_json',
    );
  });

  it('must be declared as JSON in UTF-8, uncompressed', async () => {
    const refused = [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json; charset=latin1' },
      { 'content-encoding': 'gzip' },
    ];
    for (const headers of refused) {
      await problemOf(await send(post(path, good, headers)), 415, 'content_type_unsupported');
    }
    expect((await send(post(path, good, { 'content-type': 'Application/JSON; charset=UTF-8' }))).status).toBe(200);
  });

  it('must be UTF-8, to its last byte', async () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xc3],
    ]) {
      const request = new Request(ORIGIN + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Uint8Array(bytes),
      });
      await problemOf(await send(request), 400, 'body_not_utf8');
    }
  });

  it('is refused when too large, with a declared length and without', async () => {
    const declared = post(path, ' '.repeat(30 * 1024 * 1024));
    const { detail } = await problemOf(await send(declared), 413, 'body_too_large');
    expect(detail).toContain(String(MAX_BODY_BYTES));
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      },
    });
    const streamed = new Request(ORIGIN + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: endless,
    });
    await problemOf(await send(streamed), 413, 'body_too_large');
    expect(sent).toBeLessThan(MAX_BODY_BYTES + MAX_DISCARDED_BYTES + 8 * 1024 * 1024);
  });

  it('must be an object of known fields; each wrong one is named with what was expected', async () => {
    for (const body of ['null', '[]', '3', '"x"'])
      expect(await wrongFields(await send(post(path, body)))).toEqual(['']);
    expect(await wrongFields(await send(post(path, { ...good, citation_wieght: 1, 'a b': 2 })))).toEqual([
      'citation_wieght',
      '["a b"]',
    ]);
    expect(await wrongFields(await send(post(path, `{"__proto__":{},${JSON.stringify(good).slice(1)}`)))).toEqual([
      '__proto__',
    ]);
    const long = 'f'.repeat(10_000);
    const { errors } = await problemOf(await send(post(path, { ...good, [long]: 1 })), 422, 'input_invalid');
    expect(errors?.[0]?.path.length).toBeLessThan(100);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`u${i}`, i]));
    const flood = await problemOf(await send(post(path, { ...good, ...many })), 422, 'input_invalid');
    expect(flood.errors?.length).toBe(100);
    expect(flood.detail).toContain('5000');
  });

  it('says what type was expected and what came', async () => {
    const problem = await problemOf(await send(post(path, { ...good, response: 5 })), 422, 'input_invalid');
    expect(problem.errors).toEqual([{ path: 'response', message: 'expected a string, got an integer' }]);
    const { response: _, ...without } = good;
    const missing = await problemOf(await send(post(path, without)), 422, 'input_invalid');
    const message =
      path === '/v1/score'
        ? 'give exactly one of response (a string), messages and cited_answer'
        : 'give exactly one of response (a string) and cited_answer';
    expect(missing.errors).toEqual([{ path: 'response', message }]);
  });

  it('holds tool_output or sources, and not both', async () => {
    const { tool_output: _, ...without } = good;
    expect(await wrongFields(await send(post(path, without)))).toEqual(['tool_output']);
    expect(await wrongFields(await send(post(path, { ...good, sources: [] })))).toEqual(['tool_output']);
    expect(await wrongFields(await send(post(path, { ...good, sources: [], response: 1, x: 2 })))).toEqual([
      'response',
      'x',
      'tool_output',
    ]);
    const sources = [
      { id: 'S1', text: 'a' },
      { id: '', text: 'b' },
      { id: 'x'.repeat(10_000), text: 'c' },
      { id: 'S2' },
      7,
    ];
    expect(await wrongFields(await send(post(path, { ...without, sources })))).toEqual([
      'sources[1].id',
      'sources[2].id',
      'sources[3].text',
      'sources[4]',
    ]);
    expect((await send(post(path, { ...without, sources: sources.slice(0, 1) }))).status).toBe(200);
  });

  it('is refused or earns 0 with more claims than can be judged', async () => {
    const claims = Array.from({ length: 100_000 }, (_, i) => `<snippet id=S1>Claim number ${i} holds.</snippet>`);
    const reply = await send(post(path, { ...good, response: `<answer>${claims.join(' ')}</answer>` }));
    if (path === '/v1/score') {
      // A refusal would leave the policy unscored, and so unpunished.
      expect(await reply.json()).toMatchObject({ reward: 0, finding_counts: { answer_oversized: 1 } });
      return;
    }
    const problem = await problemOf(reply, 422, 'input_invalid');
    expect(new Set(problem.errors?.map(({ path }) => path))).toEqual(new Set(['response']));
    expect(problem.errors?.[0]?.message).toContain(String(MAX_CLAIMS));
  });

  it('takes lone surrogates, NUL, control characters and empty texts as text', async () => {
    const odd = '\ud800 \udc00\u0000\u0007\u2028 \ufeff \u{10ffff} a';
    const bodies = [
      {
        ...good,
        response: `<answer><snippet id=S1>${odd}</snippet> ${odd}</answer>`,
        tool_output: `<snippet id=S1>${odd}</snippet>`,
      },
      { ...good, response: '' },
      { ...good, response: '\u0000' },
      { ...good, tool_output: '' },
      { ...good, response: '<answer></answer>', tool_output: '\ud800' },
    ];
    for (const body of bodies) {
      const reply = await send(post(path, body));
      expect(reply.status, await reply.text()).toBe(200);
    }
  });
});

describe('POST /v1/verify', () => {
  it('finds claims, invented ids and uncited statements', async () => {
    const found = await verify(VERIFY);
    expect(found.claims.map(({ ids }) => ids.map(({ id, source }) => [id, source]))).toEqual([
      [['S1', 0]],
      [['S2', 1]],
      [['S9', null]],
    ]);
    expect(found.finding_counts.citation_id_unknown).toBe(1);
    expect(found.statements).toHaveLength(1);
    expect(found.format.full).toBe(0);
    for (const { span, text } of found.claims) expect(ROLLOUT.response.slice(span.start, span.end)).toBe(text);
    expect(found.claims[0]?.evidence).toBeUndefined();
  });

  it('adds lexical evidence when asked', async () => {
    const { claims, ratios } = await verify(VERIFY, '?evidence=lexical');
    expect(claims[1]?.evidence?.verbatim.length).toBeGreaterThan(0);
    expect(claims[1]?.findings).toContain('claim_verbatim');
    expect(ratios.copied_share).toBeGreaterThan(0);
  });

  it('gives offsets in UTF-8 bytes when asked', async () => {
    const response = '<answer>Ünïcödé 🙂 <snippet id=S1>Die Aare ist lang.</snippet></answer>';
    const { claims } = await verify({ ...VERIFY, response }, '?offsets=utf8&evidence=lexical');
    const bytes = new TextEncoder().encode(response);
    expect(new TextDecoder().decode(bytes.slice(claims[0]?.span.start, claims[0]?.span.end))).toBe(
      'Die Aare ist lang.',
    );
  });

  it('refuses unknown, repeated and misspelt query parameters', async () => {
    const at = async (query: string) => wrongFields(await send(post(`/v1/verify?${query}`, VERIFY)));
    expect(await at('evidence=full')).toEqual(['query.evidence']);
    expect(await at('evidence=none&evidence=lexical')).toEqual(['query.evidence']);
    expect(await at('offset=utf8')).toEqual(['query.offset']);
    expect(await wrongFields(await send(post('/v1/score?offsets=utf8', ROLLOUT)))).toEqual(['query.offsets']);
  });

  it('reports an id of 10,000 characters as malformed', async () => {
    const response = `<answer><snippet id=${'x'.repeat(10_000)}>The Aare is long.</snippet></answer>`;
    expect((await verify({ ...VERIFY, response })).finding_counts.citation_id_malformed).toBe(1);
    const scored = await score({ ...ROLLOUT, response });
    expect(scored.finding_counts.citation_id_malformed).toBe(1);
  });

  it('reports citations that are missing or forbidden, if the request says so', async () => {
    const counts = async (fields: Readonly<Record<string, unknown>>) =>
      (await verify({ ...VERIFY, grammar: 'bracket', ...fields })).finding_counts;
    const [plain, cited] = ['The Aare is 288 kilometres long.', 'The Aare is 288 kilometres long [S1].'];
    expect(await counts({ response: plain, citations: 'required' })).toEqual({ citation_missing: 1 });
    expect(await counts({ response: cited, citations: 'forbidden' })).toEqual({ citation_forbidden: 1 });
    expect(await counts({ response: plain })).toEqual({});
    expect(await wrongFields(await send(post('/v1/verify', { ...VERIFY, citations: 'none' })))).toEqual(['citations']);
  });

  it('reads every grammar and mode', async () => {
    const cited = await verify({ ...VERIFY, grammar: 'bracket', response: 'The Aare is 288 kilometres long [S1].' });
    expect(cited.claims[0]?.ids[0]).toMatchObject({ id: 'S1', source: 0 });
    const outside = await verify({ ...VERIFY, mode: 'answer_only', response: `Thus: ${ROLLOUT.response}` });
    expect(outside.finding_counts.text_outside_answer).toBe(1);
    expect(
      await wrongFields(await send(post('/v1/verify', { ...VERIFY, grammar: 'html', mode: 'x', answer: 1 }))),
    ).toEqual(['grammar', 'answer', 'mode']);
  });
});

describe('POST /v1/score refuses', () => {
  const at = async (changes: Record<string, unknown>) =>
    wrongFields(await send(post('/v1/score', { ...ROLLOUT, ...changes })));

  it('rubrics that cannot be judged', async () => {
    expect(await at({ positive_rubrics: [], negative_rubrics: [] })).toEqual(['positive_rubrics']);
    expect(await at({ positive_rubrics: [{ description: 'x', weight: 0 }], negative_rubrics: [] })).toEqual([
      'positive_rubrics',
    ]);
    expect(
      await at({
        positive_rubrics: [
          '',
          { description: 'x', weight: -1 },
          { description: 'x', weight: '1' },
          { weight: 1 },
          { description: 'x', wieght: 1 },
          null,
        ],
      }),
    ).toEqual([
      'positive_rubrics[0]',
      'positive_rubrics[1].weight',
      'positive_rubrics[2].weight',
      'positive_rubrics[3].description',
      'positive_rubrics[4].wieght',
      'positive_rubrics[5]',
    ]);
    expect(await at({ positive_rubrics: 'x', negative_rubrics: {} })).toEqual(['positive_rubrics', 'negative_rubrics']);
    const body = JSON.stringify({ ...ROLLOUT, negative_rubrics: [{ description: 'x', weight: 12345 }] });
    expect(await wrongFields(await send(post('/v1/score', body.replace('12345', '1e999'))))).toEqual([
      'negative_rubrics[0].weight',
    ]);
    await problemOf(await send(post('/v1/score', body.replace('12345', 'NaN'))), 400, 'body_not_json');
  });

  it('recipes that are none', async () => {
    expect(await at({ recipe: 'refiner' })).toEqual(['recipe']);
    expect(await at({ recipe: 'constructor' })).toEqual(['recipe']);
    expect(await at({ recipe: 7 })).toEqual(['recipe']);
    expect(await at({ recipe: undefined })).toEqual(['recipe']);
    expect(await at({ recipe: { base: '__proto__' } })).toEqual(['recipe.base']);
    const base = 'refiner-rl-balanced';
    expect(await at({ recipe: { base, citation_weight: 2 } })).toEqual(['recipe.citation_weight']);
    expect(await at({ recipe: { base, citation_weight: null, mix: 'sum', gate: true } })).toEqual([
      'recipe.citation_weight',
      'recipe.mix',
      'recipe.gate',
    ]);
    expect(await at({ recipe: { base, non_stop_penalty: { enabled: true } } })).toEqual([
      'recipe.non_stop_penalty.value',
    ]);
    expect((await at({ recipe: { family: 'refiner' } })).length).toBeGreaterThan(10);
  });

  it('a penalty for the finish reason without a finish reason', async () => {
    const recipe = { base: 'refiner-rl-balanced', non_stop_penalty: { enabled: true, value: -1 } };
    expect(await at({ recipe })).toEqual(['finish_reason']);
    const penalised = await score({ ...ROLLOUT, recipe, finish_reason: 'length' });
    expect(penalised).toMatchObject({ reward: -1, decided_by: 'non_stop_penalty', judgments: [] });
  });

  it('options off their scale, half a run, and unknown fields', async () => {
    expect(
      await at({ question: '', judgments: 'maybe', replicate: -1, on_judge_failure: 0, finish_reason: 1 }),
    ).toEqual(['question', 'finish_reason', 'judgments', 'replicate', 'on_judge_failure']);
    expect(await at({ replicate: 0.5 })).toEqual(['replicate']);
    const half = ['run.step', 'run.group', 'run.sample'];
    expect(await at({ run: { id: 'r' }, receipt: 1, grammar: 'cite' })).toEqual(['receipt', ...half, 'grammar']);
    expect(await at({ explain: true })).toEqual(['explain']);
  });

  it('a judge that is not configured, naming those that are', async () => {
    const reply = await send(post('/v1/score', { ...ROLLOUT, judge: 'gpt-9' }));
    const problem = await problemOf(reply, 422, 'judge_unknown');
    expect(problem.errors).toEqual([{ path: 'judge', message: 'expected one of lexical' }]);
  });
});
