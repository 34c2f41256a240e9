/** `citeward batch` as a process: against a Worker, and without one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { batchSchema } from '../../src/wire/batches/batch.ts';
import { citeward, jsonLines, root, runCiteward, runScript } from '../e2e/processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const START_MS = 60_000;

let worker: LocalWorker;
let directory: string;
const at = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
  worker = await startLocalWorker({
    variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
    deadline_ms: START_MS,
  });
});

afterAll(async () => {
  await worker?.stop();
  await rm(directory, { recursive: true, force: true });
});

type Row = Readonly<Record<string, unknown>>;
type ResultLine = {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Row } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

async function examples(): Promise<Row[]> {
  return jsonLines(await readFile(resolve(root, EXAMPLES), 'utf8'));
}

/** Many different rollouts: copies of the examples, each with its own question. */
async function manyRows(count: number): Promise<Row[]> {
  const rows = await examples();
  return Array.from({ length: count }, (_, number) => {
    const row = rows[number % rows.length];
    return { ...row, id: `row-${number}`, question: `${String(row?.['question'])} (${number})` };
  });
}

async function write(name: string, lines: readonly unknown[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(at(name), `${text}\n`);
  return at(name);
}

async function results(path: string): Promise<ResultLine[]> {
  const text = await readFile(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line): ResultLine => JSON.parse(line));
}

/** A result without what differs between runs: ids, times, the origin of a judgment, and texts. */
function timeless({ custom_id, response, error }: ResultLine): unknown {
  const { request_id: _id, type: _type, title: _title, detail: _detail, ...body } = response?.body ?? {};
  return { custom_id, status: response?.status_code, code: error?.code, body: withoutJudgments(body) };
}

function withoutJudgments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutJudgments);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'judgments');
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutJudgments(member)]));
}

const idOf = (stdout: string): string => {
  expect(stdout).toMatch(/^batch_[0-9a-z]+\n$/);
  return stdout.trim();
};

const batch = (...args: string[]) => citeward('batch', ...args);
const there = (...args: string[]) => batch(...args, '--url', worker.url);

async function batchesListed(): Promise<number> {
  return jsonLines((await there('list', '--json', '--limit', '1000')).stdout).length;
}

const envelope = (custom_id: string, body: unknown, url = '/v1/score') => ({ custom_id, method: 'POST', url, body });

describe('from submitting to fetching', () => {
  test('rows: submit, wait, status, list, fetch; every line once and in order', async () => {
    const submitted = await there('submit', EXAMPLES, '--metadata', 'run=a', '--set', 'citation_weight=0.3');
    expect(submitted.code).toBe(0);
    const id = idOf(submitted.stdout);
    expect(submitted.stderr).toContain('19 requests · 1 chunk · 0.1 MB · /v1/score');
    expect(submitted.stderr).toContain(`npx citeward batch wait ${id} --url ${worker.url}`);

    const waited = await there('wait', id);
    expect(waited).toMatchObject({ code: 0, stdout: '' });
    expect(waited.stderr).toMatch(new RegExp(`${id}: completed · 19 lines · 19 done`));

    const status = await there('status', id);
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(status.stdout).toMatch(/status +completed/);
    expect(status.stdout).toMatch(/metadata +run=a/);
    const described = batchSchema.parse(JSON.parse((await there('status', id, '--json')).stdout));
    expect(described.request_counts).toEqual({ total: 19, completed: 19, failed: 0 });
    expect((await there('list')).stdout).toMatch(new RegExp(`${id} +completed +/v1/score .* 19/19 +0 +run=a`));

    const output = at('rows.jsonl');
    const fetched = await there('fetch', id, '--output', output);
    expect(fetched).toMatchObject({ code: 0, stdout: '' });
    expect(fetched.stderr).toMatch(/19 lines · 19 done · mean reward \d\.\d{3}\n$/);
    const lines = await results(output);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual((await examples()).map(({ id: row }) => row));
    const alone = await citeward('score', EXAMPLES, '--json', '--set', 'citation_weight=0.3');
    expect(lines.map(({ response }) => response?.body['reward'])).toEqual(
      jsonLines(alone.stdout).map(({ reward }) => reward),
    );
    expect((await readdir(directory)).filter((name) => name.startsWith('rows.'))).toEqual(['rows.jsonl']);

    const again = await there('fetch', id, '--output', output);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('exists already');
    await writeFile(at('rows.errors.jsonl'), 'of another run');
    expect((await there('fetch', id, '--output', output, '--force')).code).toBe(0);
    expect((await readdir(directory)).filter((name) => name.startsWith('rows.'))).toEqual(['rows.jsonl']);
  });

  test('uploads a file larger than one request in parts, also from standard input', async () => {
    const rows = await manyRows(400);
    const path = await write('large.jsonl', rows);
    expect((await stat(path)).size).toBeGreaterThan(2_000_000);
    const ended = await runCiteward({
      args: ['batch', 'submit', '-', '--url', worker.url, '--part-size', '1', '--fetch', '--output', at('parts.jsonl')],
      stdin: [await readFile(path)],
    });
    expect(ended.stderr).toMatch(/400 requests · 4 chunks · .* · in [3-9] parts/);
    expect(ended.code).toBe(0);
    const lines = await results(at('parts.jsonl'));
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(rows.map(({ id }) => id));
  });

  test('waits for a batch again after Ctrl-C, and cancels it', async () => {
    const id = idOf((await there('submit', await write('long.jsonl', await manyRows(4_000)))).stdout);
    const waiting = start(['batch', 'wait', id, '--url', worker.url]);
    await waiting.says(/validating|lines/);
    const interrupted = await waiting.stop('SIGINT');
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain(`Wait for it again with: npx citeward batch wait ${id} --url ${worker.url}`);
    expect((await there('fetch', id, '--output', at('early.jsonl'))).stderr).toContain('there are no results yet');

    const cancelled = await there('cancel', id);
    expect(cancelled.code).toBe(0);
    const waited = await there('wait', id);
    expect(waited.code).toBe(1);
    expect(waited.stderr).toContain(`${id}: cancelled`);
    const fetched = await there('fetch', id, '--output', at('cancelled.jsonl'));
    expect(fetched.code).toBe(1);
    expect(fetched.stderr).toMatch(/4,000 lines · .* failed: [\d,]+ batch_cancelled/);
    expect((await there('cancel', id)).code).toBe(0);
  });
});

