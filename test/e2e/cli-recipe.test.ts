/** `citeward recipe probe` as a process: its table, JSON, exit codes and errors, here and through a Worker. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { MAX_PROBE_ROWS } from '../../src/limits.ts';
import { type ProbeReply, probeReplySchema } from '../../src/wire/probe.ts';
import { citeward, type Ended } from './processes.ts';

const PROBE = ['recipe', 'probe'];
const BALANCED = ['--recipe', 'refiner-rl-balanced', '--set', 'grammar=bracket', '--set', 'citations=required'];
const START_MS = 60_000;

let directory: string;
let worker: LocalWorker;

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

/** A row whose second source answers. */
function rowOf(n: number): Readonly<Record<string, unknown>> {
  return {
    id: `bridge-${n}`,
    question: `In which year was footbridge ${n} opened?`,
    tool_output:
      `<snippet id=S1>The valley has many orchards and a fair in June.</snippet>\n` +
      `<snippet id=S2>The council met often. Footbridge ${n} was opened in the year ${1900 + n}.</snippet>`,
    positive_rubrics: [`States that footbridge ${n} was opened in the year ${1900 + n}`],
  };
}

async function fileOf(name: string, rows: readonly unknown[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return path;
}

function reportOf({ stdout }: Ended): ProbeReply {
  return probeReplySchema.parse(JSON.parse(stdout));
}

test('prints shares, changes and warnings; the exit code says that it warns', async () => {
  const file = await fileOf('rows.jsonl', [rowOf(1), rowOf(2)]);
  const ended = await citeward(...PROBE, file, ...BALANCED);
  expect(ended.code).toBe(3);
  expect(ended.stdout).toContain('judge citeward-lexical');
  expect(ended.stdout).toContain('best known answer: 10.00 on average in 2 rows (2 constructed from the sources)');
  expect(ended.stdout).toMatch(/ 75 %\s+7\.50\s+2\s+copies and cites the first sentence of source 1\s+\w+=\w+: \d+ %/u);
  expect(ended.stderr).toMatch(
    /an answer that copies and cites the first sentence of source 1 earns 75 % of the best/u,
  );
  expect(ended.stderr).toMatch(/2 rows probed · \d+ warnings/u);
});

test('ends with 0 where no cheap answer pays', async () => {
  const row = { question: 'In which year was the bridge opened?', reference: '1904', entities: ['1904'] };
  const file = await fileOf('gold.jsonl', [
    row,
    { question: 'When did the tower open?', reference: '1887', entities: ['1887'] },
  ]);
  const ended = await citeward(...PROBE, file, '--recipe', 'longtrace-rl', '--json');
  expect(reportOf(ended)).toMatchObject({
    rows: 2,
    warnings: [],
    together: null,
    best_known: { from: { reference: 2 } },
  });
  expect(ended.code).toBe(0);
});

test('this process and the Worker give the same report on a file of several requests', async () => {
  const rows = Array.from({ length: MAX_PROBE_ROWS + 3 }, (_, n) => rowOf(n));
  const file = await fileOf('many.jsonl', rows);
  const here = await citeward(...PROBE, file, ...BALANCED, '--json', '--seed', '7');
  const there = await citeward(...PROBE, file, ...BALANCED, '--json', '--seed', '7', '--url', worker.url);
  expect([here.code, there.code]).toEqual([3, 3]);
  const { judges: ours, ...report } = reportOf(here);
  const { judges: theirs, ...other } = reportOf(there);
  expect(report.rows).toBe(rows.length);
  expect(other).toEqual(report);
  const counts = (judges: ProbeReply['judges']) => judges.map(({ kind, judgments }) => [kind, judgments]);
  expect(counts(theirs)).toEqual(counts(ours));
});

test('responses in rows of one prompt are one group; outcome belongs to its response', async () => {
  const responses = ['It was opened in the year 1901. [S2]', 'I do not know.', 'The valley has many orchards. [S1]'];
  const sampled = responses.map((text, n) => ({
    ...rowOf(1),
    id: n,
    response: `<answer>${text}</answer>`,
    outcome: n === 0 ? 1 : 0,
    recipe: 'refiner-gpt54-instance-rubric',
  }));
  const listed = { ...rowOf(2), responses: responses.map((text) => `<answer>${text}</answer>`) };
  const file = await fileOf('samples.jsonl', [...sampled, listed]);
  const report = reportOf(await citeward(...PROBE, file, ...BALANCED, '--json'));
  expect(report).toMatchObject({ rows: 2, samples: { groups: 2, samples: 6, with_signal: 2 } });
  expect(report.best_known.from.sample).toBeGreaterThan(0);
  const table = await citeward(...PROBE, file, ...BALANCED);
  expect(table.stdout).toContain('samples: 6 in 2 groups, 2 with signal');
  const first = reportOf(await citeward(...PROBE, file, ...BALANCED, '--json', '--prompts', '1'));
  expect(first).toMatchObject({ rows: 1, samples: { groups: 1, samples: 3 } });
});

test('bad lines and rows are named, and the others are probed', async () => {
  const { positive_rubrics: _, ...bare } = rowOf(2);
  const file = await fileOf('bad.jsonl', [rowOf(1), bare, { ...rowOf(3), qestion: 'x' }]);
  for (const at of [[], ['--url', worker.url]]) {
    const ended = await citeward(...PROBE, file, ...BALANCED, ...at);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('line 2: positive_rubrics: no rubrics: give at least one criterion');
    expect(ended.stderr).toContain('line 3: qestion: unknown field; did you mean question?');
    expect(ended.stderr).toContain('1 row probed');
    expect(ended.stderr).toContain('2 bad lines');
  }
});

test.each([
  [['nowhere.jsonl'], 'no such file: nowhere.jsonl'],
  [['examples/rollouts.jsonl', '--recipe', 'refiner-rl-balancd'], 'Did you mean refiner-rl-balanced?'],
  [['examples/rollouts.jsonl', '--recipe', 'grpo-tcr'], 'read no answer over sources'],
  [['examples/rollouts.jsonl', '--prompts', '0'], '--prompts: expected an integer from 1 to'],
  [['examples/rollouts.jsonl', '--judge', 'qwen'], 'this process has "lexical"'],
])('%j', async (args, said) => {
  const ended = await citeward(...PROBE, ...args);
  expect(ended.stderr).toContain(said);
  expect([ended.code, ended.stdout]).toEqual([2, '']);
});
