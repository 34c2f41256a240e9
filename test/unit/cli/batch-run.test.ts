/** A batch in this process: its results, and --resume after an interruption. */

import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BatchFile, prepareBatch } from '../../../cli/commands/batch/input.ts';
import { LineFile } from '../../../cli/commands/batch/line-file.ts';
import { localBatchId, runLocally } from '../../../cli/commands/batch/local-run.ts';
import { BatchSummary, readFinishedLines } from '../../../cli/commands/batch/results.ts';
import { RunError } from '../../../cli/shared/exit.ts';
import { createMemoryHost } from '../../../hosts/memory/memory-host.ts';
import { problemSchema } from '../../../src/wire/problem.ts';
import { envelope, NO_SCORING_FLAGS, piped, ROW } from './batch-fixtures.ts';

const GOOD = { ...ROW, recipe: 'refiner-gpt54-instance-rubric' };
let directory: string;
let output: string;
let errors: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-unit-'));
  [output, errors] = [join(directory, 'out.jsonl'), join(directory, 'err.jsonl')];
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function fileOf(lines: readonly string[]): Promise<BatchFile> {
  const input = piped(`${lines.join('\n')}\n`);
  const prepared = await prepareBatch({ input, endpoint: null, scoring: NO_SCORING_FLAGS, directory });
  if (!prepared.ok) throw new Error('the test input is wrong');
  return prepared.value;
}

/** Runs as `citeward batch run --resume` does, and stops after `stopAfter` lines. */
async function run(file: BatchFile, stopAfter = Number.POSITIVE_INFINITY) {
  const summary = new BatchSummary();
  const finished = new Set<string>();
  for (const path of [output, errors]) {
    await readFinishedLines(path, localBatchId(file), (line) => {
      finished.add(line.custom_id);
      summary.add(line);
    });
  }
  let done = 0;
  const [out, err] = [new LineFile(output, 'a'), new LineFile(errors, 'a')];
  const onLine = (): void => {
    done++;
    if (done === stopAfter) throw new Error('stopped');
  };
  try {
    await runLocally({ file, host: createMemoryHost(), output: out, errors: err, finished, summary, onLine });
  } catch (error) {
    if (!(error instanceof Error && error.message === 'stopped')) throw error;
  } finally {
    await out.close();
    await err.close();
  }
  return { summary, done };
}

type Line = {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null;
  readonly error: { readonly code: string } | null;
};

async function resultLines(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));
}

