/** The routes of evolving rubrics: a prompt's log in its run, compare and swap, groups in flight, resume, erasure. */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import type * as z from 'zod';
import { MAX_CRITERIA } from '../../src/limits.ts';
import { EVOLUTION_PRESETS } from '../../src/rubrics/evolution-rules.ts';
import { criterionId, questionDigest } from '../../src/rubrics/rubric-set.ts';
import {
  observationSchema,
  promptListSchema,
  promptRubricsSchema,
  resumedSchema,
  startedSchema,
} from '../../src/wire/rubrics.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { ended, line, submit } from './batch-api.ts';
import { replaceParts } from './worker.ts';

const QUESTION = 'How long is the Aare?';
const PROMPT = questionDigest(QUESTION);
const OWN = [{ polarity: 'positive', description: 'States 288 km' }] as const;

beforeAll(() => {
  replaceParts({ environmentOf: (environment) => ({ ...environment, RUN_SHARDS: '3' }) });
});

let runs = 0;
const newRun = (): string => `rubrics-${runs++}`;

const made = (n: number) => ({ polarity: 'positive', description: `Made ${n}` }) as const;
const idOf = (n: number): string => criterionId(PROMPT, made(n));

async function ok<S extends z.ZodType>(schema: S, request: Request): Promise<z.output<S>> {
  const reply = await send(request);
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return schema.parse(JSON.parse(text));
}

const startBody = { question: QUESTION, family: 'refiner', rules: 'citeward', criteria: OWN };
const start = (run: string, more: object = {}) =>
  ok(startedSchema, post(`/v1/runs/${run}/rubrics`, { ...startBody, ...more }));
const propose = (run: string, step: number, group: string, numbers: readonly number[], more: object = {}) =>
  start(run, { proposal: { step, group, criteria: numbers.map(made), ...more } });
const loggedSchema = promptRubricsSchema.required({ events: true });
const read = (run: string, query = '') =>
  ok(loggedSchema, new Request(`${ORIGIN}/v1/runs/${run}/rubrics/${PROMPT}${query}`));
const scored = (run: string, body: object) =>
  ok(observationSchema, post(`/v1/runs/${run}/rubrics/${PROMPT}/scored`, body));
const even = (numbers: readonly number[]) => numbers.map((n) => ({ id: idOf(n), n: 4, mean: 1, std: 0 }));
const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);

it('starts a prompt once, with its own criteria, and refuses other rules and criteria', async () => {
  const run = newRun();
  const first = await start(run);
  expect(first).toMatchObject({ started: true, proposal: null, rubrics: { prompt: PROMPT, active: [] } });
  expect(first.rubrics.persistent.map(({ description }) => description)).toEqual(['States 288 km']);
  expect((await start(run)).started).toBe(false);
  expect(await ok(startedSchema, post(`/v1/runs/${run}/rubrics`, { question: QUESTION }))).toMatchObject({
    started: false,
    rubrics: first.rubrics,
  });
  const short = await send(new Request(`${ORIGIN}/v1/runs/${run}/rubrics/${PROMPT}?log=false`));
  expect(await short.json()).toEqual(first.rubrics);
  const refused = (body: object) => send(post(`/v1/runs/${run}/rubrics`, { ...startBody, ...body }));
  expect(await wrongFields(await refused({ rules: 'dr-tulu' }))).toEqual(['rules']);
  expect(await wrongFields(await refused({ criteria: [] }))).toEqual(['criteria']);
  expect(await wrongFields(await refused({ family: 'carr' }))).toEqual(['family']);
  expect(await wrongFields(await refused({ family: 'dr-tulu' }))).toEqual(['family']);
  await problemOf(await send(post('/v1/runs/nobody/rubrics', { question: QUESTION })), 404, 'run_not_found');
});

it('refuses what is not there, and statistics that no verdicts have', async () => {
  const run = newRun();
  const { rubrics } = await start(run);
  const get = (path: string) => send(new Request(`${ORIGIN}/v1/runs/${path}`));
  await problemOf(await get(`nobody/rubrics/${PROMPT}`), 404, 'run_not_found');
  await problemOf(await get(`${run}/rubrics/${questionDigest('Other?')}`), 404, 'rubrics_not_found');
  await problemOf(await get(`${run}/rubrics/x`), 404, 'rubrics_not_found');
  const [own] = rubrics.persistent;
  const path = `/v1/runs/${run}/rubrics/${PROMPT}/scored`;
  for (const wrong of [
    { id: idOf(1), n: 2, mean: 1, std: 0 },
    { id: own?.id, n: 0, mean: 0, std: null },
    { id: own?.id, n: 1, mean: 1, std: 0 },
    { id: own?.id, n: 4, mean: 0.5, std: 0.6 },
  ]) {
    const body = { step: 0, group: 'g', set: rubrics.set.id, statistics: [wrong] };
    expect(await wrongFields(await send(post(path, body)))).toEqual(['statistics']);
  }
});

