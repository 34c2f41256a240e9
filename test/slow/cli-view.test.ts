/** `citeward view FILE` as a process: the file's answers are in the dashboard of a Worker that ends with the command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { favourableCompletion } from '../e2e/favourable-judge.ts';
import { BUNDLED_CLI, root, spawnCiteward } from '../e2e/processes.ts';

let folder: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'citeward-view-test-'));
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

type View = {
  readonly address: URL;
  /** Kills it, so that it cannot remove its data. */
  readonly kill: () => Promise<void>;
  /** Ends it as Ctrl-C does, and checks that it leaves no data. */
  readonly end: () => Promise<void>;
};

/** Shows a file. @returns the address that it prints, once there is something to see. */
async function view(...args: readonly string[]): Promise<View> {
  return viewIn(mkdtempSync(join(folder, 'tmp-')), ...args);
}

async function viewIn(temporary: string, ...args: readonly string[]): Promise<View> {
  const child = spawn(process.execPath, [resolve(root, BUNDLED_CLI), 'view', ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const lines = createInterface({ input: child.stdout });
  const address = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    once(child, 'exit').then(() => ''),
  ]);
  if (!URL.canParse(address)) throw new Error(`citeward view showed nothing: ${address}\n${log}`);
  return {
    address: new URL(address),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async end() {
      child.kill('SIGINT');
      const [code] = await once(child, 'exit');
      expect(code, log).toBe(130);
      expect(readdirSync(temporary).filter((name) => name.startsWith('citeward-'))).toEqual([]);
    },
  };
}

type Shown = { readonly rollouts: readonly Readonly<Record<string, unknown>>[] };

async function rollouts(address: URL, run: string, step: number): Promise<Shown['rollouts']> {
  const reply = await fetch(new URL(`/v1/runs/${run}/rollouts?step=${step}&detail=true&limit=20`, address));
  const shown: Shown = await reply.json();
  return shown.rollouts;
}

const rows = readFileSync(resolve(root, 'examples/rollouts.jsonl'), 'utf8')
  .split('\n')
  .slice(0, 3)
  .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));

test('shows the scored rows of a file, then its export, and leaves nothing behind', async () => {
  const file = join(folder, 'my results.v2.jsonl');
  writeFileSync(file, [...rows, rows[0]].map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { address, end } = await view(file, '--set', 'citation_weight=0.25');
  expect(address.hash).toBe('#/runs/my-results/0');
  expect(await (await fetch(address)).text()).toContain('<title>');
  await expect.poll(async () => (await rollouts(address, 'my-results', 0)).length, { timeout: 60_000 }).toBe(4);
  const shown = await rollouts(address, 'my-results', 0);
  const text = { response: rows[0]?.['response'] };
  expect(shown[0]).toMatchObject({ group: '0', sample: '0', reward: expect.any(Number), detail: { rollout: text } });
  expect(shown.map(({ group, sample }) => [group, sample])).toEqual([
    ['0', '0'],
    ['0', '1'],
    ['1', '0'],
    ['2', '0'],
  ]);
  const exported = join(folder, 'run.jsonl');
  writeFileSync(exported, await (await fetch(new URL('/v1/runs/my-results/export', address))).text());
  const report = ['runs', 'report', '--markdown'];
  const [ofWorker, ofFile, page] = [
    await spawnCiteward({ args: [...report, 'my-results', '--url', address.origin] }),
    await spawnCiteward({ args: [...report, '--file', exported] }),
    await spawnCiteward({ args: ['runs', 'report', '--file', exported, '--out', join(folder, 'report')] }),
  ];
  expect(ofWorker.stdout).toContain('### Run `my-results`');
  expect(ofFile.stdout, ofFile.stderr).toBe(ofWorker.stdout);
  expect(page.code, page.stderr).toBe(0);
  const html = readFileSync(join(folder, 'report', 'index.html'), 'utf8');
  expect(html).toContain('Run my-results');
  expect(html).toContain('The run does not keep the text.');
  await end();

  const again = await view(exported);
  expect(again.address.hash).toBe('#/runs/my-results');
  const imported = await rollouts(again.address, 'my-results', 0);
  expect(imported.map(({ reward }) => reward)).toEqual(shown.map(({ reward }) => reward));
  await again.end();
});

test('what a killed command has left is removed by the next one', async () => {
  const temporary = mkdtempSync(join(folder, 'tmp-'));
  const left = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('citeward-'));
  const [killed, running] = [
    await viewIn(temporary, 'examples/baikal.jsonl'),
    await viewIn(temporary, 'examples/baikal.jsonl'),
  ];
  expect(left()).toHaveLength(2);
  await killed.kill();
  const next = await viewIn(temporary, 'examples/baikal.jsonl');
  expect(left()).toHaveLength(2);
  expect((await fetch(running.address)).status).toBe(200);
  await running.kill();
  await next.kill();
});

