/**
 * A published run: scored and signed in one deployment, exported, imported into an empty deployment that never judged,
 * and replayed there. The rewards are the same, and the receipts verify with the first deployment's public key.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../../clients/typescript/client.ts';
import { makePrompts } from '../../scripts/demo-run/prompts.ts';
import { groupRequest, type RunShape, recordedSteps, recordRun } from '../../scripts/demo-run/record.ts';
import { newIssuerKey } from '../../scripts/demo-run/state.ts';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { readIssuer } from '../../src/judgments/issuer-keys.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import type { GroupResponse } from '../../src/wire/groups.ts';
import { importReportSchema } from '../../src/wire/judgment-files.ts';
import { type RunRollout, rolloutListSchema } from '../../src/wire/runs.ts';
import { citeward } from './processes.ts';

const SHAPE: RunShape = {
  seed: 'published run',
  run: 'published',
  recipe: 'refiner-gpt54-instance-rubric',
  steps: 2,
  prompts: 3,
  samples: 4,
};
const ROLLOUTS = SHAPE.steps * SHAPE.prompts * SHAPE.samples;

type Deployment = { readonly url: string; readonly client: Client };

const workers: LocalWorker[] = [];
let directory: string;
let first: Deployment;
let second: Deployment;
let groups: GroupResponse[];

async function deploy(variables: Readonly<Record<string, string>>): Promise<Deployment> {
  const open = { ALLOW_ANONYMOUS: 'true', ALLOW_LEXICAL_JUDGE: 'true' };
  const worker = await startLocalWorker({ variables: { ...open, ...variables }, deadline_ms: 60_000 });
  workers.push(worker);
  return { url: worker.url, client: createClient({ url: new URL(worker.url), key: null }) };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'citeward-test-'));
  const key = await newIssuerKey();
  const read = await readIssuer(key);
  if (!read.ok) throw new Error(read.problem);
  [first, second] = await Promise.all([
    deploy({ ISSUER_KEY: key }),
    deploy({ TRUSTED_ISSUERS: JSON.stringify([read.issuer.key.public_key]) }),
  ]);
  groups = [];
  for await (const step of recordRun(first.client, SHAPE, new Set())) groups.push(...step.groups);
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function download({ url }: Deployment, path: string): Promise<string> {
  const reply = await fetch(`${url}${path}`);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return text;
}

async function upload({ url }: Deployment, path: string, body: string): Promise<unknown> {
  const reply = await fetch(`${url}${path}`, { method: 'POST', body });
  expect(reply.status).toBe(200);
  return reply.json();
}

async function ledger(deployment: Deployment): Promise<RunRollout[]> {
  const page = rolloutListSchema.parse(
    JSON.parse(await download(deployment, `/v1/runs/${SHAPE.run}/rollouts?limit=100`)),
  );
  expect(page.next).toBeNull();
  return page.rollouts;
}

/** All lines of a replay. */
async function replayed({ client }: Deployment, recipe: Readonly<Record<string, unknown>>): Promise<unknown[]> {
  const replay = await client.replayRun(SHAPE.run, { recipe, samples: true });
  if (!replay.ok) throw new Error(JSON.stringify(replay.failure));
  const lines: unknown[] = [];
  for await (const line of replay.body) lines.push(line);
  return lines;
}

const members = () => groups.flatMap((group) => group.members);

