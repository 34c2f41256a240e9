/**
 * Servers that are killed in the middle of a step, while a model writes criteria for groups of one prompt, and they
 * are scored, recorded and written into the log of its rubric. Repeated afterwards, nothing is lost and nothing counts
 * twice.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type * as z from 'zod';
import { checkLog } from '../../src/rubrics/evolution.ts';
import { questionDigest } from '../../src/rubrics/rubric-set.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { promptRubricsSchema } from '../../src/wire/rubrics.ts';
import { ended, killServers, type Served, startServe } from '../e2e/serve-process.ts';

const KILLS = 4;
const WORKERS = 4;
const GROUPS_A_STEP = 4;
const QUESTION = 'How long is the Aare?';
const OWN = 'States that the Aare is 288 km long';
type When = 'next_visit' | 'same_step';
const RULES = {
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

/** The groups that a model was asked to write criteria for, in order. */
const asked: string[] = [];

/** A model server that writes one criterion for each group. */
const writer = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    const group = /says the group (\d+)/u.exec(body)?.[1] ?? '';
    asked.push(group);
    const positive = [{ title: 'Group', description: `Names the group ${group} and the river` }];
    const content = JSON.stringify({ positive, negative: [] });
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    const reply = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices: [choice] });
    // Long enough that kills also fall into generations.
    void pause(40).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(reply));
  });
});
let backends = '';
beforeAll(async () => {
  await once(writer.listen(0, '127.0.0.1'), 'listening');
  const address = writer.address();
  if (typeof address !== 'object' || address === null) throw new Error('the writer has no port');
  const base_url = `http://127.0.0.1:${address.port}/v1`;
  const writers = [{ name: 'writer', kind: 'vllm', base_url, model: 'm', slots: 8, context_tokens: 32_768 }];
  backends = JSON.stringify({ backends: writers, default_judge: 'writer' });
});
afterAll(() => {
  writer.closeAllConnections();
  writer.close();
});

/** A group of the run: a model writes criteria for it, and it is scored. */
function play(url: string, when: When, n: number): Promise<Group | null> {
  return sent(groupSchema, `${url}/v1/groups`, {
    recipe: 'refiner-gpt54-instance-rubric',
    judge: 'lexical',
    question: QUESTION,
    tool_output: '<snippet id=S1>The Aare is 288 kilometres long.</snippet>',
    positive_rubrics: [{ description: OWN }],
    responses: [
      `<answer>It is ${n} km long.</answer>`,
      `<answer>The Aare is 288 km long, says the group ${n} of the river.</answer>`,
    ],
    run: { id: when, step: Math.floor(n / GROUPS_A_STEP), group: `g${n}` },
    evolution: { rules: { ...RULES, when }, generator: 'writer' },
  });
}

it.each<When>(['next_visit', 'same_step'])('%s: loses and repeats nothing', { timeout: 300_000 }, async (when) => {
  const start = (): Promise<Served> =>
    startServe('--state', state, '--var', 'ALLOW_LEXICAL_JUDGE=true', '--var', `BACKENDS=${backends}`);
  const acknowledged = new Map<number, Group>();
  let server = await start();
  let next = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { url, child } = server;
    let isUp = true;
    const work = async (): Promise<void> => {
      while (isUp) {
        const n = next++;
        const group = await play(url, when, n);
        if (group !== null) acknowledged.set(n, group);
      }
    };
    const workers = Array.from({ length: WORKERS }, work);
    // A busy machine may take seconds for the first groups.
    while (acknowledged.size < 2 * (kill + 1)) await pause(20);
    await pause(137 * kill);
    isUp = false;
    child.kill('SIGKILL');
    await Promise.all([ended(child), ...workers]);
    server = await start();
  }
  expect(acknowledged.size).toBeGreaterThan(KILLS);
  expect(acknowledged.size).toBeLessThan(next);
  for (let n = 0; n < next; n++) {
    asked.length = 0;
    const again = await play(server.url, when, n);
    const before = acknowledged.get(n);
    expect(again?.members.map(({ run }) => run?.attempt)).toEqual([0, 0]);
    if (before === undefined) continue;
    expect(again?.rewards).toEqual(before.rewards);
    expect(again?.members.map(({ rubric_set }) => rubric_set)).toEqual(
      before.members.map(({ rubric_set }) => rubric_set),
    );
    expect(again?.evolution).toMatchObject({ recorded: false, events: [], generation: { status: 'repeated' } });
    expect(asked).toEqual([]);
  }
  const reply = await fetch(`${server.url}/v1/runs/${when}/rubrics/${questionDigest(QUESTION)}`);
  const { events, rules } = promptRubricsSchema.required({ events: true }).parse(await reply.json());
  const log = events.map(({ entry }) => entry);
  const all = Array.from({ length: next }, (_, n) => `g${n}`).sort();
  for (const kind of ['proposed', 'scored']) {
    const groups = log.flatMap((event) => (event.event === kind && 'group' in event ? [event.group] : []));
    expect(groups.sort()).toEqual(all);
  }
  expect(checkLog(log, rules)).toEqual({ ok: true, value: null });
});
