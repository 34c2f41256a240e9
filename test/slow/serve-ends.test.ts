/**
 * How `citeward serve` ends and begins again: a signal lets requests end, a kill leaves no process behind, data stays
 * closed to other users, and a damaged file is refused.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, vi } from 'vitest';
import { jsonLines, root, spawnCiteward } from '../e2e/processes.ts';
import { EXAMPLE, ended, score, startServe as serve, serverFolder } from '../e2e/serve-process.ts';

const { state } = serverFolder();

it.each(['1', '3'])(
  'lets a running request end when it is stopped, and takes no other: %s processes',
  async (processes) => {
    const judge = await startSlowJudge();
    const backends = {
      backends: [{ name: 'slow', kind: 'vllm', base_url: judge.url, model: 'm', slots: 8, context_tokens: 8_192 }],
    };
    const BACKENDS = JSON.stringify({ ...backends, default_judge: 'slow' });
    const { url, child } = await serve('--state', state(), '--processes', processes, '--var', `BACKENDS=${BACKENDS}`);
    const reply = score(url, EXAMPLE);
    await judge.asked;
    child.kill('SIGTERM');
    const other = () => fetch(`${url}/healthz`, { signal: AbortSignal.timeout(500) });
    await vi.waitFor(() => expect(other()).rejects.toThrow(), { timeout: 20_000 });
    judge.answer();
    // The judge answers with an error: what counts is that the reply arrives whole.
    expect(await (await reply).json()).toMatchObject({ reason: expect.any(String) });
    expect(await ended(child)).toBe(0);
    judge.stop();
  },
);

it.each(['1', '3'])('leaves no process behind when it is killed, and starts again: %s processes', async (processes) => {
  const data = state();
  const { child, url } = await serve('--state', data, '--processes', processes);
  const pids = readFileSync(join(data, 'workerd.pid'), 'utf8').split('\n').map(Number);
  expect(pids).toHaveLength(Number(processes));
  child.kill('SIGKILL');
  await ended(child);
  const again = await serve('--state', data);
  expect(pids.filter(isRunning)).toEqual([]);
  await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow(), { timeout: 20_000 });
  expect((await fetch(`${again.url}/healthz`)).status).toBe(200);
});

it.each(['SIGTERM', 'SIGKILL'] as const)('ends when the npx that started it ends: %s', async (signal) => {
  const npx = spawn('npx', ['citeward', 'serve', '--port', '0', '--state', state()], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: npx.stdout }), 'line');
  const url = String(line).split(' ')[2];
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  npx.kill(signal);
  await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow(), { timeout: 20_000 });
});

it('closes its data to other users, and warns about a folder that is open', async () => {
  const data = join(state(), 'deeper');
  const flags = ['--state', data, '--var', 'ALLOW_LEXICAL_JUDGE=true', '--processes', '3'];
  const first = await serve(...flags);
  const recorded = JSON.stringify({ ...JSON.parse(EXAMPLE), run: { id: 'r', step: 0, group: 0, sample: 0 } });
  expect((await score(first.url, recorded)).status).toBe(200);
  const paths = ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })].map((path) => join(data, path));
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
  first.child.kill('SIGTERM');
  await ended(first.child);
  expect(first.log()).not.toContain('other users');

  chmodSync(data, 0o755);
  const second = await serve(...flags);
  const warning = jsonLines(second.log()).find((line) => Reflect.get(Object(line), 'level') === 'warn');
  expect(warning).toMatchObject({ message: expect.stringContaining(`chmod -R go= '${data}'`) });
});

/** Empties a file of which the server knows that it is not new. */
function emptyLater(file: string): void {
  writeFileSync(file, '');
  const later_s = Date.now() / 1000 + 60;
  utimesSync(file, later_s, later_s);
}

it.each([
  ['is empty', 'citeward-D1Object', false, emptyLater],
  ['has damaged pages', 'citeward-RunLedger', true, spoilSecondPage],
] as const)('does not start over a file that %s: %s', async (damage, of, isOfClass, spoil) => {
  const data = state();
  const flags = ['--state', data, '--var', 'ALLOW_LEXICAL_JUDGE=true'];
  const { child, url } = await serve(...flags);
  const recorded = JSON.stringify({ ...JSON.parse(EXAMPLE), run: { id: 'r', step: 0, group: 0, sample: 0 } });
  expect((await score(url, recorded)).status).toBe(200);
  child.kill('SIGTERM');
  await ended(child);
  const objects = join(data, 'objects', of);
  const name = readdirSync(objects).find(
    (file) => file.endsWith('.sqlite') && (file === 'metadata.sqlite') === isOfClass,
  );
  const file = join(objects, name ?? 'none');
  const whole = readFileSync(file);
  spoil(file);
  const refused = await spawnCiteward({ args: ['serve', '--port', '0', ...flags] });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`${file} ${damage}`);
  expect(refused.stderr).toContain('from a copy of the folder');
  writeFileSync(file, whole);
  const again = await serve(...flags);
  expect(await (await fetch(`${again.url}/v1/runs/r`)).json()).toMatchObject({ rollouts: 1 });
});

function spoilSecondPage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4_096, 8_192);
  writeFileSync(file, bytes);
}

/** Whether a process runs; one that has ended may wait for its parent to notice. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !readFileSync(file, 'utf8').includes(') Z ');
}

type SlowJudge = {
  readonly url: string;
  /** Resolves when a request has arrived. */
  readonly asked: Promise<void>;
  /** Answers all requests, those of the future included. */
  answer(): void;
  stop(): void;
};

async function startSlowJudge(): Promise<SlowJudge> {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const server = createServer((_, reply) => {
    asked.resolve();
    void answered.promise.then(() => reply.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked: asked.promise,
    answer: answered.resolve,
    stop: () => server.close(),
  };
}
