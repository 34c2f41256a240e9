/** Ctrl-C in a long command: one line says what is done, what is not, and how to go on; the exit code is 130. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../e2e/processes.ts';

const ROWS = 'examples/rollouts.jsonl';

/** A Worker whose replies begin and never end. */
const begun: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'GET /healthz': (response) => response.end('{"status":"ok"}'),
  'GET /v1/runs/r/alerts': (response) =>
    response.end(JSON.stringify({ run: 'r', window: 4, steps: 7, alerts: [], unwatched: [], judge_checks: [] })),
  'GET /v1/runs/r/export': (response) => response.write(`${JSON.stringify({ end: { v: 1, rollouts: 0 } })}\n`),
  'POST /v1/runs/r/replay': (response) =>
    response.write(`${JSON.stringify({ kind: 'progress', step: 3, rollouts: 12 })}\n`),
  'POST /v1/judgments:export': (response) =>
    response.write(`${JSON.stringify({ missing: { key: 'a'.repeat(64), reason: 'judgment_missing' } })}\n`),
};

let directory: string;
let url: string;
const calls: string[] = [];
const server = createServer((request, response) => {
  const call = `${request.method} ${request.url?.split('?')[0]}`;
  calls.push(call);
  request.resume();
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    begun[call]?.(response);
  });
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true, force: true });
});

type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly said: { stdout: string; stderr: string };
  readonly ended: Promise<unknown>;
};

function start(...args: string[]): Running {
  const child = spawn(process.execPath, [resolve(root, 'cli/main.ts'), ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: 'pipe',
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  return { child, said, ended: once(child, 'close') };
}

async function interrupted({ child, said, ended }: Running): Promise<string> {
  child.kill('SIGINT');
  await ended;
  expect(child.exitCode, said.stderr).toBe(130);
  return said.stderr.trimEnd().split('\n').at(-1) ?? '';
}

describe('Ctrl-C', () => {
  test('after rows of a stream: their results are printed, with those that the table still held', async () => {
    const [first = '', second = ''] = (await readFile(join(root, ROWS), 'utf8')).split('\n');
    for (const flags of [['--json'], []]) {
      const running = start('score', '-', ...flags);
      running.child.stdin.write(`${first}\n${second}\n`);
      const count = (): number => running.said.stdout.trim().split('\n').length;
      if (flags.length > 0) await expect.poll(count, { timeout: 20_000 }).toBe(2);
      else await expect.poll(() => running.said.stderr, { timeout: 20_000 }).toContain('Judge: lexical');
      if (flags.length === 0) await new Promise((done) => setTimeout(done, 3_000));
      const last = await interrupted(running);
      expect(last).toBe(
        'interrupted after 2 rows: their results are printed, those from line 3 on are not. Go on with the rest of the input.',
      );
      // Two results; the table has a line of titles.
      expect(count()).toBe(flags.length > 0 ? 2 : 3);
    }
  });

  test('in a file: names the line to go on from', async () => {
    const file = join(directory, 'many rows.jsonl');
    const [row = ''] = (await readFile(join(root, ROWS), 'utf8')).split('\n');
    await writeFile(file, `${row}\n`.repeat(20_000));
    const running = start('score', file, '--json');
    await expect.poll(() => running.said.stdout.length, { timeout: 20_000 }).toBeGreaterThan(0);
    const last = await interrupted(running);
    const done = running.said.stdout.trim().split('\n').length;
    const next = `tail -n +${done + 1} '${file}' | the same command with - as its input`;
    expect(last.replaceAll(',', '')).toContain(`interrupted after ${done} row`);
    expect(last).toContain(next);
  });

  test('in judge check: no report, and how to get one', async () => {
    const running = start('judge', 'check', '-');
    running.child.stdin.write((await readFile(join(root, ROWS), 'utf8')).split('\n').slice(0, 2).join('\n'));
    running.child.stdin.write('\n');
    await expect.poll(() => running.said.stderr, { timeout: 20_000 }).toContain('Judge: lexical');
    await new Promise((done) => setTimeout(done, 3_000));
    expect(await interrupted(running)).toBe(
      'interrupted after 2 rows, without a report. For a report on these rows add --limit 2.',
    );
  });

  test.each([
    [['runs', 'watch', 'r', '--every', '60'], 'GET /v1/runs/r/alerts', 'ended after 7 steps without an active alert'],
    [['runs', 'export', 'r'], 'GET /v1/runs/r/export', 'interrupted after 0 rollouts: the file lacks its last line'],
    [
      ['replay', 'r', '--set', 'citation_weight=0.5'],
      'POST /v1/runs/r/replay',
      'interrupted after 12 rollouts, without the summary',
    ],
    [['judgments', 'export', '-'], 'POST /v1/judgments:export', 'interrupted after 1 line: the file lacks its last'],
  ])('%j', async (args, call, words) => {
    calls.length = 0;
    // The routes of a Worker are below /v1, and its address is not.
    const running = start(...args, '--url', `${url}/v1`);
    running.child.stdin.end(`${'a'.repeat(64)}\n`);
    await expect.poll(() => calls, { timeout: 20_000 }).toContain(call);
    await new Promise((done) => setTimeout(done, 500));
    const last = await interrupted(running);
    expect(last).toContain(words);
    expect(last).toMatch(/[Rr]un the command again/);
  });
});