describe('the same file in this process and in a Worker', () => {
  const sandbox = {
    ...{ question: 'q', response: 'It is \\boxed{x+1}.', reference: '1+x', num_turns: 1, response_tokens: 9 },
    recipe: { base: 'grpo-tcr', math_equivalence: 'symbolic' },
  };

  async function both(name: string, path: string): Promise<{ local: ResultLine[][]; remote: ResultLine[][] }> {
    const local = await batch('run', path, '--output', at(`${name}-here.jsonl`));
    const remote = await there('submit', path, '--fetch', '--output', at(`${name}-there.jsonl`));
    expect(remote.code, remote.stderr).toBe(local.code);
    const read = async (where: string) => {
      const names = await readdir(directory);
      const files = [`${name}-${where}.jsonl`, `${name}-${where}.errors.jsonl`];
      return Promise.all(files.map((file) => (names.includes(file) ? results(at(file)) : [])));
    };
    return { local: await read('here'), remote: await read('there') };
  }

  test('scores and problems: the same lines, in the same files, in the same order', async () => {
    const recipe = 'refiner-gpt54-instance-rubric';
    const rows = (await examples()).map(({ id, note: _note, ...body }) => envelope(String(id), { recipe, ...body }));
    const [{ body }] = [rows[0] ?? envelope('', {})];
    const path = await write('mixed.jsonl', [
      ...rows.slice(0, 10),
      '',
      envelope('unknown recipe', { ...Object(body), recipe: 'x' }),
      envelope('unknown field', { ...Object(body), recpie: 'x' }),
      envelope('unknown judge', { ...Object(body), judge: 'x' }),
      envelope('not stored', { ...Object(body), question: 'Not asked before?', judgments: 'only' }),
      envelope('skipped', { ...Object(body), judgments: 'skip' }),
      envelope('no sandbox', sandbox),
      envelope('no sandbox, null', { ...sandbox, on_judge_failure: 'null' }),
      ...rows.slice(10),
    ]);
    const { local, remote } = await both('mixed', path);
    expect(local.map((lines) => lines.length)).toEqual([rows.length + 2, 5]);
    expect(remote.map((lines) => lines.map(timeless))).toEqual(local.map((lines) => lines.map(timeless)));
  });

  test.each([
    ['/v1/verify', (row: Row) => ({ response: row['response'], tool_output: row['tool_output'] })],
    [
      '/v1/groups',
      ({ id: _id, note: _note, response, reasoning: _reasoning, finish_reason: _finish, ...shared }: Row) => {
        return { ...shared, responses: [response, 'no'], recipe: 'refiner-rl-balanced' };
      },
    ],
  ])('%s', async (url, bodyOf) => {
    const rows = (await examples()).slice(0, 5);
    const name = url.replaceAll('/', '');
    const path = await write(
      `${name}.jsonl`,
      rows.map((row) => envelope(String(row['id']), bodyOf(row), url)),
    );
    const { local, remote } = await both(name, path);
    expect(local.map((lines) => lines.length)).toEqual([5, 0]);
    expect(remote.map((lines) => lines.map(timeless))).toEqual(local.map((lines) => lines.map(timeless)));
  });
});

