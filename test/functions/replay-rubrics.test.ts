/** Replays of runs with evolving rubrics under other sets: missing verdicts are named and never a number. */
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import type { RubricMaker } from '../../service/ports.ts';
import { criterionId, questionDigest } from '../../src/rubrics/rubric-set.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import type { ReplayInput } from '../../src/wire/replay.ts';
import { type ReplayLineOf, replayLineSchema } from '../../src/wire/replay-reply.ts';
import { post, problemOf, ROLLOUT, send, wrongFields } from './api.ts';
import { asked, faithful, scriptedBackends, scripts } from './scripted-judges.ts';
import { replaceParts } from './worker.ts';

const PROMPT = questionDigest(ROLLOUT.question);
const { response, ...ROW } = ROLLOUT;
const idOf = (description: string): string => criterionId(PROMPT, { polarity: 'positive', description });
const [ALPHA, BETA] = [idOf('Says alpha'), idOf('Says beta')];

/** The criterion that the generator proposes for each step. */
const PROPOSED = ['Says alpha', 'Says beta'];
let made = 0;
const generate: RubricMaker = async () => {
  const description = PROPOSED[made++];
  const criteria = description === undefined ? [] : [{ polarity: 'positive' as const, description, weight: 1 }];
  return { ok: true, value: { criteria, judgment: null, read: [], rejected: [] } };
};

replaceParts({ backendsOf: scriptedBackends, makeRubrics: (request) => generate(request) });

