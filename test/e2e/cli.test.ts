/** The command line as a process, against a Worker, whose replies local scoring equals. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { citeward, jsonLines, runCiteward, spawnCiteward } from './processes.ts';

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
      ...['score', EXAMPLES, '--url', worker.url, '--judgments', 'only', '--set', 'judging=per_criterion', '--json'],
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
    expect(skipped.stderr).toMatch(/3 rows scored · mean reward 0\.000 · unscored: 16 judgment_skipped/);
  });
});

describe('comparing', () => {
  const COMPARISONS = 'examples/comparisons.jsonl';

  test('this process and the Worker give the same win rates, and the table their means', async () => {
    const here = await citeward('compare', COMPARISONS, '--json');
    const there = await citeward('compare', COMPARISONS, '--json', '--url', worker.url);
    expect([here.code, there.code]).toEqual([0, 0]);
    const rewards = jsonLines(here.stdout).map((row) => row['rewards']);
    expect(rewards).toEqual([
      [1, 0],
      [0, 1],
      [1, 0],
    ]);
    const uncached = (text: string) => jsonLines(text).map(({ judges: _, ...reply }) => reply);
    expect(uncached(there.stdout)).toEqual(uncached(here.stdout));
    const table = await citeward('compare', COMPARISONS, '--url', worker.url, '--judgments', 'only');
    expect(table.stdout).toMatch(/^aare +2 +0\.00 1\.00 +1 +0/mu);
    expect([table.code, table.stderr]).toEqual([0, expect.stringContaining('mean win rates 0.67 0.33')]);
  });

  test('a batch compares the rows too, and takes no flag of a recipe', async () => {
    const output = join(directory, 'compared.jsonl');
    const run = ['batch', 'run', COMPARISONS, '--endpoint', '/v1/compare', '--output', output];
    const ran = await citeward(...run);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('3 lines · 3 done')]);
    const rewards = jsonLines(await readFile(output, 'utf8')).map(({ response }) => response);
    expect(rewards).toMatchObject([
      { body: { rewards: [1, 0] } },
      { body: { rewards: [0, 1] } },
      { body: { rewards: [1, 0] } },
    ]);
    for (const flag of [
      ['--recipe', 'refiner-rl-balanced'],
      ['--set', 'citation_weight=1'],
      ['--judges', 'lexical'],
    ]) {
      const refused = await citeward(...run, '--force', ...flag);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${flag[0]}: the endpoint`)]);
    }
  });

  test('an answer without a win rate has no number, and a row that cannot be compared says why', async () => {
    const skipped = await citeward('compare', COMPARISONS, '--judgments', 'skip');
    expect([skipped.code, skipped.stdout]).toEqual([0, expect.stringMatching(/^aare +- +- - /mu)]);
    const rows = join(directory, 'comparisons.jsonl');
    const row = { question: 'How long?', responses: ['a', 'b'] };
    const alone = { ...row, responses: ['a'] };
    await writeFile(rows, [alone, row].map((one) => JSON.stringify(one)).join('\n'));
    const unkept = await citeward('compare', rows, '--judgments', 'only');
    expect([unkept.code, unkept.stderr]).toEqual([2, expect.stringContaining('Give --state DIR')]);
    for (const at of [
      ['--state', join(directory, 'judgments')],
      ['--url', worker.url],
    ]) {
      const missing = await spawnCiteward({ args: ['compare', rows, '--judgments', 'only', '--json', ...at] });
      expect(missing.code).toBe(1);
      expect(missing.stderr).toContain('line 1: responses');
      expect(jsonLines(missing.stdout)).toMatchObject([{ line: 2, rewards: null, reason: 'judgment_missing' }]);
    }
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
    'line 4: recpie: unknown field; did you mean recipe?',
    'line 5: not UTF-8',
    'line 6: positive_rubrics: no rubrics: give at least one criterion',
  ];

  test.each(['in this process', 'through a Worker'])(
    'are named one by one, and the other lines are scored: %s',
    async (where) => {
      const url = where === 'in this process' ? [] : ['--url', worker.url];
      const ended = await runCiteward({ args: ['score', '-', '--json', ...url], stdin: pieces });
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

test('a recipe that the Worker refuses ends the run, not every line', async () => {
  const ended = await citeward('score', EXAMPLES, '--url', worker.url, '--recipe', 'x');
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('--recipe: unknown recipe');
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

    const figures = await citeward('runs', 'export', 'cli', ...at, '--wandb', 'project', '--dry-run');
    expect(figures.code, figures.stderr).toBe(0);
    const mean = expect.objectContaining({ 'reward/mean': expect.any(Number), 'rollout/count': 19 });
    expect(jsonLines(figures.stdout)).toEqual([{ step: 0, figures: mean }]);

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

    const digest = await citeward('runs', 'digest', file);
    expect([digest.code, digest.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{64}\n$/)]);
    expect((await citeward('runs', 'import', 'copy', file, ...at)).code).toBe(0);
    const copy = join(directory, 'copy.jsonl');
    await writeFile(copy, (await citeward('runs', 'export', 'copy', ...at)).stdout);
    expect(await readFile(copy, 'utf8')).not.toBe(await readFile(file, 'utf8'));
    expect((await citeward('runs', 'digest', copy)).stdout).toBe(digest.stdout);
    await writeFile(copy, exported.stdout.replace(/"reward":[0-9.]+/, '"reward":0.125'));
    expect((await citeward('runs', 'digest', copy)).stdout).not.toBe(digest.stdout);
    await writeFile(copy, exported.stdout.split('\n').slice(0, -2).join('\n'));
    expect(await citeward('runs', 'digest', copy)).toMatchObject({ code: 1, stdout: '' });
  });
});

test('canaries may be a recorded file, judged once a round of the run that trains', async () => {
  const at = ['--url', worker.url];
  for (const place of [
    ['set', '0', '--store-text'],
    ['trained', '3'],
    ['trained', '13'],
  ]) {
    const [run = '', step = '', ...flags] = place;
    expect((await citeward('score', EXAMPLES, ...at, '--run', run, '--step', step, ...flags)).code).toBe(0);
  }
  const canary = (...flags: readonly string[]) =>
    citeward('runs', 'canary', 'trained', '--judge', 'lexical', ...at, ...flags);
  const early = await canary('--canary-run', 'set', '--every', '11');
  expect([early.code, early.stdout]).toEqual([0, '']);
  expect(early.stderr).toContain('judged again from step 14 on');
  const judged = await canary('--canary-run', 'set');
  expect(judged.code, judged.stderr).toBe(0);
  expect(judged.stdout).toContain('trained · set steps 0 to 0 judged again at step 13, 19 rollouts');
  expect(judged.stdout).toContain('canary_drift: verdicts changed 0.0 %');
  const watched = await citeward('runs', 'watch', 'trained', ...at);
  expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('canary_drift, lexical at step 13:')]);
  const absent = await canary('--canary-run', 'none');
  expect([absent.code, absent.stdout]).toEqual([1, '']);
  const wrong = await canary('--canary-run', 'a b');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"a b" is not the id of a run')]);
});

test('the risk of a run is that of its export, and the run keeps it', async () => {
  const at = ['--url', worker.url];
  expect((await citeward('score', EXAMPLES, ...at, '--run', 'risky', '--step', '4')).code).toBe(0);
  const [check, file] = [join(directory, 'REPORT.json'), join(directory, 'risky.jsonl')];
  type Part = { readonly table: number[][]; interval: [number, number] };
  type Kind = { readonly kind: string; readonly parts: readonly Part[] };
  const checked = await citeward('judge', 'check', '--quick', '--json');
  const report: { judges: [{ labelled: { kinds: Kind[] } }] } = JSON.parse(checked.stdout);
  const [{ labelled }] = report.judges;
  // As if the judge guessed about claims.
  const claims = labelled.kinds.find(({ kind }) => kind === 'claim')?.parts[0];
  if (claims !== undefined) claims.interval = [0.4, 0.6];
  await writeFile(check, JSON.stringify(report));
  await writeFile(file, (await citeward('runs', 'export', 'risky', ...at)).stdout);
  const risk = (...flags: readonly string[]) => citeward('runs', 'risk', ...flags, '--check', check, '--draws', '20');
  const recorded = await risk('risky', ...at);
  expect(recorded.code, recorded.stderr).toBe(0);
  expect(recorded.stdout).toMatch(/^support +\d+ .* not drawn: lexical is not shown to tell/mu);
  expect(recorded.stdout).toMatch(/^positive to negative or back: [\d.]+% \([\d.]+% - [\d.]+%\)$/mu);
  expect(recorded.stdout).toMatch(/^without the errors of: support$/mu);
  expect((await risk('--file', file)).stdout).toBe(recorded.stdout);
  expect(JSON.parse((await risk('--file', file, '--json')).stdout)).toMatchObject({ judge: 'lexical', last_step: 4 });
  const watched = await citeward('runs', 'watch', 'risky', ...at);
  expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('judge_error, lexical at step 4:')]);
  expect(watched.stdout).toContain('without the errors of: support');

  labelled.kinds = labelled.kinds.filter(({ kind }) => kind !== 'claim');
  await writeFile(check, JSON.stringify(report));
  expect((await risk('--file', file)).stdout).toMatch(/^support .* not drawn: the report has no such rows$/mu);
  labelled.kinds[0]?.parts[0]?.table.pop();
  await writeFile(check, JSON.stringify(report));
  const short = await risk('--file', file);
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('kinds[0].parts[0].table')]);

  const refused = [
    ['risky', ...at],
    ['--file', file, '--check', file],
    ['--file', file, '--check', check, '--judge', 'other'],
    ['--file', file, '--url', worker.url, '--check', check],
  ];
  for (const flags of refused) expect(await citeward('runs', 'risk', ...flags)).toMatchObject({ code: 2, stdout: '' });
});

test('a run with contradictions replays under another weight, and quotations under a price', async () => {
  const at = ['--url', worker.url];
  const asked = ['--recipe', 'refiner-rl-balanced', '--set', 'ask_contradiction=true'];
  const scored = await citeward('score', EXAMPLES, ...at, ...asked, '--run', 'denied', '--step', '0', '--json');
  expect(scored.code, scored.stderr).toBe(0);
  expect(scored.stdout.match(/"contradicted":true/gu)).toHaveLength(2);
  const file = join(directory, 'denied.jsonl');
  await writeFile(file, (await citeward('runs', 'export', 'denied', ...at)).stdout);
  const meanOf = async (...set: readonly string[]): Promise<number> => {
    const replayed = await citeward('replay', '--file', file, '--json', ...set.flatMap((one) => ['--set', one]));
    expect(replayed.code, replayed.stderr).toBe(0);
    return Object(jsonLines(replayed.stdout).at(-1)).figures.after.mean;
  };
  const [recorded, weighted, both] = [
    await meanOf('contradiction=1'),
    await meanOf('contradiction=3'),
    await meanOf('contradiction=3', 'finding_penalty={"quotation_invented":1}'),
  ];
  expect(recorded).toBeGreaterThan(weighted);
  expect(weighted).toBeGreaterThanOrEqual(both);
  // Another run was not asked.
  const plain = await citeward('score', EXAMPLES, ...at, '--recipe', 'refiner-rl-balanced', '--json');
  expect(plain.stdout).not.toContain('contradicted');
});

test('--store-reasons asks for reasons, and a run says that its judge gives none', async () => {
  const at = ['--url', worker.url];
  const scored = await citeward('score', EXAMPLES, ...at, '--store-reasons', '--run', 'why', '--step', '0', '--json');
  expect(scored.code, scored.stderr).toBe(0);
  expect(scored.stdout).toContain('"status":"not_given"');
  const shown = await citeward('runs', 'show', 'why', '--reasons', ...at);
  expect([shown.code, shown.stdout]).toEqual([0, '']);
  expect(shown.stderr).toMatch(/0 reasons of 19 rollouts · \d+ judgments of a judge that gives none/);
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
