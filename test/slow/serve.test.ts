/**
 * `citeward serve` over minutes: its cron trigger, and servers that are killed while groups are judged and recorded and
 * a batch runs. What was acknowledged is there after the next start, and what was begun ends.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { BATCH_WATCH_MS, TASK_LEASE_MS } from '../../functions/batches/batch-timing.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { rolloutListSchema } from '../../src/wire/runs.ts';
import { begin, openAi, rewardsOnce, untilOver } from '../e2e/batch-client.ts';
import { startProbe } from '../e2e/serve-probe.ts';
import { ended, type Served, serverFolder, startServe } from '../e2e/serve-process.ts';

const KILLS = 5;
const GROUP = 4;
const LINES = 400;

const { folder } = serverFolder();

const ROLLOUT = {
  recipe: 'refiner-gpt54-instance-rubric',
  question: 'How long is the Aare?',
  tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
  positive_rubrics: [{ description: 'States that the Aare is 288 km long' }],
};

const answer = (n: number, of: string): string =>
  `<answer><snippet id=S1>It is ${n} km long, says ${of}.</snippet></answer>`;

/** Judges and records a group. Returns its rewards, or `null` if the reply did not arrive. */
async function record(url: string, group: number): Promise<readonly (number | null)[] | null> {
  const responses = Array.from({ length: GROUP }, (_, n) => answer(n, `group ${group}`));
  const body = JSON.stringify({ ...ROLLOUT, responses, run: { id: 'crash', step: 0, group } });
  const headers = { 'content-type': 'application/json' };
  try {
    const reply = await fetch(`${url}/v1/groups`, { method: 'POST', headers, body });
    return reply.status === 200 ? groupResponseSchema.parse(await reply.json()).rewards : null;
  } catch {
    // The connection broke: whether the group was recorded is unknown.
    return null;
  }
}

const KILLED = `%s processes lose nothing that they acknowledged in ${KILLS} kills, and end what they began`;

it.each(['1', '3'])(KILLED, { timeout: 600_000 }, async (processes) => {
  const flags = ['--state', join(folder, processes), '--processes', processes, '--var', 'ALLOW_LEXICAL_JUDGE=true'];
  const start = (): Promise<Served> => startServe(...flags);
  let server = await start();
  const ids = Array.from({ length: LINES }, (_, n) => `row-${n}`);
  const lines = ids.map((custom_id, n) => {
    const body = { ...ROLLOUT, response: answer(n, custom_id) };
    return `${JSON.stringify({ custom_id, method: 'POST', url: '/v1/score', body })}\n`;
  });
  const batch = await begin(openAi(server.url), lines.join(''));
  // The lexical judge computes in the server's one thread; requests are answered meanwhile.
  const { request_counts } = await openAi(server.url).batches.retrieve(batch.id);
  expect(request_counts?.completed).toBeLessThan(LINES);

  const acknowledged = new Map<number, readonly (number | null)[]>();
  let sent = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, url } = server;
    let isUp = true;
    const work = async (): Promise<void> => {
      while (isUp) {
        const group = sent++;
        const rewards = await record(url, group);
        if (rewards !== null) acknowledged.set(group, rewards);
      }
    };
    const workers = Array.from({ length: 4 }, work);
    const before = acknowledged.size;
    await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThan(before), { timeout: 60_000 });
    await pause(137 * kill);
    child.kill('SIGKILL');
    isUp = false;
    await Promise.all([ended(child), ...workers]);
    server = await start();
  }
  const { url } = server;
  for (const [group, rewards] of acknowledged) {
    const reply = await fetch(`${url}/v1/runs/crash/rollouts?step=0&group=${group}`);
    const { rollouts } = rolloutListSchema.parse(await reply.json());
    expect(rollouts.map(({ reward }) => reward)).toEqual(rewards);
  }
  // A group that was interrupted is judged and recorded when it is sent again.
  for (let group = 0; group < sent; group++) {
    const again = await record(url, group);
    expect(again).toEqual(acknowledged.get(group) ?? Array(GROUP).fill(expect.any(Number)));
  }
  const over = await untilOver(openAi(url), batch.id, TASK_LEASE_MS + BATCH_WATCH_MS + 120_000);
  expect(over.status).toBe('completed');
  expect((await rewardsOnce(openAi(url), over, ids)).size).toBe(LINES);
});

it('a cron trigger calls the Worker', { timeout: 180_000 }, async () => {
  const probe = await startProbe();
  await fetch(`${probe.url}/start`);
  await vi.waitFor(async () => expect(await probe.run('seen')).toContainEqual(['cron', '* * * * *']), {
    timeout: 150_000,
    interval: 500,
  });
  await probe.stop();
});
