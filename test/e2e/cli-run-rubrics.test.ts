/** `citeward rubrics list`, `show` and `edit` with the prompts of a run. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { startedSchema } from '../../src/wire/rubrics.ts';
import { citeward, jsonLines } from './processes.ts';

let worker: LocalWorker;
let folder: string;
let prompt: string;
let own: string;
let added: string;

async function start(question: string) {
  const response = await fetch(`${worker.url}/v1/runs/evolving/rubrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ question, family: 'refiner', rules: 'citeward' },
      criteria: [{ polarity: 'positive', title: 'Length', description: 'States that the Aare is 288 km long' }],
      proposal: {
        ...{ step: 0, group: 'aare' },
        criteria: [{ polarity: 'negative', description: 'Confuses the Aare with the Rhine' }],
      },
    }),
  });
  return startedSchema.parse(await response.json()).rubrics;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'citeward-run-rubrics-'));
  worker = await startLocalWorker({
    variables: { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' },
    deadline_ms: 60_000,
  });
  const rubrics = await start('How long is the Aare?');
  prompt = rubrics.prompt;
  own = rubrics.persistent[0]?.id ?? '';
  added = rubrics.active[0]?.id ?? '';
  await start('How long is the Rhine?');
});

afterAll(async () => {
  await worker?.stop();
  await rm(folder, { recursive: true, force: true });
});

const rubrics = (command: string, ...rest: readonly string[]) =>
  citeward('rubrics', command, 'evolving', ...rest, '--url', worker.url);

test('lists the prompts, and shows one by its question or the first characters of its digest', async () => {
  const listed = await rubrics('list');
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  expect(listed.stdout).toContain(prompt.slice(0, 12));
  expect(listed.stdout.trim().split('\n')).toHaveLength(3);
  const json = await rubrics('list', '--json', '--limit', '1');
  expect(jsonLines(json.stdout)).toMatchObject([{ persistent: 1, active: 1, visits: 0 }]);
  const shown = await rubrics('show', prompt.slice(0, 12));
  expect(shown.code, shown.stderr).toBe(0);
  expect(shown.stdout).toMatch(
    new RegExp(`${own.slice(0, 12)} +persistent +positive +1 +row +0 +- +- +Length: States`),
  );
  expect(shown.stdout).toMatch(new RegExp(`${added.slice(0, 12)} +active +negative +1 +0 +0 +- +- +Confuses`));
  expect(shown.stderr).toContain(prompt);
  const byQuestion = await rubrics('show', 'How long is the Aare?');
  expect(byQuestion.stdout).toBe(shown.stdout);
  const log = await rubrics('show', prompt, '--log');
  const [first, second] = [own.slice(0, 12), added.slice(0, 12)];
  expect(log.stdout).toBe(
    `start: started ${first}\nstep 0 aare: proposed ${second}\nstep 0 aare: activated ${second}\n`,
  );
});

test('retires, restores and adds by hand; a set that has changed since is refused', async () => {
  const before: unknown = jsonLines((await rubrics('show', prompt, '--json')).stdout)[0];
  expect(before).toMatchObject({ prompt, active: [{ id: added }] });
  const file = join(folder, 'add.json');
  await writeFile(file, JSON.stringify([{ polarity: 'positive', description: 'Names the source of the river' }]));
  const edited = await rubrics('edit', prompt, '--step', '1', '--retire', added.slice(0, 12), '--add', file);
  expect(edited.code, edited.stderr).toBe(0);
  expect(edited.stdout).toMatch(/active +positive +1 +1 +0 +- +- +Names the source/);
  expect(edited.stdout).toMatch(new RegExp(`${added.slice(0, 12)} +inactive`));
  // The end of step 0 is before the edit.
  const past = await rubrics('show', prompt, '--step', '0');
  expect(past.stdout).toMatch(new RegExp(`${added.slice(0, 12)} +active`));
  const shown = startedSchema.shape.rubrics.shape.set.parse(Object(before).set);
  const stale = await rubrics('edit', prompt, '--step', '1', '--retire', own, '--set', shown.id.slice(0, 12));
  expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('by now')]);
  const log = await rubrics('show', prompt, '--log');
  expect(log.stdout).toContain(`step 1: retired ${added.slice(0, 12)}, by_hand\n`);
  const back = await rubrics('edit', prompt, '--step', '2', '--restore', added.slice(0, 12));
  expect(back.stdout).toMatch(new RegExp(`${added.slice(0, 12)} +active`));
});

test.each([
  [['show'], 2, 'expected: rubrics show RUN PROMPT --url URL'],
  [['show', ' '], 2, 'expected: rubrics show RUN PROMPT --url URL'],
  [['show', 'How long is the Nile?'], 1, 'rubrics_not_found'],
  [['show', 'f'.repeat(64)], 1, 'rubrics_not_found'],
  [['show', '0000000'], 1, 'no prompt of evolving starts with 0000000'],
  [['edit', 'abc', '--retire', 'a'], 2, 'needs --step N'],
  [['edit', 'abc', '--step', '1'], 2, 'at least one of --retire, --restore and --add'],
] as const)('%j: exit code %i, %s', async ([command, ...rest], code, message) => {
  const refused = await rubrics(command, ...rest);
  expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(message)]);
});

test('an edit names what is wrong before it changes anything', async () => {
  const file = join(folder, 'wrong.json');
  await writeFile(file, '[{"polarity": "good", "description": "d"}]');
  const wrong = await rubrics('edit', prompt, '--step', '3', '--add', file);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('[0].polarity')]);
  const unknown = await rubrics('edit', prompt, '--step', '3', '--retire', '00000');
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('expected the id of a criterion of the set'),
  ]);
});

test('runs show has the mean reward by the persistent criteria of each step', async () => {
  const scored = await fetch(`${worker.url}/v1/groups`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      question: 'How long is the Rhone?',
      sources: [{ id: '1', text: 'The Rhone is 813 km long.' }],
      positive_rubrics: ['States that the Rhone is 813 km long'],
      responses: ['<answer><snippet id=1>The Rhone is 813 km long.</snippet></answer>', '<answer>Long.</answer>'],
      recipe: 'refiner-gpt54-instance-only',
      run: { id: 'scored', step: 0, group: 'rhone' },
      evolution: { generator: null },
    }),
  });
  expect(scored.status).toBe(200);
  const shown = await citeward('runs', 'show', 'scored', '--url', worker.url);
  // No criterion was added, so both rewards are the same.
  expect(shown.stdout).toMatch(/\b(\d\.\d{3}) .* persistent \1; rubric /u);
});