test('its ledger and its judgments give the same rewards in an empty deployment, which judges nothing', async () => {
  expect(members()).toHaveLength(ROLLOUTS);
  expect(await recordedSteps(first.url, SHAPE.run, ROLLOUTS / SHAPE.steps)).toEqual(new Set([0, 1]));
  expect(await recordedSteps(second.url, SHAPE.run, ROLLOUTS / SHAPE.steps)).toEqual(new Set());

  const run = await download(first, `/v1/runs/${SHAPE.run}/export`);
  const judgments = await download(first, `/v1/runs/${SHAPE.run}/judgments.jsonl`);
  const imported = runImportReportSchema.parse(await upload(second, `/v1/runs/${SHAPE.run}/import`, run));
  expect(imported).toMatchObject({ imported: ROLLOUTS, refused: 0, complete: true });
  const taken = importReportSchema.parse(await upload(second, '/v1/judgments:import', judgments));
  expect(taken).toMatchObject({ already_there: 0, refused: 0, complete: true });
  expect(taken.imported).toBeGreaterThan(ROLLOUTS);

  const rows = await ledger(second);
  const place = ({ step, group, sample, reward, judgments: pinned }: RunRollout) => ({
    step,
    group,
    sample,
    reward,
    pinned,
  });
  expect(rows.map(place)).toEqual((await ledger(first)).map(place));
  const rewards = rows.map(({ reward }) => reward);
  expect(new Set(rewards).size).toBeGreaterThan(5);

  // What the rollouts rest on is there: the same requests are scored from it alone.
  const prompts = makePrompts(SHAPE.seed, SHAPE.prompts);
  for (const [n, group] of groups.entries()) {
    const prompt = prompts[n % SHAPE.prompts];
    if (prompt === undefined) throw new Error('no prompt');
    const {
      run: _run,
      store_text: _text,
      receipt: _receipt,
      ...request
    } = groupRequest(SHAPE, prompt, Math.floor(n / SHAPE.prompts));
    const again = await second.client.group({ ...request, judgments: 'only', detail: 'full' });
    if (!again.ok) throw new Error(JSON.stringify(again.failure));
    expect(again.body.rewards).toEqual(group.rewards);
    expect(again.body.members.flatMap((member) => member.judgments.map(({ cached }) => cached))).not.toContain(false);
  }
});

test('replayed under another recipe, both deployments say the same', async () => {
  for (const recipe of [{ set: { citation_weight: 0.5 } }, { set: { instance_rubrics_only: true } }]) {
    const [there, here] = [await replayed(second, recipe), await replayed(first, recipe)];
    expect(there).toEqual(here);
    const summary = there.at(-1);
    expect(summary).toMatchObject({
      kind: 'summary',
      rollouts: ROLLOUTS,
      judge_calls: 0,
      figures: { recorded: { equal: ROLLOUTS, different: 0 } },
    });
    expect(there.filter((line) => JSON.stringify(line).includes('"kind":"sample"'))).toHaveLength(ROLLOUTS);
  }
});

test('its receipts are valid by the key of the first deployment, and say what the imported ledger says', async () => {
  const prompts = makePrompts(SHAPE.seed, SHAPE.prompts);
  const requests = [0, 1].flatMap((step) => prompts.map((prompt) => groupRequest(SHAPE, prompt, step)));
  const write = async (name: string, values: readonly unknown[]): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    return path;
  };
  const replies = await write('replies.jsonl', groups);
  const asked = await write('requests.jsonl', requests);
  const held = await citeward('receipt', 'verify', replies, '--url', first.url, '--request', asked);
  expect(held).toMatchObject({ code: 0, stderr: `${ROLLOUTS} receipts are valid\n` });

  const receipts = members().map(({ receipt }) => ({ reward: receipt?.reward, pinned: receipt?.judgments }));
  const rows = (await ledger(second)).map(({ reward, judgments }) => ({ reward, pinned: judgments }));
  expect(rows).toEqual(receipts);

  const keys = await first.client.keys();
  if (!keys.ok) throw new Error(JSON.stringify(keys.failure));
  const known = await write('keys.json', [keys.body]);
  const [one] = members();
  const forged = await write('forged.json', [{ ...one, reward: 9, receipt: { ...one?.receipt, reward: 9 } }]);
  const wrong = await citeward('receipt', 'verify', forged, '--keys', known);
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toContain('WRONG: the receipt differs from what');
});
