/**
 * The Python client and its trainer adapters. The tests are Python's own (clients/python/tests); they run once, against
 * two Workers, and each is a test here, so that counts are theirs. Listed when this file is collected.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { type Ended, jsonLines, root } from '../e2e/processes.ts';

const START_MS = 60_000;
const RUN_MS = 300_000;
/** Nobody listens on the discard port. */
const CLOSED = 'http://127.0.0.1:9/v1';

async function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CITEWARD_'));
  const child = spawn('python3', [resolve(root, 'clients/python/tests/list_and_run.py'), ...args], {
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
let ended: Ended;

beforeAll(
  async () => {
    const start = async (variables: Readonly<Record<string, string>>): Promise<string> => {
      const worker = await startLocalWorker({ variables, deadline_ms: START_MS });
      workers.push(worker);
      return worker.url;
    };
    const gone = { name: 'gone', kind: 'vllm', base_url: CLOSED, model: 'none', slots: 8, context_tokens: 32_768 };
    const BACKENDS = JSON.stringify({ backends: [gone], default_judge: 'gone' });
    const up = await start({ ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' });
    const down = await start({ ALLOW_ANONYMOUS: 'true', BACKENDS });
    ended = await python([], { CITEWARD_TEST_URL: up, CITEWARD_TEST_DOWN_URL: down });
    for (const line of jsonLines(ended.stdout)) outcomes.set(line['id'], line);
  },
  2 * START_MS + RUN_MS,
);

afterAll(async () => {
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
