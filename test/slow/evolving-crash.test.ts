/**
 * Servers that are killed in the middle of a step, while groups of one prompt are proposed for, scored, recorded and
 * written into the log of its rubric. Repeated afterwards, nothing is lost and nothing counts twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, expect, it } from 'vitest';
import type * as z from 'zod';
import { checkLog } from '../../src/rubrics/evolution.ts';
import { questionDigest } from '../../src/rubrics/rubric-set.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { promptRubricsSchema, startedSchema } from '../../src/wire/rubrics.ts';
import { ended, killServers, type Served, startServe } from '../e2e/serve-process.ts';

const KILLS = 5;
const WORKERS = 4;
const GROUPS_A_STEP = 4;
const QUESTION = 'How long is the Aare?';
const OWN = 'States that the Aare is 288 km long';
const RULES = {
  when: 'next_visit',
  cap: { rule: 'std', most: 3 },
  retire: { rule: 'below', std: 0.05, visits: 2 },
  persistent: 'row',
  again: 'refuse',
};

const state = mkdtempSync(join(tmpdir(), 'citeward-evolving-'));
afterEach(killServers);
afterAll(() => {
  rmSync(state, { recursive: true, force: true });
});

/** The body of a reply with status 200; `null` = it did not arrive. */
async function sent<S extends z.ZodType>(schema: S, url: string, body: object): Promise<z.output<S> | null> {
  const headers = { 'content-type': 'application/json' };
  let text: string;
  try {
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    text = await reply.text();
    if (reply.status >= 500) return null;
    expect(reply.status, text).toBe(200);
  } catch (error) {
    // The connection broke: whether the group counts is unknown.
    if (error instanceof TypeError) return null;
    throw error;
  }
  return schema.parse(JSON.parse(text));
}

const groupSchema = groupResponseSchema.extend({ evolution: groupResponseSchema.shape.evolution.unwrap() });
type Group = z.infer<typeof groupSchema>;

/** A group of the run: proposes a criterion, then is scored. */
async function play(url: string, n: number): Promise<Group | null> {
  const at = { step: Math.floor(n / GROUPS_A_STEP), group: `g${n}` };
  const started = await sent(startedSchema, `${url}/v1/runs/crash/rubrics`, {
    ...{ question: QUESTION, family: 'refiner', rules: RULES },
    criteria: [{ polarity: 'positive', description: OWN }],
    proposal: { ...at, criteria: [{ polarity: 'positive', description: `Names the group ${n} and the river` }] },
  });
  if (started === null) return null;
  return sent(groupSchema, `${url}/v1/groups`, {
    recipe: 'refiner-gpt54-instance-rubric',
    question: QUESTION,
    tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
    positive_rubrics: [{ description: OWN }],
    responses: [
      `<answer>It is ${n} km long.</answer>`,
      `<answer>The Aare is 288 km long, says the group ${n} of the river.</answer>`,
    ],
    run: { id: 'crash', ...at },
    evolution: { generator: null },
  });
}

it(`loses and repeats nothing in ${KILLS} kills in the middle of steps`, { timeout: 300_000 }, async () => {
  const start = (): Promise<Served> => startServe('--state', state, '--var', 'ALLOW_LEXICAL_JUDGE=true');
  const acknowledged = new Map<number, Group>();
  let server = await start();
  let next = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { url, child } = server;
    let isUp = true;
    const work = async (): Promise<void> => {
      while (isUp) {
        const n = next++;
        const group = await play(url, n);
        if (group !== null) acknowledged.set(n, group);
      }
    };
    const workers = Array.from({ length: WORKERS }, work);
    await pause(400 + 137 * kill);
    isUp = false;
    child.kill('SIGKILL');
    await Promise.all([ended(child), ...workers]);
    server = await start();
  }
  expect(acknowledged.size).toBeGreaterThan(KILLS);
  expect(acknowledged.size).toBeLessThan(next);
  for (let n = 0; n < next; n++) {
    const again = await play(server.url, n);
    const before = acknowledged.get(n);
    expect(again?.members.map(({ run }) => run?.attempt)).toEqual([0, 0]);
    if (before === undefined) continue;
    expect(again?.rewards).toEqual(before.rewards);
    expect(again?.members.map(({ rubric_set }) => rubric_set)).toEqual(
      before.members.map(({ rubric_set }) => rubric_set),
    );
    expect(again?.evolution).toMatchObject({ recorded: false, events: [] });
  }
  const reply = await fetch(`${server.url}/v1/runs/crash/rubrics/${questionDigest(QUESTION)}`);
  const { events, rules } = promptRubricsSchema.required({ events: true }).parse(await reply.json());
  const log = events.map(({ entry }) => entry);
  const all = Array.from({ length: next }, (_, n) => `g${n}`).sort();
  for (const kind of ['proposed', 'scored']) {
    const groups = log.flatMap((event) => (event.event === kind && 'group' in event ? [event.group] : []));
    expect(groups.sort()).toEqual(all);
  }
  expect(checkLog(log, rules)).toEqual({ ok: true, value: null });
});
