/** Groups that are scored under evolving rubrics: both orders, repetition, failures, groups in flight, resume, erasure. */
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import type { MadeGroupRubrics, RubricMaker } from '../../service/ports.ts';
import type { Result } from '../../src/result.ts';
import { criterionId, questionDigest, setId } from '../../src/rubrics/rubric-set.ts';
import { type RunStep, runStepSchema } from '../../src/runs/summary.ts';
import { type GroupResponse, groupResponseSchema, groupRewardResponseSchema } from '../../src/wire/groups.ts';
import { promptRubricsSchema } from '../../src/wire/rubrics.ts';
import { runRolloutSchema } from '../../src/wire/runs.ts';
import { ORIGIN, post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { asked, down, faithful, scriptedBackends, scripts } from './scripted-judges.ts';
import { replaceParts } from './worker.ts';

const PROMPT = questionDigest(ROLLOUT.question);
const { response, ...ROW } = ROLLOUT;
const RESPONSES = [`${response} alpha`, `${response} beta`, response, '<answer>alpha beta</answer>'];

/** The generator of a test: what it answers, and what it was asked. */
let generate: RubricMaker;
let wanted: Parameters<RubricMaker>[0][] = [];
const makes = (...descriptions: readonly string[]): Result<MadeGroupRubrics, never> => ({
  ok: true,
  value: {
    criteria: descriptions.map((description) => ({ polarity: 'positive', description, weight: 1 })),
    judgment: null,
    read: [],
    rejected: [],
  },
});
const idOf = (description: string): string => criterionId(PROMPT, { polarity: 'positive', description });

replaceParts({
  backendsOf: scriptedBackends,
  makeRubrics: async (request) => {
    wanted.push(request);
    return generate(request);
  },
});

let runs = 0;
let run = '';
beforeEach(() => {
  run = `evolving-${runs++}`;
  wanted = [];
  generate = async () => makes('Says alpha');
  scripts.clear();
  // A criterion "Says WORD" is met by an answer with this word, whatever the lexical judge makes of it.
  scripts.set('one', (request) => {
    const reply = faithful(request);
    if (request.kind !== 'rubric' || !reply.ok || reply.verdicts.kind !== 'rubric') return reply;
    const criteria = reply.verdicts.criteria.map((one, n) => {
      const word = /^Says (\w+)$/u.exec(request.criteria[n]?.description ?? '')?.[1];
      return word === undefined ? one : { ...one, score: request.answer.includes(word) ? (2 as const) : (0 as const) };
    });
    return { ...reply, verdicts: { ...reply.verdicts, criteria } };
  });
});

const bodyOf = (step: number, group: string, more: object = {}) => ({
  ...ROW,
  responses: RESPONSES.map((one) => one.replace('</answer> ', ' ').replace(/ (alpha|beta)$/u, ' $1</answer>')),
  run: { id: run, step, group },
  evolution: { rules: 'citeward' },
  ...more,
});

const groupSchema = groupResponseSchema.extend({ evolution: groupResponseSchema.shape.evolution.unwrap() });
type EvolvedGroup = z.infer<typeof groupSchema>;

async function groupOf(step: number, group: string, more: object = {}): Promise<EvolvedGroup> {
  const reply = await send(post('/v1/groups', bodyOf(step, group, more)));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return groupSchema.parse(JSON.parse(text));
}

const loggedSchema = promptRubricsSchema.required({ events: true });

async function read(): Promise<z.infer<typeof loggedSchema>> {
  const reply = await send(new Request(`${ORIGIN}/v1/runs/${run}/rubrics/${PROMPT}`));
  return loggedSchema.parse(await reply.json());
}

const setOfMembers = ({ members }: GroupResponse) => {
  const sets = new Set(members.map(({ rubric_set }) => JSON.stringify(rubric_set)));
  expect(sets.size).toBe(1);
  const [first] = members;
  if (first?.rubric_set === undefined) throw new Error('no set');
  expect(setId(first.rubric_set.entries)).toBe(first.rubric_set.id);
  return first.rubric_set;
};

it('next_visit: scores under the set of now, and proposes for the next visit', async () => {
  const first = await groupOf(0, 'a');
  expect(first.evolution).toMatchObject({
    ...{ prompt: PROMPT, recorded: true, stale: false },
    generation: { status: 'proposed', failure: null, proposed: [idOf('Says alpha')] },
  });
  expect(setOfMembers(first).entries.map(({ type }) => type)).toEqual(['persistent', 'persistent', 'persistent']);
  expect(first.evolution.set).toBe(setOfMembers(first).id);
  expect(wanted[0]).toMatchObject({ question: ROW.question, retired: [], generator: null });
  expect(wanted[0]?.persistent).toHaveLength(3);
  const second = await groupOf(1, 'a');
  const set = setOfMembers(second);
  expect(set.id).toBe(first.evolution.next_set);
  expect(set.entries.at(-1)).toEqual({ id: idOf('Says alpha'), weight: 1, type: 'evolving', since_step: 0 });
  // The facts have positive criteria first, so the negative one of the row comes after the new one.
  expect(set.positions).toEqual([0, 1, 3, 2]);
  const scored = second.evolution.events.find(({ event }) => event === 'scored');
  if (scored?.event !== 'scored') throw new Error('not scored');
  expect(scored.statistics.find(({ id }) => id === idOf('Says alpha'))).toMatchObject({ n: 4, mean: 0.5, std: 0.5 });
});

it('names what the generator wrote and the checks refused, in the reply and in the log', async () => {
  const rejected = [{ polarity: 'positive', description: 'Has 300 words', failed: 'about_length' }] as const;
  const made = makes('Says alpha');
  if (made.ok) generate = async () => ({ ok: true, value: { ...made.value, rejected } });
  const { evolution } = await groupOf(0, 'a');
  expect(evolution.events.find(({ event }) => event === 'proposed')).toMatchObject({ rejected });
  expect((await read()).events.map(({ entry }) => entry)).toContainEqual(expect.objectContaining({ rejected }));
});

const runSchema = z.object({ steps: z.array(runStepSchema) });

async function persistentRewards(id: string): Promise<readonly RunStep['persistent_reward'][]> {
  const reply = await send(new Request(`${ORIGIN}/v1/runs/${id}`));
  return runSchema.parse(await reply.json()).steps.map(({ persistent_reward }) => persistent_reward);
}

it('summarises the reward by the persistent criteria alone, which stays the same under another set', async () => {
  // Without static criteria: the judge's verdict on some of them depends on the others.
  const recipe = 'refiner-gpt54-instance-only';
  const first = await groupOf(0, 'a', { recipe });
  const second = await groupOf(1, 'a', { recipe });
  expect(second.rewards).not.toEqual(first.rewards);
  const [before, after] = await persistentRewards(run);
  const mean = first.rewards.reduce<number>((sum, reward) => sum + (reward ?? Number.NaN), 0) / RESPONSES.length;
  expect(before?.mean).toBeCloseTo(mean, 12);
  expect(after).toEqual(before);
});

it('same_step: the responses are scored by the criteria that were made from them', async () => {
  const first = await groupOf(0, 'a', { evolution: { rules: 'dr-tulu' } });
  const set = setOfMembers(first);
  expect(set.entries.map(({ id }) => id)).toContain(idOf('Says alpha'));
  expect(first.evolution.events.map(({ event }) => event)).toEqual(['proposed', 'activated', 'scored']);
  expect(first.evolution.set).toBe(first.evolution.next_set);
});

it('keeps the set in the recorded facts, so that a replay asks nothing', async () => {
  await groupOf(0, 'a');
  const { members, rewards } = await groupOf(1, 'a');
  const listed = await send(new Request(`${ORIGIN}/v1/runs/${run}/rollouts?step=1`));
  const { rollouts } = z.object({ rollouts: z.array(runRolloutSchema) }).parse(await listed.json());
  expect(rollouts.map(({ rubric_set }) => rubric_set)).toEqual(members.map(({ rubric_set }) => rubric_set));
  const exported = await (await send(new Request(`${ORIGIN}/v1/runs/${run}/export`))).text();
  const copy = `${run}-copy`;
  await send(
    new Request(`${ORIGIN}/v1/runs/${copy}/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/jsonl' },
      body: exported,
    }),
  );
  const copied = await (await send(new Request(`${ORIGIN}/v1/runs/${copy}/export`))).text();
  expect(copied.split('"rubric_set"')).toHaveLength(exported.split('"rubric_set"').length);
  expect(await persistentRewards(copy)).toEqual(await persistentRewards(run));
  asked.clear();
  const replay = post(`/v1/runs/${run}/replay`, { recipe: ROW.recipe });
  const lines = (await (await send(replay)).text()).trim().split('\n');
  const group = lines.find((line) => line.includes('"kind":"group"') && line.includes('"step":1'));
  expect(group).toContain(JSON.stringify(rewards));
  expect(asked.size).toBe(0);
});

it('a repeated request gets the same rewards, asks no one and counts once', async () => {
  for (const rules of ['citeward', 'dr-tulu']) {
    run = `evolving-${runs++}`;
    const first = await groupOf(0, 'a', { evolution: { rules } });
    await groupOf(0, 'b', { evolution: { rules } });
    asked.clear();
    wanted = [];
    const again = await groupOf(0, 'a', { evolution: { rules } });
    expect(again.rewards).toEqual(first.rewards);
    expect(setOfMembers(again)).toEqual(setOfMembers(first));
    expect(again.members.map((member) => member.run?.status)).toEqual(Array(4).fill('unchanged'));
    expect(again.evolution).toMatchObject({ recorded: false, events: [], generation: { status: 'repeated' } });
    expect(wanted).toEqual([]);
    expect(asked.size).toBe(0);
  }
});

it('a failed generation changes no reward and no set, and says so', async () => {
  const plain = await groupOf(0, 'plain', { evolution: { rules: 'dr-tulu', generator: null } });
  expect(plain.evolution.generation).toEqual({ status: 'none', failure: null, proposed: [] });
  run = `evolving-${runs++}`;
  generate = async () => ({ ok: false, error: { reason: 'generator_timeout' } });
  const failed = await groupOf(0, 'a', { evolution: { rules: 'dr-tulu' } });
  expect(failed.rewards).toEqual(plain.rewards);
  expect(failed.evolution.generation).toEqual({ status: 'failed', failure: 'generator_timeout', proposed: [] });
  const { active, events } = await read();
  expect(active).toEqual([]);
  expect(events.map(({ entry }) => entry)).toContainEqual({
    ...{ event: 'generation_failed', step: 0, group: 'a', reason: 'generator_timeout' },
  });
});

it('an unscored verdict enters no statistics, and a later try counts', async () => {
  scripts.set('three', down);
  const failed = await groupOf(0, 'a', { judge: 'three' });
  expect(failed.rewards).toEqual([null, null, null, null]);
  expect(failed.evolution).toMatchObject({ recorded: false, generation: { status: 'proposed' } });
  const scored = await groupOf(0, 'a', { judge: 'two' });
  expect(scored.rewards).not.toContain(null);
  expect(setOfMembers(scored)).toEqual(setOfMembers(failed));
  expect(scored.evolution).toMatchObject({ recorded: true, generation: { status: 'repeated' } });
  expect((await read()).events.filter(({ entry }) => entry.event === 'scored')).toHaveLength(1);
});

it('two groups of one prompt in flight both count', async () => {
  for (const rules of ['citeward', 'dr-tulu', 'open-instruct']) {
    run = `evolving-${runs++}`;
    let n = 0;
    generate = async () => makes(n++ === 0 ? 'Says alpha' : 'Says beta');
    const evolution = { rules };
    const both = await Promise.all([groupOf(0, 'a', { evolution }), groupOf(0, 'b', { evolution })]);
    expect(both.map(({ evolution: { recorded } }) => recorded)).toEqual([true, true]);
    expect(both.some(({ evolution: { stale } }) => stale)).toBe(true);
    const { active, events } = await read();
    expect(active.map(({ id }) => id).sort()).toEqual([idOf('Says alpha'), idOf('Says beta')].sort());
    expect(events.filter(({ entry }) => entry.event === 'scored')).toHaveLength(2);
  }
});

it('retires what tells nothing apart, and shows it to the generator', async () => {
  generate = async () => makes('Says gamma');
  for (const step of [0, 1, 2]) await groupOf(step, 'a');
  const { active, inactive } = await read();
  expect(active).toEqual([]);
  expect(inactive).toMatchObject([{ description: 'Says gamma', visits: 2, statistics: { std: 0 } }]);
  await groupOf(3, 'a');
  expect(wanted.at(-1)?.retired).toEqual([{ polarity: 'positive', description: 'Says gamma' }]);
});

it('resumes: a group of a step that was taken back is scored under the set of the checkpoint', async () => {
  await groupOf(0, 'a');
  const before = await groupOf(1, 'a', { evolution: {} });
  generate = async () => makes('Says beta');
  await groupOf(2, 'a');
  await send(post(`/v1/runs/${run}/rubrics:resume`, { step: 0 }));
  const after = await groupOf(1, 'a');
  expect(setOfMembers(after)).toEqual(setOfMembers(before));
  expect(after.evolution).toMatchObject({ recorded: true, stale: false, generation: { status: 'proposed' } });
});

it('a run that is erased while its group is scored: the group is refused, and begins the run anew', async () => {
  generate = async () => {
    await send(new Request(`${ORIGIN}/v1/runs/${run}`, { method: 'DELETE' }));
    generate = async () => makes('Says alpha');
    return makes('Says beta');
  };
  const body = bodyOf(0, 'a', { evolution: { rules: 'dr-tulu' } });
  await problemOf(await send(post('/v1/groups', body)), 409, 'run_gone');
  const again = await groupOf(0, 'a', { evolution: { rules: 'dr-tulu' } });
  expect(setOfMembers(again).entries.map(({ id }) => id)).not.toContain(idOf('Says beta'));
});

it('names the set in short replies', async () => {
  const reply = await send(post('/v1/groups', bodyOf(0, 'a', { detail: 'reward' })));
  const { members, evolution } = groupRewardResponseSchema.parse(await reply.json());
  expect(members.map(({ rubric_set }) => rubric_set)).toEqual(members.map(() => evolution?.set));
});

it('refuses what cannot evolve', async () => {
  const single = { ...ROLLOUT, evolution: { rules: 'dr-tulu' } };
  const problem = await problemOf(await send(post('/v1/score', single)), 422, 'input_invalid');
  expect(problem.errors).toMatchObject([{ path: 'evolution', message: expect.stringContaining('/v1/groups') }]);
  const refused = async (more: object) => wrongFields(await send(post('/v1/groups', bodyOf(0, 'a', more))));
  expect(await refused({ run: undefined })).toEqual(['evolution']);
  expect(await refused({ run: { id: run, step: null, group: 'a' } })).toEqual(['evolution']);
  expect(await refused({ question: undefined })).toEqual(['question']);
  const tool = { recipe: 'grpo-tcr', reference: '42' };
  expect(await refused(tool)).toEqual(['evolution']);
  await groupOf(0, 'a');
  expect(await refused({ evolution: { rules: 'dr-tulu' } })).toEqual(['evolution.rules']);
  expect(await refused({ positive_rubrics: ['Other'] })).toEqual(['evolution']);
  const unknown = bodyOf(0, 'b', { evolution: { generator: 'nobody' } });
  await problemOf(await send(post('/v1/groups', unknown)), 422, 'judge_unknown');
});
