/**
 * A kill at every point of a large batch's end and of sealing. Each kill starts from a copy of the same state. A later
 * version of the Worker then continues, as after a deployment. What it ends with equals, byte by byte, what a Worker
 * without kills ends with.
 */
import { rmSync } from 'node:fs';
import type OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalWorker, startLocalWorker } from '../../scripts/local-worker.ts';
import { begin, openAi, untilOver } from '../e2e/batch-client.ts';
import { KillPoints, killPointsOf, VARIABLES } from './kill-points.ts';
import { endLeases, ledgerState, segmentKeys } from './object-files.ts';

/** Guards against a Worker that hangs. */
const HANG_MS = 900_000;

let points: KillPoints;
beforeAll(async () => {
  points = await KillPoints.build();
}, HANG_MS);
afterAll(() => points.close());

it('a batch ends with the same files whatever point of its end a kill hits', { timeout: HANG_MS }, async () => {
  // Five chunks, whose output takes an upload of several parts; every seventh line is an error line.
  const ids = Array.from({ length: 430 }, (_, n) => `line-${n}`);
  const start = points.newState();
  const { url } = await points.start('this', start);
  points.watch(isOfBatchEnd, (point) => point.startsWith('before R2 get batches/'));
  const { id } = await begin(openAi(url), ids.map(verifyLine).join(''), '/v1/verify');
  await points.killed;
  endLeases(start);

  /** Runs the end on a copy of the state, with a kill at a point and the next version after it. */
  const end = async (killAt: string | null) => {
    const state = points.newState(start);
    points.watch(isOfBatchEnd, (point) => point === killAt);
    let worker = await points.start('this', state);
    if (killAt !== null) {
      // The call ends with the Worker or before.
      await Promise.allSettled([goOn(worker, id)]);
      await points.killed;
      endLeases(state);
      worker = await points.start('next', state);
    }
    await goOn(worker, id);
    const client = openAi(worker.url);
    const { status, request_counts, output_file_id, error_file_id } = await untilOver(client, id, HANG_MS, 20);
    const { seen } = points;
    const contents = [output_file_id, error_file_id].map((file) => textOf(client, file));
    const files = (await client.files.list()).data.map((file) => `${file.id}: ${file.bytes}`).sort();
    const found = { status, request_counts, files, contents: await Promise.all(contents) };
    await worker.kill();
    rmSync(state, { recursive: true });
    return { found, seen };
  };

  const calm = await end(null);
  const [output = [], error = []] = calm.found.contents.map((text) => text.trimEnd().split('\n').map(idOf));
  expect(output).toEqual(ids.filter((_, n) => n % 7 !== 0));
  expect(error).toEqual(ids.filter((_, n) => n % 7 === 0));
  expect(calm.found.request_counts).toEqual({ total: ids.length, completed: output.length, failed: error.length });
  const kills = killPointsOf(calm.seen);
  for (const point of kills) expect((await end(point)).found, point).toEqual(calm.found);
  console.log(JSON.stringify({ kills_of_a_batch: kills.length }));
});

it('a run is sealed, each rollout once, whatever point of sealing a kill hits', { timeout: HANG_MS }, async () => {
  // The Worker's own limits: nothing is sealed yet.
  const start = points.newState();
  const worker = await startLocalWorker({ variables: VARIABLES, deadline_ms: HANG_MS, state: start });
  await recordAgain(worker);
  const recorded = await readRun(worker);
  await worker.kill();
  expect(ledgerState(start)).toMatchObject({ records: GROUPS.length, inline: GROUPS.length, segments: 0 });

  /** Seals a copy of the state, with a kill at a point and the next version after it. */
  const seal = async (killAt: string | null, isEnd: (seen: readonly string[]) => boolean) => {
    const state = points.newState(start);
    points.watch(isOfSealing, (point) => point === killAt);
    let sealing = await points.start('this', state);
    if (killAt !== null) {
      await Promise.allSettled([recordAgain(sealing)]);
      await points.killed;
      points.watch(isOfSealing);
      sealing = await points.start('next', state);
    }
    await recordAgain(sealing);
    await points.until(isEnd);
    expect(await readRun(sealing), `${killAt}`).toEqual(recorded);
    const { seen } = points;
    await sealing.stop();
    expect(ledgerState(state), `${killAt}`).toMatchObject({ records: GROUPS.length, inline: 0, segments: 1 });
    const { named, stored } = segmentKeys(state);
    expect(stored, `${killAt}`).toEqual(named);
    rmSync(state, { recursive: true });
    return seen;
  };

  // Each group is a segment, and the three become one by way of another one.
  const isDeletion = (point: string): boolean => point.startsWith('after R2 delete');
  const seen = await seal(null, (all) => all.filter(isDeletion).length === 4);
  const last = seen.findLastIndex(isDeletion);
  const kills = killPointsOf(seen.slice(0, last + 1));
  for (const point of kills) await seal(point, (all) => all.includes(seen[last] ?? ''));
  console.log(JSON.stringify({ kills_of_sealing: kills.length }));
});

const GROUPS = ['a', 'b', 'c'];

function isOfSealing(point: string): boolean {
  return point.includes('/segments/');
}

/** Records the groups, or finds them recorded. Lets the ledger do what is due. */
async function recordAgain({ url }: LocalWorker): Promise<void> {
  for (const group of GROUPS) {
    const body = {
      recipe: 'refiner-gpt54-instance-rubric',
      question: 'How long is the Aare?',
      tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
      responses: [8, 9].map((n) => `<answer><snippet id=S1>The Aare is 28${n} km long, ${group}.</snippet></answer>`),
      positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
      run: { id: 'r', step: 0, group },
      store_text: true,
    };
    expect((await send(`${url}/v1/groups`, body)).status).toBe(200);
  }
}

/** All that can be read of the run. */
async function readRun({ url }: LocalWorker): Promise<string[]> {
  const replies = await Promise.all([
    fetch(`${url}/v1/runs/r/export`),
    fetch(`${url}/v1/runs/r/rollouts?detail=true&attempts=all`),
    send(`${url}/v1/runs/r/replay`, { recipe: { set: { citation_weight: 0.5 } } }),
  ]);
  return Promise.all(replies.map((reply) => reply.text()));
}

function send(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The list of batches in D1 is written at times that the clock decides; it follows the object. */
function isOfBatchEnd(point: string): boolean {
  return /^\w+ (R2|queue|D1 INSERT)/u.test(point) && !point.includes('D1 INSERT INTO batches');
}

function verifyLine(custom_id: string, n: number): string {
  const tool_output = '<snippet id=S1>The Aare is 288 km long.</snippet>';
  const body = { response: `<answer><snippet id=S1>The Aare is ${n} km long.</snippet></answer>`, tool_output };
  const request = { custom_id, method: 'POST', url: '/v1/verify', body: n % 7 === 0 ? {} : body };
  return `${JSON.stringify(request)}\n`;
}

function idOf(line: string): unknown {
  return JSON.parse(line).custom_id;
}

/** Lets the object of a batch look for lost tasks now. */
async function goOn({ url }: LocalWorker, batch: string): Promise<void> {
  const reply = await fetch(`${url}/v1/batches/${batch}/redrive`, { method: 'POST' });
  expect(reply.status).toBe(200);
}

async function textOf(client: OpenAI, file: string | null | undefined): Promise<string> {
  return file === null || file === undefined ? '' : (await client.files.content(file)).text();
}