let runs = 0;
let run = '';
beforeEach(() => {
  run = `replayed-${runs++}`;
  made = 0;
  scripts.clear();
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

const RECIPE = { base: 'refiner-gpt54-instance-only', judging: 'per_criterion' };

async function groupOf(step: number, words: readonly string[], more: object = {}, place: object = {}) {
  const responses = words.map((word) => response.replace('</answer>', ` ${word}</answer>`));
  const body = { ...ROW, recipe: RECIPE, responses, run: { id: run, step, group: 'a', ...place }, ...more };
  const reply = await send(post('/v1/groups', { evolution: { rules: 'citeward' }, ...body }));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return groupResponseSchema.parse(JSON.parse(text));
}

async function replay(input: ReplayInput) {
  const reply = await send(post(`/v1/runs/${run}/replay`, input));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const lines = text
    .trim()
    .split('\n')
    .map((line) => replayLineSchema.parse(JSON.parse(line)));
  const summary = lines.at(-1);
  if (summary?.kind !== 'summary') throw new Error(`no summary: ${text}`);
  const groups = lines.flatMap((line): ReplayLineOf<'group'>[] => (line.kind === 'group' ? [line] : []));
  return { lines, groups, summary };
}

const after = (groups: readonly ReplayLineOf<'group'>[]) => groups.map((group) => group.after.rewards);

it('one set for all steps: drops criteria, and names those that no judge saw', async () => {
  const first = await groupOf(0, ['alpha', 'gamma']);
  const second = await groupOf(1, ['alpha', 'gamma']);
  asked.clear();
  // The end of step 0 has the criterion that step 0 proposed: group 0 was judged before it.
  const { groups, summary, lines } = await replay({ rubrics: { at_step: 0 }, samples: true });
  expect(lines[0]).toMatchObject({ rubrics: { at_step: 0 } });
  expect(after(groups)).toEqual([[null, null], second.rewards]);
  expect(groups.map(({ rubrics }) => rubrics?.missing)).toEqual([
    [[ALPHA], [ALPHA]],
    [[], []],
  ]);
  expect(groups[0]?.rubrics?.sets).toEqual(Array(2).fill(groups[1]?.rubrics?.sets[0]));
  expect(groups[0]?.before.rewards).toEqual(first.rewards);
  expect(summary.figures).toMatchObject({ gaps: { 'rubric_set.criteria': 2 }, after: { scored: 2 } });
  const [sample] = lines.flatMap((line) => (line.kind === 'sample' ? [line] : []));
  expect(sample).toMatchObject({ gaps: ['rubric_set.criteria'], after: { reward: null, reason: 'not_measured' } });
  expect(asked.size).toBe(0);
});

it('one set for all steps: a group that was judged on more earns what it would have earned under the set', async () => {
  await groupOf(0, ['alpha', 'gamma']);
  await groupOf(1, ['alpha', 'beta']);
  const third = await groupOf(2, ['alpha', 'beta']);
  expect(third.members[0]?.rubric_set?.entries.map(({ id }) => id)).toContain(BETA);
  const { groups } = await replay({ rubrics: { at_step: 0 } });
  // The answers of steps 1 and 2 are the same, and step 1 was scored under the set of step 0.
  const [, atOne, atTwo] = after(groups);
  expect(atTwo).toEqual(atOne);
  expect(atTwo).not.toEqual(third.rewards);
});

it('fill has a judge judge what is missing, and nothing else', async () => {
  // No other test has these answers judged.
  const answers = ['alpha once', 'gamma once'];
  const stored = { store_text: true };
  await groupOf(0, answers, stored);
  const filled = await replay({ rubrics: { at_step: 0 }, fill: true });
  expect(filled.groups.map(({ rubrics }) => rubrics?.missing)).toEqual([[[], []]]);
  // The criterion that is new, for each rollout.
  expect(filled.summary).toMatchObject({ judge_calls: 2, measured: { rollouts: 2, without_text: 0, refused: 0 } });
  // The same answers earn the same in step 1, which is scored under that set.
  expect((await groupOf(1, answers)).rewards).toEqual(after(filled.groups)[0]);
  const again = await replay({ rubrics: { at_step: 0 }, fill: true });
  expect(again.summary.judge_calls).toBe(0);
});

it('without stored text fill leaves the rollouts without a number', async () => {
  await groupOf(0, ['alpha', 'gamma']);
  const { groups, summary } = await replay({ rubrics: { at_step: 0 }, fill: true });
  expect(after(groups)).toEqual([[null, null]]);
  expect(groups[0]?.rubrics?.missing).toEqual([[ALPHA], [ALPHA]]);
  expect(summary.measured).toEqual({ rollouts: 0, without_text: 2, refused: 0 });
});

it('other rules: the same rules change nothing, and a criterion that stays longer is missing later', async () => {
  // Says alpha tells nothing apart in steps 1 and 2, so it is retired before step 3.
  for (const step of [0, 1, 2]) await groupOf(step, ['gamma', 'delta']);
  const last = await groupOf(3, ['gamma', 'delta']);
  expect(last.members[0]?.rubric_set?.entries.map(({ id }) => id)).not.toContain(ALPHA);
  const same = await replay({ rubrics: { rules: 'citeward' } });
  expect(same.groups.map((group) => group.after.rewards)).toEqual(same.groups.map((group) => group.before.rewards));
  expect(same.groups.flatMap(({ rubrics }) => rubrics?.missing.flat())).toEqual([]);
  const kept = await replay({ rubrics: { rules: { retire: { rule: 'never' } } } });
  expect(kept.groups.map(({ rubrics }) => rubrics?.missing)).toEqual([
    [[], []],
    [[], []],
    [[], []],
    [[ALPHA], [ALPHA]],
  ]);
  expect(after(kept.groups).at(-1)).toEqual([null, null]);
  const capped = await replay({ rubrics: { rules: { cap: { rule: 'fifo', most: 1 } } }, recipe: { set: {} } });
  expect(capped.groups[2]?.rubrics?.missing).toEqual([[], []]);
  expect(capped.groups[2]?.rubrics?.sets).not.toEqual(same.groups[2]?.rubrics?.sets);
  expect(capped.groups[2]?.after.rewards).not.toContain(null);
});

it('the same rules change nothing for two groups of one prompt in flight', async () => {
  const both = ['a', 'b'].map((group) => groupOf(0, ['alpha', 'gamma'], {}, { group }));
  await Promise.all(both);
  const { groups, summary } = await replay({ rubrics: { rules: 'citeward' } });
  expect(after(groups)).toEqual(groups.map((group) => group.before.rewards));
  expect(summary.figures?.gaps).toEqual({});
});

it('a set that the log took back has no number', async () => {
  await groupOf(0, ['alpha', 'gamma']);
  await groupOf(1, ['alpha', 'gamma']);
  await groupOf(2, ['alpha', 'gamma']);
  await send(post(`/v1/runs/${run}/rubrics:resume`, { step: 0 }));
  const { groups, summary } = await replay({ rubrics: { rules: { retire: { rule: 'never' } } } });
  expect(after(groups)[2]).toEqual([null, null]);
  expect(summary.figures?.gaps).toEqual({ 'rubric_set.log': 2 });
});

it('sweeps weights under one set, and keeps rollouts without a verdict out of every point', async () => {
  await groupOf(0, ['alpha', 'gamma']);
  await groupOf(1, ['alpha', 'gamma']);
  const { lines } = await replay({ rubrics: { at_step: 0 }, sweep: { field: 'citation_weight', values: [0, 0.5] } });
  const points = lines.flatMap((line) => (line.kind === 'point' ? [line] : []));
  expect(points.map(({ after, gaps }) => [after.scored, gaps])).toEqual(
    Array(2).fill([2, { 'rubric_set.criteria': 2 }]),
  );
});

it('refuses rules that cannot change, judges to compare, and runs without evolving rubrics', async () => {
  await groupOf(0, ['alpha']);
  const refused = async (input: object) => wrongFields(await send(post(`/v1/runs/${run}/replay`, input)));
  expect(await refused({ rubrics: { rules: {} } })).toEqual(['rubrics.rules']);
  expect(await refused({ rubrics: { rules: { when: 'same_step' } } })).toContain('rubrics.rules.when');
  expect(await refused({ rubrics: { at_step: 0 }, judge: 'two' })).toEqual(['judge']);
  run = `plain-${runs++}`;
  await groupOf(0, ['alpha'], { evolution: undefined });
  const problem = await problemOf(
    await send(post(`/v1/runs/${run}/replay`, { rubrics: { at_step: 0 } })),
    422,
    'input_invalid',
  );
  expect(z.array(z.object({ path: z.string() })).parse(problem.errors)).toMatchObject([{ path: 'rubrics' }]);
});
