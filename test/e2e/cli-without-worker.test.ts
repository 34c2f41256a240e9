/** What the command line does as a process without a Worker. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { stepAdvantages } from '../../lib/advantages.ts';
import { citeward, jsonLines } from './processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe('wrong command lines', () => {
  test.each([
    [['scroe'], 'unknown command "scroe"\nDid you mean score?'],
    [['score'], 'no input'],
    [['score', 'nowhere.jsonl'], 'no such file: nowhere.jsonl'],
    [['score', EXAMPLES, '--recpie', 'x'], 'Did you mean --recipe?'],
    [['score', EXAMPLES, '--recipe', 'x'], '--recipe: unknown recipe; expected one of refiner-gpt54-instance-rubric'],
    [['score', EXAMPLES, '--set', 'citation_wieght=1'], 'Did you mean citation_weight?'],
    [['score', EXAMPLES, '--judge', 'gpt'], 'Give a model with --judge-url'],
    [['score', EXAMPLES, '--judgments', 'only'], 'stores no judgments'],
    [['score', EXAMPLES, '--store-reasons'], 'only a Worker keeps reasons'],
    [['score', EXAMPLES, '--credit', 'claims'], '--credit needs --json'],
    [['score', EXAMPLES, '--json', '--credit', 'claim'], 'Did you mean claims?'],
    [['score', EXAMPLES, '--url', 'localhost'], 'expected http://'],
    [['verify', EXAMPLES, '--evidence', 'lexicl'], 'Did you mean lexical?'],
    [['keys', 'add'], 'expected one name'],
    [[], 'Usage: npx citeward COMMAND'],
  ])('%j', async (args, said) => {
    const ended = await citeward(...args);
    expect(ended.stderr).toContain(said);
    expect(ended.stdout).toBe('');
    expect(ended.code).toBe(2);
  });

  test('no Worker there', async () => {
    const ended = await citeward('score', EXAMPLES, '--url', 'http://127.0.0.1:9');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('no Worker at http://127.0.0.1:9');
  });

  test('--wait waits until a Worker answers, and says so', async () => {
    const none = createServer().listen(0, '127.0.0.1');
    await once(none, 'listening');
    const { port } = z.object({ port: z.int() }).parse(none.address());
    await new Promise((closed) => none.close(closed));
    const url = `http://127.0.0.1:${port}`;
    const waiting = citeward('runs', 'list', '--url', url, '--wait');
    await new Promise((elapsed) => setTimeout(elapsed, 500));
    const worker = createServer(({ url: path }, response) => {
      const body = path === '/healthz' ? { status: 'ok' } : { runs: [], deleting: [], next: null };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    worker.listen(port, '127.0.0.1');
    const ended = await waiting;
    worker.close();
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`no Worker at ${url} yet: connection ref`),
    });
  });

  test('--wait without a URL is refused', async () => {
    const ended = await citeward('score', EXAMPLES, '--wait');
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--wait is for a Worker') });
  });
});

test('--credit adds the reward as shares of claims', async () => {
  const scored = await citeward('score', EXAMPLES, '--json', '--credit', 'claims');
  expect(scored.code).toBe(0);
  const rows = jsonLines(scored.stdout).map((line) => creditedSchema.parse(line));
  expect(rows.length).toBeGreaterThan(5);
  for (const { reward, credit } of rows) {
    expect(credit.entries.reduce((sum, { share }) => sum + share, 0)).toBe(reward);
  }
  expect(rows.some(({ credit }) => credit.entries.some(({ of, share }) => of === 'claim' && share > 0))).toBe(true);
});

const creditedSchema = z.object({
  reward: z.number(),
  credit: z.object({ entries: z.array(z.object({ of: z.string(), share: z.number() })) }),
});

test('input of another kind ends after five bad lines, and empty input is an error', async () => {
  const [lines, empty] = [join(directory, 'prose.jsonl'), join(directory, 'empty.jsonl')];
  await writeFile(lines, 'no row\n'.repeat(40));
  await writeFile(empty, '');
  const ended = await citeward('score', lines);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expect(ended.stderr.split('\n').filter((line) => line.startsWith('line '))).toHaveLength(5);
  expect(ended.stderr).toContain('the first 5 lines are all bad, so the others were not read');
  for (const args of [['verify'], ['judge', 'check'], ['advantages', '--rule', 'trl']]) {
    const nothing = await citeward(...args, empty);
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('the input has no rows')]);
  }
});

test('misspelt fields and recipes of rows name the ones that were probably meant', async () => {
  const file = join(directory, 'misspelt.jsonl');
  const row = { question: 'q', tool_output: '<snippet id=S1>a</snippet>', response: 'a', positive_rubrics: ['c'] };
  const { question, ...rest } = row;
  await writeFile(
    file,
    [
      { ...rest, qestion: question },
      { ...row, recipe: 'refiner-rl-balancd' },
    ]
      .map(textOf)
      .join('\n'),
  );
  for (const args of [['score'], ['judge', 'check']]) {
    const ended = await citeward(...args, file);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('line 1: qestion: unknown field; did you mean question?');
    expect(ended.stderr).toContain('line 2: recipe: unknown recipe; did you mean refiner-rl-balanced?');
  }
});

test('help and version go to standard output', async () => {
  for (const args of [['--help'], ['help', 'score'], ['verify', '--help'], ['--version']]) {
    const ended = await citeward(...args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toBe('');
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  }
});

const textOf = (value: unknown): string => JSON.stringify(value);

describe('advantages of steps', () => {
  const member = (step: number, group: string, rubric: number | null, citation = 0) =>
    JSON.stringify({ step, group, components: rubric === null ? null : { rubric, citation } });

  test('are those of the library, step by step, and unscored samples are masked', async () => {
    const file = join(directory, 'steps.jsonl');
    const rows = [
      ...[member(0, 'a', 6, 0), member(0, 'b', 4, 2), member(0, 'a', 2, 2), member(0, 'b', null), member(0, 'b', 1, 1)],
      ...[member(1, 'a', 1, 1), member(1, 'a', 1, 1)],
    ];
    await writeFile(file, rows.join('\n'));
    const ended = await citeward('advantages', file, '--rule', '{"preset": "trl-gdpo", "weights": {"citation": 0.5}}');
    expect(ended.code, ended.stderr).toBe(0);
    const lines = jsonLines(ended.stdout);
    const pair = (rubric: number, citation: number) => ({ components: { rubric, citation } });
    const groups = [
      [pair(6, 0), pair(2, 2)],
      [pair(4, 2), { components: null }, pair(1, 1)],
    ];
    const step = stepAdvantages(groups, { preset: 'trl-gdpo', weights: { citation: 0.5 } });
    const own = step.groups.flatMap(({ members }) => members);
    expect(
      lines.slice(0, 5).map(({ advantage, masked, weighted_sum }) => ({ advantage, masked, weighted_sum })),
    ).toEqual(own);
    expect(lines.slice(0, 2)).toMatchObject([
      { step: 0, group: 'a', sample: 0 },
      { step: 0, group: 'a', sample: 1 },
    ]);
    expect(lines.slice(5)).toMatchObject([
      { step: 1, advantage: 0 },
      { step: 1, advantage: 0 },
    ]);
    expect(ended.stderr).toContain('7 samples in 3 groups of 2 steps · 1 group without signal · 1 sample masked');
  });

  test('name what is wrong', async () => {
    const file = join(directory, 'wrong.jsonl');
    await writeFile(file, [member(0, 'a', 6), member(1, 'a', 6), member(0, 'a', 6)].join('\n'));
    const mixed = await citeward('advantages', file, '--rule', 'trl-gdpo');
    expect([mixed.code, mixed.stderr]).toEqual([1, expect.stringContaining('step 0: its rows are not consecutive')]);
    const verl = await citeward('advantages', file, '--rule', 'verl-gdpo');
    expect([verl.code, verl.stderr]).toEqual([1, expect.stringContaining('response_tokens: required by verl-gdpo')]);
    for (const [args, words] of [
      [[file], 'no rule'],
      [[file, '--rule', 'gdpo'], 'Expected one of trl-gdpo'],
      [[file, '--rule', 'trl', '--set', 'citation_weight=0.5'], '--set needs --file'],
    ] as const) {
      const ended = await citeward('advantages', ...args);
      expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(words)]);
    }
  });
});

test.each(['score', 'verify'])('%s --offsets codepoints gives the offsets of a Python string', async (command) => {
  const file = join(directory, 'emoji.jsonl');
  const row = {
    question: 'How long?',
    tool_output: '<snippet id=S1>The Aare is 288 km long.</snippet>',
    response: '😀<answer><snippet id=S1>288 km.</snippet></answer>',
    positive_rubrics: ['States the length'],
    offsets: 'utf8',
  };
  await writeFile(file, JSON.stringify(row));
  const span = async (...flags: string[]) => {
    const [line] = jsonLines((await citeward(command, file, '--json', ...flags)).stdout);
    return Object(line).claims[0].span.start;
  };
  const start = '😀<answer><snippet id=S1>'.length;
  expect([await span(), await span('--offsets', 'codepoints')]).toEqual([start + 2, start - 1]);
});
