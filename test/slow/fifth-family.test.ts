/**
 * The fifth recipe family (test/house/fifth-family.ts) through every door of a Worker: score, group, batch, adapter,
 * webhook, recording, summaries, replay, export and import. Only its folder and two lines of the registry differ from
 * this repository.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as localWorkers from '../../scripts/local-worker.ts';
import { begin, openAi, resultLines, untilOver } from '../e2e/batch-client.ts';
import { jsonLines } from '../e2e/processes.ts';
import type { CopiedSources } from '../house/copied-sources.ts';
import { copyWithFifthFamily, ROWS } from '../house/fifth-family.ts';

type Json = Readonly<Record<string, unknown>>;

let copy: CopiedSources;
let worker: localWorkers.LocalWorker;
let server: Server;
let receiver: string;
const received: string[] = [];

beforeAll(async () => {
  copy = copyWithFifthFamily();
  expect(copy.run('node', ['scripts/openapi.ts']).code).toBe(0);
  const built = copy.run('node', ['scripts/build-dashboard.ts']);
  expect(built.code, built.stderr).toBe(0);
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    received.push(body);
    response.writeHead(200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  receiver = `http://127.0.0.1:${address.port}`;
  const { startLocalWorker }: typeof localWorkers = await import(
    pathToFileURL(join(copy.path, 'scripts/local-worker.ts')).href
  );
  const variables = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true', WEBHOOK_ALLOW_LOOPBACK: 'true' };
  worker = await startLocalWorker({ variables, deadline_ms: 120_000 });
}, 300_000);

afterAll(async () => {
  await worker?.stop();
  server?.closeAllConnections();
  server?.close();
  copy?.remove();
});

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${worker.url}${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: reply.status, text: await reply.text() };
}

async function api(method: string, path: string, body?: unknown): Promise<Json> {
  const { status, text } = await call(method, path, body);
  expect(status, text).toBeLessThan(300);
  return JSON.parse(text);
}

const [RIGHT, HALF, WRONG] = ROWS;
const { response: _response, ...SHARED } = RIGHT ?? {};
const GROUP = { ...SHARED, responses: ROWS.map(({ response }) => ({ response })) };

async function until<T>(look: () => T | undefined, deadline_ms = 60_000): Promise<T> {
  const end = performance.now() + deadline_ms;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error('it did not happen in time');
    await pause(100);
  }
}

describe('scoring', () => {
  it('takes its two steps, and stores the judgments of both', async () => {
    const missing = await call('POST', '/v1/score', { ...RIGHT, judgments: 'only' });
    expect(missing.status).toBe(409);
    expect(JSON.parse(missing.text)).toMatchObject({ missing: [{ kind: 'outcome' }] });
    const scored = await api('POST', '/v1/score', RIGHT);
    expect(scored).toMatchObject({ family: 'two-step', status: 'scored', details: { final: false } });
    expect(scored['judgments']).toMatchObject([{ kind: 'outcome' }, { kind: 'rubric', stored: true }]);
    expect((await api('POST', '/v1/score', WRONG))['judgments']).toHaveLength(1);
    expect((await api('POST', '/v1/score', { ...RIGHT, judgments: 'only' }))['reward']).toBe(scored['reward']);
  });

  it('refuses what its recipe lacks, by name', async () => {
    const { question: _question, ...open } = RIGHT ?? {};
    const refused = await call('POST', '/v1/score', open);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('required by recipes of the two-step family');
    const explained = await call('POST', '/v1/score', { ...RIGHT, explain: true });
    expect(explained.text).toContain('recipes of the dr-tulu family have compat modes');
  });

  it('divides within a group, and gives advantages', async () => {
    const group = await api('POST', '/v1/groups', GROUP);
    expect(group['members']).toMatchObject([{ reward: 1 }, { status: 'scored' }, { reward: 0 }]);
    expect(JSON.stringify(group)).toContain('"final":true');
  });

  it('is in the catalogue of recipes and in the document', async () => {
    const { recipes } = await api('GET', '/v1/recipes');
    expect(recipes).toContainEqual(expect.objectContaining({ name: 'two-step', family: 'two-step' }));
    const document = JSON.stringify(await api('GET', '/openapi.json'));
    expect(document).toContain('TwoStepRecipe');
  });

  it("is scored by a trainer's adapter, with a plain label", async () => {
    const slime = { prompt: RIGHT?.question, response: RIGHT?.response, label: RIGHT?.reference };
    const reply = await call('POST', '/v1/adapters/slime?recipe=two-step', slime);
    expect(JSON.parse(reply.text)).toEqual(expect.any(Number));
  });
});

it('is scored in a batch', async () => {
  const client = openAi(worker.url);
  const lines = ROWS.map((body, n) =>
    JSON.stringify({ custom_id: `row-${n}`, method: 'POST', url: '/v1/score', body }),
  ).join('\n');
  const started = await begin(client, `${lines}\n`);
  const batch = await untilOver(client, started.id, 90_000);
  expect(batch.status).toBe('completed');
  const output = await resultLines(client, batch.output_file_id);
  expect(output.map(({ response }) => response?.body.reward)).toEqual(ROWS.map(() => expect.any(Number)));
});

it('is scored through a webhook', async () => {
  const endpoint = await api('POST', '/v1/webhooks', { url: `${receiver}/scores` });
  const body = JSON.stringify(HALF);
  const now = new Date();
  const accepted = await fetch(`${worker.url}/v1/webhooks/${String(endpoint['id'])}/score`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'one',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(String(endpoint['secret'])).sign('one', now, body),
    },
    body,
  });
  expect(accepted.status, await accepted.text()).toBe(202);
  const event = await until(() => received.find((text) => text.includes('two-step')));
  expect(JSON.parse(event)).toMatchObject({ data: { score: { family: 'two-step', status: 'scored' } } });
});

describe('a run', () => {
  const RUN = 'fifth';

  beforeAll(async () => {
    await api('POST', '/v1/groups', { ...GROUP, run: { id: RUN, step: 0, group: 'g' } });
  });

  it('is recorded and summarised by component', async () => {
    const run = await api('GET', `/v1/runs/${RUN}`);
    expect(run).toMatchObject({ family: 'two-step' });
    expect(JSON.stringify(run['steps'])).toContain('two_step_share');
    const rollouts = JSON.stringify(await api('GET', `/v1/runs/${RUN}/rollouts?step=0`));
    expect(rollouts).toContain('two_step_share');
  });

  it('is replayed under another weight, by the Worker and from its file', async () => {
    const replay = await call('POST', `/v1/runs/${RUN}/replay`, {
      recipe: { base: 'two-step', weight: 0.2 },
      samples: true,
    });
    const lines = jsonLines(replay.text);
    const afterOf = (list: readonly Json[]) =>
      list.flatMap((line) => (line['kind'] === 'sample' ? [JSON.stringify(line['after'])] : []));
    expect(afterOf(lines), replay.text).toHaveLength(ROWS.length);
    expect(replay.text).not.toContain('"gaps":["');
    const exported = await call('GET', `/v1/runs/${RUN}/export`);
    const file = join(copy.path, 'run.jsonl');
    writeFileSync(file, exported.text);
    const local = copy.run('node', [
      'cli/main.ts',
      'replay',
      '--file',
      file,
      '--set',
      'weight=0.2',
      '--samples',
      '--json',
    ]);
    expect(local.code, local.stderr).toBe(0);
    expect(afterOf(jsonLines(local.stdout))).toEqual(afterOf(lines));
  });
});

// Last, since it blocks this process for so long that idle connections to the Worker are closed.
it('type-checks in every project', { timeout: 600_000 }, () => {
  const checked = copy.run('node', ['scripts/typecheck.ts']);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
});