test('an interrupted local run continues: every line once, in order', async () => {
  const rows = await manyRows(1_500);
  const path = await write('interrupted.jsonl', rows);
  const output = at('resumed.jsonl');
  const running = start(['batch', 'run', path, '--output', output]);
  while (!(await readdir(directory)).includes('resumed.jsonl')) await pause(20);
  const interrupted = await running.stop('SIGINT');
  expect(interrupted.code).toBe(130);
  expect(interrupted.stderr).toMatch(
    /interrupted after [\d,]+ of 1,500 lines\. Continue with the same command and --resume/,
  );
  const before = await results(output);
  expect(before.length).toBeLessThan(1_500);
  await appendFile(output, '{"id":"batch_req_cut');

  const blind = await batch('run', path, '--output', output);
  expect(blind.code).toBe(2);
  const other = await batch('run', path, '--output', output, '--resume', '--set', 'citation_weight=0.9');
  expect(other).toMatchObject({ code: 1 });
  expect(other.stderr).toContain('made with other flags');

  const resumed = await batch('run', path, '--output', output, '--resume');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain(`${before.length.toLocaleString('en-US')} of 1,500 lines have their results`);
  const after = await results(output);
  expect(after.map(({ custom_id }) => custom_id)).toEqual(rows.map(({ id }) => id));
  expect(after.slice(0, before.length)).toEqual(before);
  expect(resumed.stderr).toMatch(/1,500 lines · 1,500 done · mean reward/);
});

describe('invalid files', () => {
  const pieces = ['{"custom_id":"a","method":"POST","url":"/v1/score","body":{}}', '{"custom_id":', '7'];
  const duplicate = pieces[0] ?? '';

  test('are refused by line before anything is sent, with the errors of the Worker', async () => {
    const path = await write('bad.jsonl', [...pieces, '', duplicate]);
    const before = await batchesListed();
    const ended = await there('submit', path);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr.split('\n').filter((line) => line.includes(': line '))).toEqual([
      `${path}: line 2: This line is not parseable as valid JSON.`,
      `${path}: line 3: This line is not an object.`,
      `${path}: line 5: Line 1 has the same custom_id; give each line its own.`,
    ]);
    expect(ended.stderr).toContain('3 bad lines: nothing was done');
    expect(await batchesListed()).toBe(before);
    expect((await batch('run', path, '--output', at('bad-out.jsonl'))).code).toBe(1);
    expect(await readdir(directory)).not.toContain('bad-out.jsonl');
  });

  test('--dry-run prints what would be sent, without a Worker', async () => {
    const ended = await batch('submit', EXAMPLES, '--dry-run');
    expect(ended).toMatchObject({ code: 0, stdout: '', stderr: '19 requests · 1 chunk · 0.1 MB · /v1/score\n' });
  });
});

test('the group lists its commands, suggests near names, and each command has help', async () => {
  const near = await batch('wiat');
  expect(near).toMatchObject({ code: 2, stdout: '' });
  expect(near.stderr).toContain('Did you mean batch wait?');
  expect((await batch()).code).toBe(2);
  for (const args of [
    ['batch', '--help'],
    ['help', 'batch', 'wait'],
    ['batch', 'wait', '--help'],
  ]) {
    const ended = await citeward(...args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain('batch wait');
  }
});

test('the examples in the README of the TypeScript client run', async () => {
  const readme = await readFile(resolve(root, 'clients/typescript/README.md'), 'utf8');
  const score = readme.split("<<'TS'\n")[1]?.split('\nTS\n')[0] ?? '';
  const batch = readme.split('```ts\n')[1]?.split('```')[0] ?? '';
  const code = `{ ${score.replace(/^import .*$/mu, '').replace('http://127.0.0.1:8799', worker.url)} }\n${batch}`;
  // Inside the repository, so that the package finds itself by its name.
  const folder = resolve(root, '.test-results');
  await mkdir(folder, { recursive: true });
  const script = join(folder, `readme-example-${process.pid}.ts`);
  await writeFile(script, code);
  try {
    const ended = await runScript(script, { args: [EXAMPLES], env: { CITEWARD_URL: worker.url } });
    expect(ended.stderr).toBe('');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^reward \d+\.\d\d$/m);
    expect(ended.stdout).toMatch(/^batch_[0-9a-f]+ completed$/m);
  } finally {
    await rm(script, { force: true });
  }
});

type Running = {
  /** Waits until it has said so on standard error. */
  says(what: RegExp): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly stderr: string }>;
};

/** Starts `citeward` without waiting for its end. */
function start(args: readonly string[]): Running {
  const child: ChildProcess = spawn(process.execPath, [resolve(root, 'cli/main.ts'), ...args], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    async says(what) {
      while (!what.test(stderr)) {
        if (child.exitCode !== null) throw new Error(`it ended before it said ${what}: ${stderr}`);
        await pause(20);
      }
    },
    async stop(signal) {
      const ended = once(child, 'close');
      child.kill(signal);
      await ended;
      return { code: child.exitCode, stderr };
    },
  };
}