it('logs a generation that failed elsewhere once, and refuses it beside a proposal', async () => {
  const run = newRun();
  await propose(run, 0, 'g', [1]);
  const failed_generation = { step: 1, group: 'g', reason: 'judge_timeout' };
  const { proposal } = await start(run, { failed_generation });
  expect(proposal).toMatchObject({ recorded: true, events: [{ event: 'generation_failed', ...failed_generation }] });
  const again = await start(run, { failed_generation });
  expect(again.proposal).toMatchObject({ recorded: false, events: [] });
  const both = { question: QUESTION, failed_generation, proposal: { step: 1, group: 'g', criteria: [made(2)] } };
  const refused = await send(post(`/v1/runs/${run}/rubrics`, both));
  expect(await wrongFields(refused)).toEqual(['failed_generation']);
});

it('activates proposals, and retires a criterion after two groups that it does not tell apart', async () => {
  const run = newRun();
  const { proposal } = await propose(run, 0, 'g', [1, 2]);
  expect(proposal).toMatchObject({ recorded: true, stale: false });
  const before = await read(run);
  expect(idsOf(before.active)).toEqual([idOf(1), idOf(2)]);
  const statistics = [...even([1]), { id: idOf(2), n: 4, mean: 0.5, std: 0.5 }];
  await scored(run, { step: 1, group: 'g', set: before.set.id, statistics });
  const second = await scored(run, { step: 2, group: 'g', set: before.set.id, statistics });
  expect(second.events.map(({ event }) => event)).toEqual(['scored', 'retired']);
  const after = await read(run);
  expect(idsOf(after.active)).toEqual([idOf(2)]);
  expect(after.inactive).toMatchObject([{ id: idOf(1), visits: 2, statistics: { step: 2, std: 0 } }]);
  expect(after.set.id).toBe(second.set);
  expect(await read(run, '?step=1')).toMatchObject({ step: 1, set: before.set, inactive: [] });
});

it('counts a group once, whatever is sent again, and keeps what two groups in flight find', async () => {
  const run = newRun();
  const { rubrics } = await start(run);
  const under = rubrics.set.id;
  const both = await Promise.all([propose(run, 0, 'a', [1], { under }), propose(run, 0, 'b', [2], { under })]);
  expect(both.map(({ proposal }) => proposal?.stale).sort()).toEqual([false, true]);
  expect(idsOf((await read(run)).active).sort()).toEqual([idOf(1), idOf(2)].sort());
  const again = await propose(run, 0, 'a', [1, 3], { under });
  expect(again.proposal).toMatchObject({ recorded: false, events: [] });
  const { set, events } = await read(run);
  const body = { step: 0, group: 'a', set: set.id, statistics: even([1, 2]) };
  const replies = await Promise.all([scored(run, body), scored(run, body), scored(run, body)]);
  expect(replies.filter(({ recorded }) => recorded)).toHaveLength(1);
  expect((await read(run)).events).toHaveLength(events.length + 1);
});

it('keeps the set within the criteria that a rollout may have', async () => {
  const run = newRun();
  const rules = { ...EVOLUTION_PRESETS.citeward, cap: { rule: 'none' } };
  const numbers = Array.from({ length: MAX_CRITERIA - OWN.length }, (_, n) => n);
  const all = (step: number, some: readonly number[]) =>
    start(run, { rules, proposal: { step, group: 'g', criteria: some.map(made) } });
  expect((await all(0, numbers)).rubrics.set.entries).toHaveLength(MAX_CRITERIA);
  const { proposal, rubrics } = await all(1, [1_000]);
  expect(proposal?.events).toEqual([{ event: 'generation_failed', step: 1, group: 'g', reason: 'too_many_criteria' }]);
  expect(rubrics.set.entries).toHaveLength(MAX_CRITERIA);
  const body = { step: 2, set: rubrics.set.id, add: [made(1_000)] };
  expect(await wrongFields(await send(post(`/v1/runs/${run}/rubrics/${PROMPT}/edits`, body)))).toEqual(['add']);
});

