/**
 * `/v1/batches` in workerd with its real queue, object, R2 and D1: every custom_id occurs exactly once, and invalid
 * lines are reported by number.
 */
import { describe, expect, it, vi } from 'vitest';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import { endpointWithSecretSchema } from '../../src/wire/webhooks-reply.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, sha256Hex } from './api.ts';
import { batchRequest, ended, get, inputFile, line, outputLines, submit } from './batch-api.ts';
import { sendTo } from './model-server.ts';

describe('a batch', () => {
  it('answers every line once, in the file that its status belongs to', async () => {
    const bad = { ...ROLLOUT, recipe: 'no-such-recipe' };
    const batch = await submit(
      [
        line('good', ROLLOUT),
        '',
        line('bad', bad),
        line('refusal', { ...ROLLOUT, response: 'I would rather not say.' }),
        line('uncited', {
          ...ROLLOUT,
          recipe: { base: ROLLOUT.recipe, citations: 'required' },
          response: '<answer>It is 288 kilometres long.</answer>',
        }),
        line('typo', { ...ROLLOUT, positive_rubric: ['x'] }),
      ].join('\r\n'),
      '/v1/score',
      { metadata: { run: 'a' } },
    );
    expect(batch).toMatchObject({
      object: 'batch',
      status: expect.stringMatching(/validating|in_progress/),
      metadata: { run: 'a' },
    });
    const done = await ended(batch.id);
    expect(done).toMatchObject({
      status: 'completed',
      errors: null,
      request_counts: { total: 5, completed: 3, failed: 2 },
      dead_letters: [],
    });
    const output = await outputLines(done.output_file_id);
    expect(output.map(({ custom_id, response }) => [custom_id, response?.status_code])).toEqual([
      ['good', 200],
      ['refusal', 200],
      ['uncited', 200],
    ]);
    expect(output[0]?.response?.body['reward']).toBeGreaterThan(0);
    expect(output[1]?.response?.body['reward']).toBe(0);
    expect(output[2]?.response?.body).toMatchObject({ reward: 0, finding_counts: { citation_missing: 1 } });
    const errors = await outputLines(done.error_file_id);
    expect(errors.map(({ custom_id, response, error }) => [custom_id, response?.status_code, error?.code])).toEqual([
      ['bad', 422, 'input_invalid'],
      ['typo', 422, 'input_invalid'],
    ]);
    for (const { response } of errors) expect(response?.body).not.toHaveProperty('reward');
    expect(new Set([...output, ...errors].map(({ id }) => id)).size).toBe(5);
  });

  it.each([
    ['/v1/verify', { response: ROLLOUT.response, tool_output: ROLLOUT.tool_output }, 'claims'],
    ['/v1/groups', { ...ROLLOUT, response: undefined, responses: [ROLLOUT.response, 'no'] }, 'advantages'],
  ])('goes to %s', async (endpoint, body, member) => {
    const done = await ended((await submit(line('one', body, endpoint), endpoint)).id);
    expect(done.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    const [only] = await outputLines(done.output_file_id);
    expect(only?.response?.body).toHaveProperty(member);
    expect(done.error_file_id).toBeNull();
  });

  it('is listed, newest first, page by page', async () => {
    const list = async (query: string) => {
      const reply = await send(new Request(`${ORIGIN}/v1/batches?${query}`));
      const page: { data: BatchReply[]; has_more: boolean; last_id: string } = await reply.json();
      return page;
    };
    const first = await list('limit=2');
    expect(first.data).toHaveLength(2);
    expect(first.has_more).toBe(true);
    const second = await list(`limit=2&after=${first.last_id}`);
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const unknown = await send(new Request(`${ORIGIN}/v1/batches?after=batch_0000`));
    await problemOf(unknown, 422, 'input_invalid');
  });

  it('of groups is cut into small chunks', async () => {
    const group = { ...ROLLOUT, response: undefined, responses: [ROLLOUT.response, 'no'] };
    const lines = Array.from({ length: 17 }, (_, n) => line(`g${n}`, group, '/v1/groups'));
    const done = await ended((await submit(lines.join('\n'), '/v1/groups')).id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 17, completed: 17, failed: 0 } });
    expect(done.progress.chunks.total).toBe(3);
  });

  it('is completed also where no line could be scored', async () => {
    const done = await ended((await submit(line('bad', { ...ROLLOUT, recipe: 'no-such-recipe' }))).id);
    expect(done).toMatchObject({
      status: 'completed',
      output_file_id: null,
      error_file_id: expect.any(String),
      request_counts: { total: 1, completed: 0, failed: 1 },
    });
  });
});

const LINE = line('a', ROLLOUT);

