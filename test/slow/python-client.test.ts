/**
 * The Python client and its trainer adapters. The tests are Python's own (clients/python/tests); they run once, against
 * two Workers, and each is a test here, so that counts are theirs. Listed when this file is collected.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { favourableCompletion } from '../e2e/favourable-judge.ts';
import { type Ended, jsonLines, root } from '../e2e/processes.ts';

const START_MS = 60_000;
const RUN_MS = 300_000;
/** Nobody listens on the discard port. */
const CLOSED = 'http://127.0.0.1:9/v1';
const SLOW_MODEL = 'slow';
const SLOW_MS = 3_000;
/** The interpreter; one with torch also tests that rewards become float tensors. */
const PYTHON = process.env['CITEWARD_TEST_PYTHON'] ?? 'python3';

async function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CITEWARD_'));
  const child = spawn(PYTHON, [resolve(root, 'clients/python/tests/list_and_run.py'), ...args], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { code: child.exitCode, stdout, stderr };
}

async function listTests(): Promise<string[]> {
  const listed = await python(['--list']);
  if (listed.code !== 0) throw new Error(`the Python tests cannot be listed:\n${listed.stderr}`);
  const ids: unknown = JSON.parse(listed.stdout);
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) throw new TypeError('expected a list of ids');
  return ids;
}

const ids = await listTests();
const outcomes = new Map<unknown, Readonly<Record<string, unknown>>>();
const workers: LocalWorker[] = [];
let slowJudge: Server | undefined;
let ended: Ended;

beforeAll(
  async () => {
    const start = async (variables: Readonly<Record<string, string>>): Promise<string> => {
      const worker = await startLocalWorker({ variables, deadline_ms: START_MS });
      workers.push(worker);
      return worker.url;
    };
    const gone = { name: 'gone', kind: 'vllm', base_url: CLOSED, model: 'none', slots: 8, context_tokens: 32_768 };
    const slow = { ...gone, name: 'slow', base_url: await startSlowJudge(), model: SLOW_MODEL };
    const BACKENDS = JSON.stringify({ backends: [gone, slow], default_judge: 'gone' });
    const up = await start({ ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' });
    const down = await start({ ALLOW_ANONYMOUS: 'true', BACKENDS });
    ended = await python([], { CITEWARD_TEST_URL: up, CITEWARD_TEST_DOWN_URL: down });
    for (const line of jsonLines(ended.stdout)) outcomes.set(line['id'], line);
  },
  2 * START_MS + RUN_MS,
);

/** Starts a judge that answers after several attempts of a client have timed out. Returns its base URL. */
async function startSlowJudge(): Promise<string> {
  slowJudge = createServer(async (request, response) => {
    const asked = await text(request);
    await pause(SLOW_MS);
    response.writeHead(200, { 'content-type': 'application/json' }).end(favourableCompletion(asked, SLOW_MODEL));
  }).listen(0, '127.0.0.1');
  await once(slowJudge, 'listening');
  const address = slowJudge.address();
  if (typeof address !== 'object' || address === null) throw new Error('the judge has no port');
  return `http://127.0.0.1:${address.port}/v1`;
}

afterAll(async () => {
  slowJudge?.closeAllConnections();
  slowJudge?.close();
  await Promise.all(workers.map((worker) => worker.stop()));
});

describe('Python', () => {
  test.each(ids)('%s', (id) => {
    expect(outcomes.get(id), ended.stderr).toMatchObject({ outcome: 'passed', detail: '' });
  });

  test('every test that ran was listed, and the run says so', () => {
    expect([...outcomes.keys()].sort()).toEqual([...ids].sort());
    expect(ids.length).toBeGreaterThan(90);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
  });
});
