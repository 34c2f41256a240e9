/** The command line as a process: with local scoring, and against a Worker under wrangler. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stepAdvantages } from '../../lib/advantages.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, jsonLines, runScript } from './processes.ts';

const EXAMPLES = 'examples/rollouts.jsonl';
const START_MS = 60_000;

let worker: LocalWorker;
let directory: string;

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

/** A score without what differs between runs: times, and the origin of a judgment. */
function timeless({ judgments, ...rest }: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(judgments)) throw new TypeError('a score without judgments');
  const keys = judgments.map((judgment: Readonly<Record<string, unknown>>) => [judgment['kind'], judgment['key']]);
  return { ...rest, keys };
}

describe('scoring', () => {
  test('this process and the Worker give the same replies, bit for bit, keys included', async () => {
    const here = await citeward('score', EXAMPLES, '--json');
    const there = await citeward('score', EXAMPLES, '--json', '--url', worker.url);
    expect([here.code, there.code]).toEqual([0, 0]);
    const ours = jsonLines(here.stdout);
    expect(ours.length).toBeGreaterThan(15);
    expect(ours.map(({ line }) => line)).toEqual(ours.map((_, position) => position + 1));
    expect(jsonLines(there.stdout).map(timeless)).toEqual(ours.map(timeless));
    for (const { reward } of ours) expect(reward).toEqual(expect.any(Number));
    expect(here.stderr).toContain('is no model');
    expect(there.stderr).not.toContain('is no model');
  });

  test('other weights need no judge call; another measure field names the missing judgments', async () => {
    await citeward('score', EXAMPLES, '--url', worker.url);
    const replay = await citeward(
      ...['score', EXAMPLES, '--url', worker.url, '--judgments', 'only', '--set', 'citation_weight=0.5'],
    );
    expect(replay.code).toBe(0);
    expect(replay.stderr).toMatch(/ 0 judge calls · \d+ stored judgments/);
    const missing = await citeward(
      ...['score', EXAMPLES, '--url', worker.url, '--judgments', 'only', '--set', 'judge_static=false', '--json'],
    );
    expect(missing.code).toBe(1);
    const unscored = jsonLines(missing.stdout).filter(({ status }) => status === 'unscored');
    expect(unscored.length).toBeGreaterThan(10);
    for (const row of unscored) expect(row).toMatchObject({ reward: null, reason: 'judgment_missing' });
  });

  test('the table: every row, with a reason instead of a missing reward', async () => {
    const scored = await citeward('score', EXAMPLES);
    expect(scored.code).toBe(0);
    const lines = scored.stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^id +reward +rubric +cite +recall +prec +fmt +findings +note$/);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
    expect(lines.find((line) => line.startsWith('no-answer'))).toMatch(/ 0\.00 .* no answer /);
    const skipped = await citeward('score', EXAMPLES, '--judgments', 'skip');
    expect(skipped.code).toBe(0);
    expect(skipped.stdout).toContain('good-answer               unscored: judgment_skipped');
    expect(skipped.stderr).toMatch(/2 rows scored · mean reward 0\.000 · unscored: 17 judgment_skipped/);
  });
});

describe('bad lines', () => {
  const good = '{"id":"a","question":"q","response":"<answer>r</answer>","sources":[],"positive_rubrics":["r"]}';
  const pieces = [
    `\uFEFF${good}\r\n\r\n`,
    '{"question":\n',
    '{"id":"b","question":"q","response":"r","sources":[],"positive_rubrics":["r"],"recpie":"x"}\n',
    Buffer.from([0xff, 0x0a]),
    '{"id":"c","question":"q","response":"<answer>r</answer>","sources":[]}\n',
    good.replace('"a"', '7'),
  ];
  const named = [
    'line 3: expected one JSON object a line; this is not JSON: it ends too early',
    'line 4: recpie: unknown field',
    'line 5: not UTF-8',
    'line 6: positive_rubrics: no rubrics: give at least one criterion',
  ];

  test.each(['in this process', 'through a Worker'])(
    'are named one by one, and the other lines are scored: %s',
    async (where) => {
      const url = where === 'in this process' ? [] : ['--url', worker.url];
      const ended = await runScript('cli/main.ts', { args: ['score', '-', '--json', ...url], stdin: pieces });
      expect(ended.code).toBe(1);
      expect(jsonLines(ended.stdout).map(({ line, id }) => [line, id])).toEqual([
        [1, 'a'],
        [7, 7],
      ]);
      expect(ended.stderr.split('\n').filter((line) => line.startsWith('line '))).toEqual(named);
      expect(ended.stderr).toContain('4 bad lines');
    },
  );
});

