/** Batches through OpenAI's own client, unmodified, against the Worker as a process. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import OpenAI, { NotFoundError, PermissionDeniedError, UnprocessableEntityError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { begin, endpointOf, openAi, requestLines, resultLines, rewardsOnce, untilOver } from './batch-client.ts';
import { root } from './processes.ts';

const KEY = 'k'.repeat(43);
const OTHER_KEY = 'o'.repeat(43);
const OVER_MS = 60_000;

/** A model server that is overloaded, always. */
const overloaded = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(503, { 'content-type': 'application/json' }).end('{}'));
});

let worker: LocalWorker;
let client: OpenAI;
let body: object;

beforeAll(async () => {
  await new Promise<void>((listening) => overloaded.listen(0, '127.0.0.1', listening));
  const address = overloaded.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  const base_url = `http://127.0.0.1:${address.port}/v1`;
  const away = { kind: 'vllm', name: 'away', model: 'm', base_url, slots: 4, context_tokens: 32_768 };
  const keyOf = (key: string, ...scopes: string[]) => ({
    sha256: createHash('sha256').update(key).digest('hex'),
    scopes,
  });
  worker = await startLocalWorker({
    variables: {
      API_KEYS: JSON.stringify({ tester: keyOf(KEY, 'batch', 'score', 'verify'), trainer: keyOf(OTHER_KEY, 'score') }),
      ALLOW_LEXICAL_JUDGE: 'true',
      BACKENDS: JSON.stringify({ backends: [away], default_judge: null }),
    },
    deadline_ms: 60_000,
  });
  client = openAi(worker.url, KEY);
  body = { ...JSON.parse(await readFile(join(root, 'examples/request.json'), 'utf8')), judge: 'lexical' };
});

afterAll(async () => {
  await worker?.stop();
  overloaded.closeAllConnections();
  await new Promise((closed) => overloaded.close(closed));
});

async function upload(text: string): Promise<string> {
  const file = await client.files.create({
    file: await OpenAI.toFile(Buffer.from(text), 'in.jsonl'),
    purpose: 'batch',
  });
  return file.id;
}

/** Returns the error that the client throws. */
async function thrown<E extends Error>(kind: new (...args: never[]) => E, call: PromiseLike<unknown>): Promise<E> {
  try {
    await call;
  } catch (error) {
    expect(error).toBeInstanceOf(kind);
    if (error instanceof kind) return error;
  }
  throw new Error('nothing was thrown');
}

describe("OpenAI's client", () => {
  it('creates a batch, polls it and reads both of its files', async () => {
    const ids = ['one', 'two', 'three'];
    const wrong = JSON.stringify({
      custom_id: 'four',
      method: 'POST',
      url: '/v1/score',
      body: { ...body, recipe: 'x' },
    });
    const input_file_id = await upload(requestLines(ids, body) + wrong);
    const created = await client.batches.create({
      input_file_id,
      endpoint: endpointOf('/v1/score'),
      completion_window: '24h',
      metadata: { step: '7' },
      output_expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    expect(created).toMatchObject({ object: 'batch', input_file_id, metadata: { step: '7' }, output_file_id: null });
    expect((created.expires_at ?? 0) - created.created_at).toBe(24 * 3_600);
    const batch = await untilOver(client, created.id, OVER_MS);
    expect(batch).toMatchObject({ status: 'completed', completed_at: expect.any(Number), errors: null });
    const rewards = await rewardsOnce(client, batch, [...ids, 'four']);
    expect([...rewards.keys()].sort()).toEqual([...ids].sort());
    const [error] = await resultLines(client, batch.error_file_id);
    expect(error).toMatchObject({
      custom_id: 'four',
      response: { status_code: 422 },
      error: { code: 'input_invalid', message: expect.stringContaining('recipe') },
    });
    const output = await client.files.retrieve(batch.output_file_id ?? '');
    expect(output).toMatchObject({ purpose: 'batch_output', filename: `${batch.id}_output.jsonl` });
    // The same as of the request alone.
    const alone = await fetch(`${worker.url}/v1/score`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${OTHER_KEY}` },
      body: JSON.stringify(body),
    });
    expect(await alone.json()).toMatchObject({ reward: rewards.get('one') });
  });

  it('is told by line why a file is refused', async () => {
    const { id } = await begin(client, `${requestLines(['a'], body)}{"custom_id": 1}\n${requestLines(['a'], body)}`);
    const batch = await untilOver(client, id, OVER_MS);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ code, line, param }) => [code, line, param])).toEqual([
      ['invalid_value', 2, 'custom_id'],
      ['duplicate_custom_id', 3, 'custom_id'],
    ]);
  });

  it('cancels a batch whose judge is away: each line says so', async () => {
    const ids = ['a', 'b', 'c'];
    const { id } = await begin(client, requestLines(ids, { ...body, judge: 'away' }));
    await expect
      .poll(async () => client.batches.retrieve(id), { timeout: OVER_MS })
      .toMatchObject({ status: 'in_progress', progress: { chunks: { waiting: 1 } } });
    expect((await client.batches.cancel(id)).status).toMatch(/^cancell(ing|ed)$|^finalizing$/);
    const batch = await untilOver(client, id, OVER_MS);
    expect(batch).toMatchObject({ status: 'cancelled', output_file_id: null });
    expect(await rewardsOnce(client, batch, ids)).toEqual(new Map());
    const error = await resultLines(client, batch.error_file_id);
    expect(error.map((line) => [line.response, line.error?.code])).toEqual(ids.map(() => [null, 'batch_cancelled']));
    expect(await client.batches.cancel(id)).toMatchObject({ status: 'cancelled' });
  });

  it('lists all batches, page by page', async () => {
    const listed: string[] = [];
    for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toHaveLength(3);
    const newest = await client.batches.list({ limit: 1 });
    expect(newest.data.map(({ id }) => id)).toEqual(listed.slice(0, 1));
    expect(newest.hasNextPage()).toBe(true);
    const unknown = await thrown(UnprocessableEntityError, client.batches.list({ after: 'batch_0' }));
    expect(unknown.message).toContain('after');
  });

  it('throws what is wrong as its own errors', async () => {
    const input_file_id = await upload(requestLines(['a'], body));
    const good = { input_file_id, endpoint: endpointOf('/v1/score'), completion_window: '24h' } as const;
    const unknown = await thrown(NotFoundError, client.batches.retrieve('batch_0000'));
    expect(unknown).toMatchObject({ status: 404, code: 'batch_not_found', type: 'invalid_request_error' });
    await thrown(NotFoundError, client.batches.create({ ...good, input_file_id: 'file-unknown' }));
    const endpoint = await thrown(
      UnprocessableEntityError,
      client.batches.create({ ...good, endpoint: '/v1/chat/completions' }),
    );
    expect(endpoint).toMatchObject({ status: 422, code: 'input_invalid', param: 'endpoint' });
    expect(endpoint.message).toContain('/v1/score');
    await thrown(PermissionDeniedError, openAi(worker.url, OTHER_KEY).batches.list());
  });
});
