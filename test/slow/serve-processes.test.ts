/** `citeward serve --processes N`: all processes are one server, and it ends when one of them ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { favourableCompletion } from '../e2e/favourable-judge.ts';
import { root } from '../e2e/processes.ts';
import { startProbe } from '../e2e/serve-probe.ts';
import { ended, serverFolder, startServe } from '../e2e/serve-process.ts';

const { folder } = serverFolder();

it('processes that answer share a port, and reach KV, R2, D1, the queue and the clock', async () => {
  const probe = await startProbe(3);
  // Processes accept connections as they come, so a burst reaches both that answer.
  const isolates = new Map<string, unknown>();
  while (isolates.size < 2) {
    const replies = await Promise.all(Array.from({ length: 16 }, () => ask(`${probe.url}/stores`)));
    for (const { isolate, text } of replies) isolates.set(isolate, JSON.parse(text));
  }
  const stores = { kv: 'value', missing: null, r2: 'lue', size: 5, sum: 3, started: true };
  expect([...isolates.values()]).toEqual([stores, stores]);
  await probe.stop();
});

const ROLLOUT = {
  recipe: 'refiner-gpt54-instance-rubric',
  judge: 'counted',
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};

it('processes judge, record and stop as one, and their number may change', async () => {
  const judge = await startCountedJudge();
  const state = join(folder, 'one');
  const flags = ['--state', state, '--var', `BACKENDS=${judge.backends}`];
  const first = await startServe(...flags, '--processes', '4');
  const group = (n: number): string =>
    JSON.stringify({
      ...ROLLOUT,
      responses: [1, 2].map((km) => `<answer><snippet id=S1>It is ${km} km long.</snippet></answer>`),
      run: { id: 'together', step: 0, group: n % 4 },
    });
  // Equal groups on connections of their own, so that they reach all processes: each judgment is made once.
  const replies = await Promise.all(Array.from({ length: 24 }, (_, n) => ask(`${first.url}/v1/groups`, group(n))));
  expect(new Set(replies.map((reply) => JSON.stringify(rewardsOf(reply)))).size).toBe(1);
  expect(rewardsOf(replies[0])).toEqual([expect.any(Number), expect.any(Number)]);
  const made = judge.calls();
  expect(made).toBe(4);
  first.child.kill('SIGTERM');
  expect(await ended(first.child)).toBe(0);
  for (const processes of ['1', '2', '3']) {
    const next = await startServe(...flags, '--processes', processes);
    expect(JSON.parse((await ask(`${next.url}/v1/runs/together`)).text)).toMatchObject({ rollouts: 8 });
    const again = await ask(`${next.url}/v1/groups`, group(0));
    expect(rewardsOf(again)).toEqual(rewardsOf(replies[0]));
    next.child.kill('SIGTERM');
    expect(await ended(next.child)).toBe(0);
  }
  expect(judge.calls()).toBe(made);
  judge.stop();
});

it('says so and ends all processes when one ends by itself', async () => {
  const state = join(folder, 'broken');
  const { child, url, log } = await startServe('--state', state, '--processes', '3');
  const pids = readFileSync(join(state, 'workerd.pid'), 'utf8').split('\n').map(Number);
  expect(pids).toHaveLength(3);
  process.kill(pids[1] ?? 0, 'SIGKILL');
  expect(await ended(child)).toBe(1);
  expect(log()).toContain('workerd ended with SIGKILL; its data is kept');
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

function rewardsOf(reply: Reply | undefined): readonly (number | null)[] {
  return groupResponseSchema.parse(JSON.parse(reply?.text ?? '')).rewards;
}

it('starts all processes or none', async () => {
  const state = join(folder, 'few-files');
  const command = [process.execPath, 'cli/main.ts', 'serve', '--port', '0', '--state', state, '--processes', '64'];
  // Enough file descriptors for some of them.
  const child = spawn('sh', ['-c', 'ulimit -n 100 && exec "$@"', 'sh', ...command], { cwd: root });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  expect(await ended(child)).toBe(1);
  expect(log).toContain('workerd could not be started');
  await vi.waitFor(() => expect(running(join(state, 'workerd'))).toEqual([]), { timeout: 20_000 });
});

/** The processes whose command line has a text. */
function running(text: string): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
  return ids.filter((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(text);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

type Reply = { readonly status: number; readonly isolate: string; readonly text: string };

/** Sends a request on a connection of its own: a GET, or a POST with a body. */
async function ask(url: string, body?: string): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(url, { method: body === undefined ? 'GET' : 'POST', headers, agent: false });
  outgoing.end(body);
  const [reply] = await once(outgoing, 'response');
  let text = '';
  for await (const piece of reply.setEncoding('utf8')) text += piece;
  return { status: reply.statusCode, isolate: String(reply.headers['x-isolate']), text };
}

async function startCountedJudge() {
  let calls = 0;
  const server = createServer(async (incoming, reply) => {
    calls++;
    let body = '';
    for await (const piece of incoming.setEncoding('utf8')) body += piece;
    // A call of more than a second is answered by itself, through a function that crosses the processes.
    await pause(1_500);
    reply.writeHead(200, { 'content-type': 'application/json' }).end(favourableCompletion(body, 'm'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const backend = { name: 'counted', kind: 'vllm', base_url: `http://127.0.0.1:${port}/v1`, model: 'm' };
  return {
    backends: JSON.stringify({ backends: [{ ...backend, slots: 64, context_tokens: 8_192 }], default_judge: null }),
    calls: () => calls,
    stop: () => server.close(),
  };
}