it('edits by hand under the set that the person saw, and refuses a stale one', async () => {
  const run = newRun();
  await propose(run, 0, 'g', [1, 2]);
  const { set } = await read(run);
  const edit = (body: object) => send(post(`/v1/runs/${run}/rubrics/${PROMPT}/edits`, { step: 3, ...body }));
  const edited = loggedSchema.parse(
    await (await edit({ set: set.id, retire: [idOf(1)], add: [{ ...made(9), weight: 2 }] })).json(),
  );
  expect(idsOf(edited.active)).toEqual([idOf(2), idOf(9)]);
  expect(edited.active[1]).toMatchObject({ weight: 2, type: 'evolving', since_step: 3 });
  expect(edited.events.at(-3)?.entry).toMatchObject({ event: 'retired', reason: 'by_hand' });
  await problemOf(await edit({ set: set.id, retire: [idOf(2)] }), 409, 'rubrics_stale');
  expect(await wrongFields(await edit({ set: edited.set.id, retire: [idOf(1)] }))).toEqual(['retire']);
  expect(await wrongFields(await edit({ set: edited.set.id, restore: [idOf(2)] }))).toEqual(['restore']);
  expect(await wrongFields(await edit({ set: edited.set.id }))).toEqual(['retire']);
  const restored = await (await edit({ set: edited.set.id, restore: [idOf(1)] })).json();
  expect(idsOf(promptRubricsSchema.parse(restored).active)).toEqual([idOf(2), idOf(9), idOf(1)]);
});

it('resumes from a checkpoint: later events stay in the log and no longer count', async () => {
  const run = newRun();
  await propose(run, 0, 'g', [1]);
  const checkpoint = await read(run);
  await propose(run, 1, 'g', [2]);
  await propose(run, 2, 'g', [3]);
  const resume = (step: number) => ok(resumedSchema, post(`/v1/runs/${run}/rubrics:resume`, { step }));
  expect(await resume(0)).toEqual({ step: 0, prompts: 1 });
  expect(await resume(0)).toEqual({ step: 0, prompts: 0 });
  const resumed = await read(run);
  expect(resumed.set).toEqual(checkpoint.set);
  expect(resumed.events.filter(({ superseded }) => superseded)).toHaveLength(4);
  expect((await propose(run, 1, 'g', [4])).proposal).toMatchObject({ recorded: true, stale: false });
  expect(idsOf((await read(run)).active)).toEqual([idOf(1), idOf(4)]);
});

it('lists prompts by page, over all shards of a run', async () => {
  const run = newRun();
  const questions = ['one?', 'two?', 'three?'];
  for (const question of questions) await start(run, { question, criteria: [] });
  const page = (query: string) => ok(promptListSchema, new Request(`${ORIGIN}/v1/runs/${run}/rubrics?${query}`));
  const first = await page('limit=2');
  const second = await page(`limit=2&after=${first.next}`);
  expect(second.next).toBeNull();
  const listed = [...first.prompts, ...second.prompts].map(({ prompt }) => prompt);
  expect(listed).toEqual(questions.map(questionDigest).sort());
});

it('evolves by the groups of a batch, and not by its single rollouts', async () => {
  const run = newRun();
  const { response, ...row } = ROLLOUT;
  const evolution = { rules: 'citeward', generator: null };
  const groups = [0, 1].map((step) => ({
    ...row,
    responses: [response, '<answer>No.</answer>'],
    run: { id: run, step, group: 'g' },
    evolution,
  }));
  const done = await ended(
    (await submit(groups.map((body, n) => line(`${n}`, body, '/v1/groups')).join('\n'), '/v1/groups')).id,
  );
  expect(done).toMatchObject({ status: 'completed', request_counts: { completed: 2, failed: 0 } });
  const prompt = questionDigest(row.question);
  const reply = await send(new Request(`${ORIGIN}/v1/runs/${run}/rubrics/${prompt}`));
  const { events, persistent } = loggedSchema.parse(await reply.json());
  expect(events.filter(({ entry }) => entry.event === 'scored')).toHaveLength(2);
  expect(persistent.map(({ visits }) => visits)).toEqual([2, 2, 2]);
  const single = await ended((await submit(line('0', { ...ROLLOUT, evolution }))).id);
  expect(single.request_counts).toMatchObject({ completed: 0, failed: 1 });
});

it('is erased with its run, and begins anew under the same id', async () => {
  const run = newRun();
  await propose(run, 0, 'g', [1]);
  const erased = await send(new Request(`${ORIGIN}/v1/runs/${run}`, { method: 'DELETE' }));
  expect(await erased.json()).toMatchObject({ complete: true });
  const rows = await env.DB.prepare('SELECT * FROM run_list WHERE id = ?').bind(run).all();
  expect(rows.results).toEqual([]);
  await problemOf(await send(new Request(`${ORIGIN}/v1/runs/${run}/rubrics`)), 404, 'run_not_found');
  const { started, rubrics } = await start(run);
  expect(started).toBe(true);
  expect(rubrics.active).toEqual([]);
});
