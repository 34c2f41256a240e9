/** `npm run redteam -- --model` with a scripted process in place of PyTorch: arguments, resumption and cut answers. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { redTeamResultSchema } from '../../scripts/red-team/report.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const STEP = 128;

let folder: string;
let python: string;
let calls: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-red-team-model-'));
  calls = join(folder, 'calls.jsonl');
  python = join(folder, 'python');
  const script = join(import.meta.dirname, 'scripted-language-model.ts');
  await writeFile(python, `#!/bin/sh\nexec "${process.execPath}" "${script}"\n`);
  await chmod(python, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const stateSchema = z.object({ steps: z.int(), samples: z.array(z.object({ step: z.int(), text: z.string() })) });

const GUARDED = '{"base":"refiner-guarded","grammar":"bracket"}';

function command(name: string, model: string, more: readonly string[], recipe = GUARDED) {
  const args = ['scripts/red-team.ts', '--recipe', recipe, '--json'];
  const own = [
    '--name',
    name,
    '--model',
    model,
    '--python',
    python,
    '--warm-up',
    '3',
    '--state',
    join(folder, 'state'),
  ];
  const env = { ...process.env, CITEWARD_CACHE: join(folder, 'cache'), CALLS: calls };
  return run('node', [...args, ...own, ...more], { cwd: ROOT, env });
}

async function train(name: string, more: readonly string[], recipe = GUARDED) {
  // Exit code 3: a policy that never learns may end with fewer right answers.
  const { stdout } = await command(name, 'tiny-model', more, recipe).catch(
    (error: { code?: number; stdout: string }) => {
      if (error.code === 3) return error;
      throw error;
    },
  );
  const files = await readdir(join(folder, 'state'));
  const read = (extension: string): Promise<string> => {
    const file = files.find((one) => one.startsWith(`${name}-`) && one.endsWith(extension)) ?? '';
    return readFile(join(folder, 'state', file), 'utf8');
  };
  return {
    result: redTeamResultSchema.parse(JSON.parse(stdout)),
    ...stateSchema.parse(JSON.parse(await read('.state.json'))),
    rollouts: (await read('.jsonl')).split('\n').filter((line) => line.startsWith('{"rollout"')),
  };
}

it('passes its arguments on, and says which answers were cut', async () => {
  const whole = await train('whole', ['--steps', '3', '--answer-tokens', '7', '--learning-rate', '0.00002']);
  expect(whole.result.seeds).toMatchObject([{ seed: 1, steps: 3, skipped: 0 }]);
  expect(whole.samples).toHaveLength(3 * STEP);
  const sent = (await readFile(calls, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => z.looseObject({ call: z.string() }).parse(JSON.parse(line)));
  expect(sent[0]).toEqual({ call: 'open', model: 'tiny-model', answer_tokens: 7 });
  const of = (call: string) => sent.filter((one) => one.call === call);
  expect(of('imitate')).toHaveLength(3);
  expect(of('learn').map(({ learning_rate }) => learning_rate)).toEqual([0.000_02, 0.000_02, 0.000_02]);
  expect(of('sample').at(-1)).toMatchObject({ samples: 8, seed: 1, step: 2 });
  expect(JSON.stringify(of('sample').at(-1)?.['prompts'])).toContain('<answer>... [S2]</answer>');
  const reasons = Map.groupBy(whole.rollouts, (line) => /"finish_reason":"(\w+)"/u.exec(line)?.[1]);
  expect([...reasons].map(([reason, own]) => [reason, own.length]).sort()).toEqual([
    ['length', (3 * STEP) / 4],
    ['stop', (3 * 3 * STEP) / 4],
  ]);
});

it('stops after its minutes, saves, and the same command continues with the same weights', async () => {
  const part = await train('part', ['--steps', '500', '--minutes', '0.05']);
  expect(part.steps).toBeGreaterThanOrEqual(1);
  expect(part.steps).toBeLessThan(500);
  expect(part.samples).toHaveLength(part.steps * STEP);
  const continued = await train('part', ['--steps', String(part.steps + 2)]);
  expect(continued.samples.slice(0, part.samples.length)).toEqual(part.samples);
  // 3 updates by imitation, and one a step.
  const updates = continued.samples.map(({ text }) => Number(/after (\d+) updates/u.exec(text)?.[1]));
  expect(updates).toEqual(continued.samples.map(({ step }) => 3 + step));
});

it('ends with what the process says if the model cannot be read', async () => {
  const failed = await command('failed', 'unknown-model', []).then(
    () => null,
    (error: { code?: number; stderr: string }) => error,
  );
  expect(failed?.code).toBe(1);
  expect(failed?.stderr).toContain('the policy ended in "open"');
  expect(failed?.stderr).toContain('unknown-model is no model');
});

it('tries its rows with all that a recipe asks of an answer', async () => {
  // carr asks how each answer ended.
  expect(await train('carr', ['--steps', '2'], 'carr')).toMatchObject({ steps: 2, result: { family: 'carr' } });
});

it('says before it trains that a recipe refuses the rows', async () => {
  const refused = await command('refused', 'tiny-model', ['--rows', 'unanswerable'], 'carr').then(
    () => null,
    (error: { code?: number; stderr: string }) => error,
  );
  expect(refused?.code).toBe(1);
  expect(refused?.stderr).toContain('such rows cannot be scored');
  expect(await readdir(join(folder, 'state'))).not.toContainEqual(expect.stringMatching(/^refused-/u));
});