describe('a webhook endpoint that a batch names', () => {
  it('is told of the end once, with the batch as it then stands', async () => {
    const sent: string[] = [];
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      sent.push(await new Request(input, { ...init, signal: null }).text());
      return new Response(null, { status: 204 });
    });
    const endpoint = endpointWithSecretSchema.parse(
      await (await send(post('/v1/webhooks', { url: 'https://hooks.example.com/batches' }))).json(),
    );
    const { id } = await submit(line('one', ROLLOUT), '/v1/score', { webhook: endpoint.id });
    const over = await ended(id);
    await vi.waitFor(() => expect(sent).toHaveLength(1), { timeout: 20_000 });
    expect(JSON.parse(sent[0] ?? '')).toMatchObject({
      type: 'batch.completed',
      data: { id, status: 'completed', output_file_id: over.output_file_id, request_counts: over.request_counts },
    });
    vi.restoreAllMocks();
  });

  it('has to be registered', async () => {
    const input_file_id = await inputFile(line('one', ROLLOUT));
    const body = { input_file_id, endpoint: '/v1/score', completion_window: '24h', webhook: 'whe_nobody' };
    const problem = await problemOf(await send(post('/v1/batches', body)), 422, 'input_invalid');
    expect(problem.errors?.map(({ path }) => path)).toEqual(['webhook']);
  });
});

describe('an input file is refused as a whole, by line', () => {
  const cases: [name: string, text: string | Uint8Array, errors: readonly (readonly [string, number | null])[]][] = [
    ['that is empty', '', [['empty_file', null]]],
    ['of blank lines', ' \n\r\n', [['empty_file', null]]],
    [
      'that is not JSONL',
      'custom_id,body\na,b',
      [
        ['invalid_json_line', 1],
        ['invalid_json_line', 2],
      ],
    ],
    ['with a broken line', `${LINE}\n{"custom_id": \n${line('b', ROLLOUT)}`, [['invalid_json_line', 2]]],
    ['with a custom_id twice', `${LINE}\n\n${LINE}`, [['duplicate_custom_id', 3]]],
    ['with mixed endpoints', `${LINE}\n${line('b', {}, '/v1/verify')}`, [['mismatched_endpoint', 2]]],
    ['with a url that is none', line('b', {}, '/v1/chat/completions'), [['invalid_value', 1]]],
    ['without custom_id', '{"method":"POST","url":"/v1/score","body":{}}', [['missing_required_parameter', 1]]],
    ['with a body that is none', line('b', 'text'), [['invalid_value', 1]]],
    ['with another method', LINE.replace('POST', 'GET'), [['invalid_value', 1]]],
    [
      'with lines that are no objects',
      '[]\n7',
      [
        ['invalid_request', 1],
        ['invalid_request', 2],
      ],
    ],
    ['that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), [['invalid_encoding', 1]]],
  ];
  it.each(cases)('%s', async (_name, text, errors) => {
    const done = await ended((await submit(text)).id);
    expect(done.status).toBe('failed');
    expect(done).toMatchObject({
      output_file_id: null,
      error_file_id: null,
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    expect(done.errors?.data.map((error) => [error.code, error.line])).toEqual(errors);
  });

  it('but not for a byte-order mark, CRLF, or a line of 5 MB', async () => {
    const long = {
      ...ROLLOUT,
      tool_output: `${ROLLOUT.tool_output}<snippet id=S3>${'x '.repeat(2_600_000)}</snippet>`,
    };
    const text = `\ufeff${LINE}\r\n${line('long', long)}\r\n${line('b', ROLLOUT)}\r\n`;
    const done = await ended((await submit(text)).id);
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 3, completed: 3, failed: 0 } });
    expect(done.progress.chunks.total).toBe(3);
  });
});

describe('POST /v1/batches refuses', () => {
  it('a key without the scope of the lines, before anything is stored', async () => {
    const key = { sha256: await sha256Hex('k'), scopes: ['batch', 'verify'] };
    const variables = { API_KEYS: JSON.stringify({ sender: key }) };
    const create = async (endpoint: string) => {
      const request = batchRequest(await inputFile(line('a', ROLLOUT, endpoint)), endpoint);
      request.headers.set('authorization', 'Bearer k');
      return sendTo(request, variables);
    };
    for (const [endpoint, scope] of [
      ['/v1/score', 'score'],
      ['/v1/groups', 'score'],
      ['/v1/refine', 'generate'],
    ] as const) {
      const { detail } = await problemOf(await create(endpoint), 403, 'scope_missing');
      expect(detail).toContain(endpoint);
      expect(detail).toContain(`"${scope}"`);
    }
    expect((await create('/v1/verify')).status).toBe(200);
  });

  it('what it cannot take on', async () => {
    const good = { input_file_id: 'file-x', endpoint: '/v1/score', completion_window: '24h' };
    await problemOf(await send(post('/v1/batches', good)), 404, 'file_not_found');
    for (const change of [
      { endpoint: '/v1/chat/completions' },
      { completion_window: '2 days' },
      { completion_window: '0h' },
    ]) {
      await problemOf(await send(post('/v1/batches', { ...good, ...change })), 422, 'input_invalid');
    }
    const output = await inputFile('{}', 'batch_output');
    await problemOf(await send(batchRequest(output)), 422, 'input_invalid');
    await problemOf(await get('batch_0000'), 404, 'batch_not_found');
    await problemOf(await get('something'), 404, 'batch_not_found');
  });

  it('to cancel what is over', async () => {
    const batch = await submit(LINE);
    await ended(batch.id);
    await problemOf(await send(post(`/v1/batches/${batch.id}/cancel`, {})), 409, 'batch_is_over');
  });
});