test('a row with a step is shown in its step, and the address is that of the run', async () => {
  const file = join(folder, 'steps.jsonl');
  const placed = rows.map((row, step) => ({ ...row, run: { id: 'other', step: step + 4, group: 'g', sample: 0 } }));
  writeFileSync(file, placed.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const { address, end } = await view(file);
  expect(address.hash).toBe('#/runs/steps');
  await expect.poll(async () => (await rollouts(address, 'steps', 6)).length, { timeout: 60_000 }).toBe(1);
  await end();
});

test('the results of a batch are shown as they are, with the answers of the rows that were scored', async () => {
  const results = join(folder, 'scores.jsonl');
  const output = ['--output', results, '--errors', join(folder, 'errors.jsonl')];
  const scored = await spawnCiteward({ args: ['batch', 'run', 'examples/rollouts.jsonl', ...output] });
  expect(scored.code, scored.stderr).toBe(0);
  const { address, end } = await view(results, '--rows', 'examples/rollouts.jsonl');
  const [page, kind, ...files] = address.hash.replace('#/', '').split('/');
  expect([page, kind, files.length]).toEqual(['batches', 'results', 2]);
  const [shown, requests] = await Promise.all(
    files.map(async (id) => (await fetch(new URL(`/v1/files/${id}/content`, address))).text()),
  );
  expect(shown).toBe(readFileSync(results, 'utf8'));
  expect(requests).toContain('"custom_id":"good-answer"');
  await end();
});

test('the model of --judge-url judges, with the key of the environment', async () => {
  const keys = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    keys.add(request.headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' });
    const models = { object: 'list', data: [{ id: 'org/judge', object: 'model', max_model_len: 32_768 }] };
    response.end(body === '' ? JSON.stringify(models) : favourableCompletion(body, 'org/judge'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const [bound, file] = [server.address(), join(folder, 'judged.jsonl')];
  const url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/v1`;
  writeFileSync(file, `${JSON.stringify(rows[0])}\n`);
  try {
    vi.stubEnv('VLLM_API_KEY', 'sesame');
    const { address, end } = await view(file, '--judge-url', url, '--judge-model', 'org/judge');
    const [shown] = await rollouts(address, 'judged', 0);
    expect(shown).toMatchObject({ reward: expect.any(Number), detail: { report: { judgments: expect.any(Array) } } });
    expect(JSON.stringify(shown)).toContain('"model":"org/judge"');
    expect([...keys]).toEqual(['Bearer sesame']);
    await end();
  } finally {
    vi.unstubAllEnvs();
    server.close();
  }
  const both = ['--judge-url', url, '--judge-model', 'org/judge', '--var', 'BACKENDS={}'];
  const refused = await spawnCiteward({ args: ['view', file, ...both] });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('exclude each other')]);
});

test('a promptfoo result is scored row by row; rows without criteria are paid for their citations', async () => {
  const file = join(folder, 'results.json');
  const result = {
    ...{ promptIdx: 0, testIdx: 0, provider: { id: 'p' }, prompt: { raw: 'How long is the Aare?' } },
    vars: { tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>' },
    response: { output: '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>' },
  };
  const failed = { ...result, response: { error: 'timeout' } };
  writeFileSync(file, JSON.stringify({ evalId: 'e', results: { version: 3, results: [result, failed] } }, null, 2));
  const { address, end } = await view(file);
  expect(address.hash).toBe('#/runs/results/0');
  const shown = await rollouts(address, 'results', 0);
  expect(shown).toMatchObject([{ reward: 10, detail: { rollout: { question: 'How long is the Aare?' } } }]);
  await end();
});

test.each([
  [['view', 'test'], 2, 'test is a folder'],
  [['runs', 'report', '--file', 'test', '--markdown'], 2, 'test is a folder'],
  [['view', 'dashboard/index.html'], 2, 'dashboard/index.html is a page, not data'],
  [['view', 'examples/rollouts.jsonl', '--rows', 'examples/rollouts.jsonl'], 2, '--rows goes with the results'],
  [['runs', 'report', '--file', 'examples/rollouts.jsonl', '--markdown'], 2, 'is no exported run'],
  [['view', 'missing.jsonl'], 2, 'no such file: missing.jsonl'],
  [['view'], 2, 'no input: give a file'],
  [['view', 'package.json'], 1, 'no row was scored, so there is nothing to show'],
])('citeward %j ends with %i and says why', async (args, code, message) => {
  const ended = await spawnCiteward({ args });
  expect([ended.code, ended.stdout]).toEqual([code, '']);
  expect(ended.stderr).toContain(message);
});
