/**
 * A published run: scored and signed in one deployment, exported, imported into an empty deployment that never judged,
 * and replayed there. The rewards are the same, and the receipts verify with the first deployment's public key.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, type GroupInput } from '../../clients/typescript/client.ts';
import { figuresOf } from '../../scripts/demo-run/figures.ts';
import { recordedRollouts, trainAndRecord } from '../../scripts/demo-run/record.ts';
import { type DemoRun, demoRuns } from '../../scripts/demo-run/runs.ts';
import { newIssuerKey } from '../../scripts/demo-run/state.ts';
import { printStory } from '../../scripts/demo-run/story.ts';
import { type TrainedStep, train } from '../../scripts/demo-run/train.ts';
import { freePort, type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { readIssuer } from '../../src/judgments/issuer-keys.ts';
import { runImportReportSchema } from '../../src/runs/import-run.ts';
import type { GroupResponse } from '../../src/wire/groups.ts';
import { importReportSchema } from '../../src/wire/judgment-files.ts';
import { type RunRollout, rolloutListSchema } from '../../src/wire/runs.ts';
import { citeward } from '../e2e/processes.ts';

const SIZE = { steps: 2, prompts: 3, samples: 4, distinct: 3 };
const RUN: DemoRun = { ...firstOf(demoRuns()), size: SIZE };
const ROLLOUTS = SIZE.steps * SIZE.prompts * SIZE.samples;

function firstOf([run]: readonly DemoRun[]): DemoRun {
  if (run === undefined) throw new Error('no run');
  return run;
}

type Deployment = { readonly url: string; readonly client: Client };

const workers: LocalWorker[] = [];
let directory: string;
let first: Deployment;
let second: Deployment;
let requests: GroupInput[];
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
  if (!read.ok) throw new Error(read.error);
  [first, second] = await Promise.all([
    deploy({ ISSUER_KEY: key }),
    deploy({ TRUSTED_ISSUERS: JSON.stringify([read.value.key.public_key]) }),
  ]);
  requests = [];
  groups = [];
  const scoring = train(RUN, async (request) => {
    const reply = await first.client.group({ ...request, detail: 'full' });
    if (!reply.ok) throw new Error(JSON.stringify(reply.failure));
    return reply.body;
  });
  for await (const step of scoring) {
    requests.push(...step.groups.map(({ request }) => request));
    groups.push(...step.groups.map(({ scored }) => scored));
  }
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
  const reply = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/jsonl' },
    body,
  });
  expect(reply.status).toBe(200);
  return reply.json();
}

async function ledger(deployment: Deployment): Promise<RunRollout[]> {
  const page = rolloutListSchema.parse(JSON.parse(await download(deployment, `/v1/runs/${RUN.id}/rollouts?limit=100`)));
  expect(page.next).toBeNull();
  return page.rollouts;
}

/** All lines of a replay. */
async function replayed({ client }: Deployment, recipe: Readonly<Record<string, unknown>>): Promise<unknown[]> {
  const replay = await client.replayRun(RUN.id, { recipe, samples: true });
  if (!replay.ok) throw new Error(JSON.stringify(replay.failure));
  const lines: unknown[] = [];
  for await (const line of replay.body) lines.push(line);
  return lines;
}

const members = () => groups.flatMap((group) => group.members);

test('its ledger and its judgments give the same rewards in an empty deployment, which judges nothing', async () => {
  expect(members()).toHaveLength(ROLLOUTS);
  expect(await recordedRollouts(first.client, RUN.id)).toHaveLength(ROLLOUTS);
  expect(await recordedRollouts(second.client, RUN.id)).toEqual([]);

  const run = await download(first, `/v1/runs/${RUN.id}/export`);
  const judgments = await download(first, `/v1/runs/${RUN.id}/judgments.jsonl`);
  const imported = runImportReportSchema.parse(await upload(second, `/v1/runs/${RUN.id}/import`, run));
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
  for (const [n, group] of groups.entries()) {
    const asked = requests[n];
    if (asked === undefined) throw new Error('no request');
    const { run: _run, store_text: _text, receipt: _receipt, ...request } = asked;
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

test('an interrupted run continues to the same policy, and a finished one is not scored again', async () => {
  const run: DemoRun = { ...RUN, id: 'interrupted' };
  const steps = async (client: Client, limit: number): Promise<TrainedStep[]> => {
    const trained: TrainedStep[] = [];
    for await (const step of trainAndRecord(client, run, await recordedRollouts(first.client, run.id))) {
      trained.push(step);
      if (trained.length === limit) break;
    }
    return trained;
  };
  await steps(first.client, 1);
  const interrupted = await recordedRollouts(first.client, run.id);
  expect(interrupted).toHaveLength(ROLLOUTS / SIZE.steps);
  const whole = await steps(first.client, SIZE.steps);
  expect(whole.flatMap((step) => step.groups.map((group) => group.scored.rewards))).toEqual(
    groups.map(({ rewards }) => rewards),
  );
  const finished = await recordedRollouts(first.client, run.id);
  expect(finished.slice(0, interrupted.length)).toEqual(interrupted);

  // No Worker is at this address: what is recorded is not sent.
  const nowhere = createClient({ url: new URL(`http://127.0.0.1:${await freePort()}`), key: null });
  const again = await steps(nowhere, SIZE.steps);
  expect(again.map(({ preferences }) => preferences)).toEqual(whole.map(({ preferences }) => preferences));
  const figures = await figuresOf(run, again, finished);
  for (const { reward, reference, recall } of figures) {
    expect(reward).toBeGreaterThan(reference ?? 10);
    expect(recall).toBeGreaterThan(0);
  }

  const alerts = await first.client.runs.alerts(run.id);
  const last = again.at(-1);
  if (!alerts.ok || last === undefined) throw new Error('no alerts, or no steps');
  const lines: string[] = [];
  const paper = {
    width: 100,
    style: (_colour: unknown, text: string) => text,
    write: (line: string) => lines.push(line),
  };
  await printStory({ run, figures, last, alerts: alerts.body }, paper);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(paper.width);
  expect(lines.join('\n')).toMatch(/The policy learned to cite: the reward went from \d\.\d\d to \d/u);
});