describe('results', () => {
  test('a reply in the output, a problem in the errors, ids by line', async () => {
    const file = await fileOf([
      envelope('good', GOOD),
      '',
      envelope('recipe', { ...GOOD, recipe: 'x' }),
      envelope('field', { ...GOOD, typo: 1 }),
      envelope('judge', { ...GOOD, judge: 'gpt' }),
      envelope('stored', { ...GOOD, question: 'Another?', judgments: 'only' }),
      envelope('skipped', { ...GOOD, judgments: 'skip' }),
    ]);
    const { summary } = await run(file);
    const batch = localBatchId(file).replace('batch_', '');
    const good = await resultLines(output);
    expect(good.map(({ id, custom_id }) => [id, custom_id])).toEqual([
      [`batch_req_${batch}_1`, 'good'],
      [`batch_req_${batch}_7`, 'skipped'],
    ]);
    expect(good[0]?.response?.body).toMatchObject({ reward: expect.any(Number), status: 'scored' });
    expect(good[1]?.response?.body).toMatchObject({ reward: null, reason: 'judgment_skipped' });
    const bad = await resultLines(errors);
    expect(bad.map(({ custom_id, response, error }) => [custom_id, response?.status_code, error?.code])).toEqual([
      ['recipe', 422, 'input_invalid'],
      ['field', 422, 'input_invalid'],
      ['judge', 422, 'judge_unknown'],
      ['stored', 409, 'judgment_missing'],
    ]);
    for (const { id, response } of bad) expect(problemSchema.parse(response?.body).request_id).toBe(id);
    expect([summary.done, summary.failed]).toEqual([2, 4]);
  });

  test('a judgment that needs a Worker fails the line, or gives null if the request accepts that', async () => {
    const base = {
      question: 'q',
      response: 'r \\boxed{x+1}',
      reference: '1+x',
      recipe: { base: 'grpo-tcr', math_equivalence: 'symbolic' },
    };
    const asked = { ...base, num_turns: 1, response_tokens: 10 };
    await run(await fileOf([envelope('a', asked), envelope('b', { ...asked, on_judge_failure: 'null' })]));
    const [failed] = await resultLines(errors);
    expect(failed).toMatchObject({ custom_id: 'a', error: { code: 'sandbox_unconfigured' } });
    expect(failed?.response?.body).not.toHaveProperty('reward');
    const [unscored] = await resultLines(output);
    expect(unscored).toMatchObject({ custom_id: 'b', response: { body: { reward: null } } });
  });

  test('groups have advantages, verifications claims', async () => {
    const { response, ...shared } = GOOD;
    await run(await fileOf([envelope('g', { ...shared, responses: [response, 'no'] }, '/v1/groups')]));
    const [group] = await resultLines(output);
    expect(group?.response?.body).toMatchObject({ rewards: [expect.any(Number), expect.any(Number)] });
    await rm(output);
    await run(await fileOf([envelope('v', { response: ROW.response, sources: ROW.sources }, '/v1/verify')]));
    const [verified] = await resultLines(output);
    expect(verified?.response?.body).toHaveProperty('claims.0.evidence');
  });

  test('without failed lines there is no error file', async () => {
    await run(await fileOf([envelope('a', GOOD)]));
    await expect(readFile(errors)).rejects.toThrow('ENOENT');
  });
});

describe('--resume', () => {
  const lines = Array.from({ length: 9 }, (_, position) =>
    envelope(`r${position}`, position % 3 === 2 ? { ...GOOD, recipe: 'x' } : { ...GOOD, question: `q${position}` }),
  );
  const custom_ids = (all: readonly Line[]) => all.map(({ custom_id }) => custom_id);

  test.each([1, 4, 8])('after %i lines and a cut line: every line once, in order', async (stopAfter) => {
    const file = await fileOf(lines);
    await run(file, stopAfter);
    await appendFile(output, '{"id":"batch_req_lo');
    const { summary, done } = await run(file);
    expect(done).toBe(9 - stopAfter);
    expect(custom_ids(await resultLines(output))).toEqual(['r0', 'r1', 'r3', 'r4', 'r6', 'r7']);
    expect(custom_ids(await resultLines(errors))).toEqual(['r2', 'r5', 'r8']);
    expect([summary.done, summary.failed]).toEqual([6, 3]);
    expect((await run(file)).done).toBe(0);
  });

  test('a result that is missing from one file is scored again', async () => {
    const file = await fileOf(lines);
    await run(file, 6);
    const text = await readFile(output, 'utf8');
    await truncate(output, text.length - 1);
    await run(file);
    expect(custom_ids(await resultLines(output))).toEqual(['r0', 'r1', 'r3', 'r4', 'r6', 'r7']);
    expect(custom_ids(await resultLines(errors))).toEqual(['r2', 'r5', 'r8']);
  });

  test('results of another input and other files are refused and left unchanged', async () => {
    const file = await fileOf(lines);
    await run(file, 2);
    const before = await readFile(output, 'utf8');
    const other = await fileOf(lines.map((line) => line.replace('q0', 'Q0')));
    await expect(run(other)).rejects.toThrow('belongs to another input');
    expect(await readFile(output, 'utf8')).toBe(before);
    await writeFile(output, 'my notes\ncut');
    await expect(run(file)).rejects.toThrow(RunError);
    expect(await readFile(output, 'utf8')).toBe('my notes\ncut');
  });
});

test('the error for a file that cannot be written names it', async () => {
  const nowhere = new LineFile(join(directory, 'no', 'where'), 'w');
  await expect(nowhere.write(Uint8Array.of(1))).rejects.toThrow(/cannot write .*where: ENOENT/);
});