describe('wrong command lines', () => {
  test.each([
    [['scroe'], 'unknown command "scroe"\nDid you mean score?'],
    [['score'], 'no input'],
    [['score', 'nowhere.jsonl'], 'no such file: nowhere.jsonl'],
    [['score', EXAMPLES, '--recpie', 'x'], 'Did you mean --recipe?'],
    [['score', EXAMPLES, '--recipe', 'x'], '--recipe: unknown recipe; expected one of refiner-gpt54-instance-rubric'],
    [['score', EXAMPLES, '--set', 'citation_wieght=1'], 'Did you mean citation_weight?'],
    [['score', EXAMPLES, '--judge', 'gpt'], 'Models are configured in a Worker'],
    [['score', EXAMPLES, '--judgments', 'only'], 'stores no judgments'],
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

  test('a recipe that the Worker refuses ends the run, not every line', async () => {
    const ended = await citeward('score', EXAMPLES, '--url', worker.url, '--recipe', 'x');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('--recipe: unknown recipe');
  });

  test('no Worker there', async () => {
    const ended = await citeward('score', EXAMPLES, '--url', 'http://127.0.0.1:9');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('no Worker at http://127.0.0.1:9');
  });
});

test('help and version go to standard output', async () => {
  for (const args of [['--help'], ['help', 'score'], ['verify', '--help'], ['--version']]) {
    const ended = await citeward(...args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toBe('');
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  }
});

function rewardOf(reply: unknown): number {
  if (typeof reply === 'object' && reply !== null && 'reward' in reply && typeof reply.reward === 'number') {
    return reply.reward;
  }
  throw new TypeError('no reward');
}

describe('a run', () => {
  test('is recorded, shown, replayed with the rewards of scoring, exported, deleted and imported', async () => {
    const at = ['--url', worker.url];
    const recorded = await citeward('score', EXAMPLES, ...at, '--run', 'cli', '--step', '0');
    expect(recorded.code).toBe(0);
    const shown = await citeward('runs', 'show', 'cli', ...at, '--json');
    const [first] = jsonLines(shown.stdout);
    expect(first).toMatchObject({ step: 0, rollouts: 19, unscored: {} });

    const set = ['--set', 'citation_weight=0.5'];
    const replayed = await citeward('replay', 'cli', ...at, ...set, '--json', '--samples');
    expect(replayed.code, replayed.stderr).toBe(0);
    const scored = await citeward('score', EXAMPLES, ...at, ...set, '--judgments', 'only', '--json');
    const replays = jsonLines(replayed.stdout).flatMap(({ kind, after }) =>
      kind === 'sample' ? [rewardOf(after)] : [],
    );
    expect(replays.toSorted()).toEqual(jsonLines(scored.stdout).map(rewardOf).toSorted());

    const file = join(directory, 'run.jsonl');
    const exported = await citeward('runs', 'export', 'cli', ...at);
    expect(exported.code).toBe(0);
    await writeFile(file, exported.stdout);
    const fromFile = await citeward('replay', '--file', file, ...set, '--json', '--samples');
    expect(jsonLines(fromFile.stdout)).toEqual(jsonLines(replayed.stdout));
    const step = await citeward('replay', '--file', file, ...set, '--advantages', 'trl-gdpo');
    expect(step.code, step.stderr).toBe(0);
    const verl = await citeward('replay', '--file', file, ...set, '--advantages', 'verl-gdpo');
    expect([verl.code, verl.stderr]).toEqual([2, expect.stringContaining('verl-gdpo needs response_tokens')]);
    // Each example is a group of one, which gives no signal.
    const finished = await citeward('advantages', '--file', file, '--rule', 'trl-gdpo', ...set);
    expect(finished.code, finished.stderr).toBe(0);
    expect(jsonLines(finished.stdout)).toHaveLength(19);
    expect(finished.stderr).toContain('19 samples in 19 groups of 1 step · 19 groups without signal');

    expect((await citeward('runs', 'delete', 'cli', '--yes', ...at)).code).toBe(0);
    const gone = await citeward('runs', 'show', 'cli', ...at);
    expect(gone.code).toBe(1);
    expect((await citeward('runs', 'import', 'cli', file, ...at)).code).toBe(0);
    expect((await citeward('runs', 'show', 'cli', ...at, '--json')).stdout).toBe(shown.stdout);
  });
});

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

describe('verifying', () => {
  test('this process and the Worker agree', async () => {
    const args = ['verify', EXAMPLES, '--json', '--evidence', 'lexical'];
    const here = await citeward(...args);
    const there = await citeward(...args, '--url', worker.url);
    expect([here.code, there.code]).toEqual([0, 0]);
    expect(jsonLines(there.stdout)).toEqual(jsonLines(here.stdout));
  });
});

test('a Worker accepts a key of `citeward keys add` and no other', async () => {
  const file = join(directory, 'vars');
  await writeFile(file, "ALLOW_LEXICAL_JUDGE='true'\n");
  const trainer = await citeward('keys', 'add', 'trainer', '--file', file);
  const reader = await citeward('keys', 'add', 'reader', '--scopes', 'verify', '--file', file);
  expect([trainer.code, reader.code]).toEqual([0, 0]);
  expect(trainer.stdout).toMatch(/^cw_[A-Za-z0-9_-]{43}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const written = await readFile(file, 'utf8');
  expect(written).not.toContain(trainer.stdout.trim());
  const again = await citeward('keys', 'add', 'trainer', '--file', file);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('has a key "trainer" already');
  expect(await readFile(file, 'utf8')).toBe(written);

  const guarded = await startLocalWorker({ variables: {}, variablesFile: file, deadline_ms: START_MS });
  try {
    const scoreWith = (key: string) =>
      runScript('cli/main.ts', { args: ['score', EXAMPLES, '--url', guarded.url], env: { CITEWARD_KEY: key } });
    expect(await scoreWith(trainer.stdout.trim())).toMatchObject({ code: 0 });
    const other = await scoreWith(`cw_${'A'.repeat(43)}`);
    expect(other).toMatchObject({ code: 1, stdout: '' });
    expect(other.stderr).toContain('401 key_unknown');
    expect((await scoreWith('')).stderr).toContain('401 key_missing');
    expect((await scoreWith(reader.stdout.trim())).stderr).toContain('403 scope_missing');
    const verified = await runScript('cli/main.ts', {
      args: ['verify', EXAMPLES, '--url', guarded.url],
      env: { CITEWARD_KEY: reader.stdout.trim() },
    });
    expect(verified.code).toBe(0);
  } finally {
    await guarded.stop();
  }
});
