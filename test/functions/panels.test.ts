/** Several judges through the API: votes, missing members, replays without a judge, and fallbacks of whole groups. */
import { beforeEach, describe, expect, it } from 'vitest';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import type { ReplayInput } from '../../src/wire/replay.ts';
import { replayLineSchema } from '../../src/wire/replay-reply.ts';
import { runDetailSchema } from '../../src/wire/runs.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, wrongFields } from './api.ts';
import { asked, down, faithful, scoresCriteria, scriptedBackends, scripts } from './scripted-judges.ts';
import { replaceParts } from './worker.ts';

replaceParts({ backendsOf: scriptedBackends });

beforeEach(() => {
  scripts.clear();
  asked.clear();
});

let rows = 0;
/** A rollout that no other test has had judged. */
const fresh = () => ({ ...ROLLOUT, question: `${ROLLOUT.question} (${rows++})` });

const PANEL = { members: ['one', 'two', 'three'] };
const RUBRIC = { base: ROLLOUT.recipe, citation_weight: 0, judge_static: false };
const asks = () => [...asked.values()].reduce((sum, count) => sum + count, 0);

async function groupOf(body: unknown) {
  const reply = await send(post('/v1/groups', body));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return groupResponseSchema.parse(JSON.parse(text));
}

async function replayOf(run: string, set: Record<string, unknown>) {
  const input: ReplayInput = { recipe: { set }, samples: true };
  const reply = await send(post(`/v1/runs/${run}/replay`, input));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => replayLineSchema.parse(JSON.parse(line)));
}

describe('judges', () => {
  it('vote, and are stored each under its own judge', async () => {
    scripts.set('one', scoresCriteria(1));
    scripts.set('two', scoresCriteria(0));
    scripts.set('three', scoresCriteria(2));
    const rollout = { ...fresh(), recipe: RUBRIC };
    const first = await score({ ...rollout, judges: PANEL });
    expect(first.panel?.members).toEqual(
      PANEL.members.map((judge) => ({ judge, replicate: 0, votes: true, missing: null })),
    );
    expect(new Set(first.judgments.map(({ model }) => model))).toEqual(
      new Set(['model-one', 'model-two', 'model-three']),
    );
    expect(asks()).toBe(3);
    // Stored: another rule, and one of the judges alone, ask nothing.
    const any = await score({ ...rollout, recipe: { ...RUBRIC, vote: 'any' }, judges: PANEL, judgments: 'only' });
    const all = await score({ ...rollout, recipe: { ...RUBRIC, vote: 'all' }, judges: PANEL, judgments: 'only' });
    const alone = await score({ ...rollout, judge: 'one', judgments: 'only' });
    expect(asks()).toBe(3);
    expect(first.reward).toBe(alone.reward);
    expect(all.reward).toBeLessThan(first.reward ?? Number.NaN);
    expect(any.reward).toBeGreaterThan(first.reward ?? Number.NaN);
    expect(alone).not.toHaveProperty('panel');
  });

  it('vote in the adapters of trainers, which record another panel as other content', async () => {
    scripts.set('two', scoresCriteria(0));
    scripts.set('three', scoresCriteria(0));
    const { question, tool_output, positive_rubrics, response } = fresh();
    const sample = async (judges: string) => {
      const label = { tool_output, positive_rubrics, run: { step: 0, group: 'g', sample: 's' } };
      const query = `recipe=${ROLLOUT.recipe}&run=adapter-panel&reply=object&${judges}`;
      const reply = await send(post(`/v1/adapters/slime?${query}`, { prompt: question, response, label }));
      return { status: reply.status, body: await reply.text() };
    };
    const outvoted = JSON.parse((await sample('judges=one,two,three')).body);
    const alone = JSON.parse((await sample('judge=one')).body);
    expect(outvoted.reward).toBeLessThan(alone.reward);
    expect(JSON.parse((await sample('judges=one,one%231')).body).reward).toBeCloseTo(alone.reward, 12);
    const rollouts = await (
      await send(new Request(`${ORIGIN}/v1/runs/adapter-panel/rollouts?attempts=all&detail=false`))
    ).text();
    expect(JSON.parse(rollouts).rollouts.map(({ reward }: { reward: number }) => reward)).toHaveLength(3);
    for (const [judges, field] of [
      ['judges=one', 'query.judges.members'],
      ['judges=one,two&judge=one', 'query.judges'],
      ['judges=one,alias', 'query.judges'],
      ['judges=one,one', 'query.judges.members'],
    ] as const) {
      const { status, body } = await sample(judges);
      expect([status, JSON.parse(body).errors?.map(({ path }: { path: string }) => path)]).toEqual([422, [field]]);
    }
    expect((await sample('judges=one,absent')).body).toContain('judge_unknown');
  });

  it('leave a verdict unscored that a missing one would decide, and name it', async () => {
    scripts.set('two', down);
    scripts.set('three', scoresCriteria(0));
    const problem = await problemOf(
      await send(post('/v1/score', { ...fresh(), judges: PANEL })),
      503,
      'judge_unreachable',
    );
    expect(problem.detail).toContain('judge two');
    scripts.set('three', faithful);
    const settled = await score({ ...fresh(), judges: PANEL });
    expect(settled.status).toBe('scored');
    expect(settled.panel?.members.map(({ missing }) => missing)).toEqual([null, 'judge_unreachable', null]);
  });

  it('are recorded, so that a replay changes the rule or the voters without a judge', async () => {
    scripts.set('one', scoresCriteria(1));
    scripts.set('two', scoresCriteria(0));
    scripts.set('three', scoresCriteria(2));
    const { response, ...shared } = fresh();
    const responses = [response, response.replace('288', '290'), 'no answer'];
    const run = { id: 'panel-run', step: 0, group: 'g' };
    const group = await groupOf({ ...shared, recipe: RUBRIC, responses, judges: PANEL, run });
    expect(group.agreement?.find(({ question }) => question === 'criteria')).toMatchObject({ agreement: 0 });
    const shown = await send(new Request(`${ORIGIN}/v1/runs/panel-run`));
    // Of the three members each criterion has three scores; the answer without a block has no verdicts.
    expect(runDetailSchema.parse(await shown.json()).steps).toMatchObject([{ agreement: { rollouts: 2 } }]);
    const before = asks();
    for (const set of [
      { vote: 'all' },
      { vote: 'mean' },
      { voters: ['two'] },
      { voters: ['one', 'three'], vote: 'any' },
    ]) {
      const lines = await replayOf('panel-run', set);
      const after = lines.flatMap((line) => (line.kind === 'group' ? line.after.rewards : []));
      const again = await groupOf({
        ...shared,
        recipe: { ...RUBRIC, ...set },
        responses,
        judges: PANEL,
        judgments: 'only',
      });
      expect(after).toEqual(again.rewards);
    }
    expect(asks()).toBe(before);
    const lacking = await send(post('/v1/runs/panel-run/replay', { recipe: { set: { voters: ['alias'] } } }));
    expect((await problemOf(lacking, 409, 'measurement_missing')).detail).toContain('recipe.voters');
  });

  it.each([
    [{ judges: { members: ['one'] } }, ['judges.members']],
    [{ judges: { members: ['one', 'two', 'three', 'alias', 'one#', 'x'] } }, ['judges.members']],
    [{ judges: { members: ['one', 'one'] } }, ['judges.members']],
    [{ judges: { members: ['one', 'alias'] } }, ['judges.members[1]']],
    [{ judges: PANEL, judge: 'one' }, ['judges']],
    [{ judges: PANEL, replicate: 1 }, ['replicate']],
    [{ judges: PANEL, recipe: { ...RUBRIC, voters: ['four'] } }, ['recipe.voters']],
    [{ recipe: { ...RUBRIC, voters: ['one'] } }, ['recipe.voters']],
    [{ recipe: { ...RUBRIC, vote: 'best' } }, ['recipe.vote']],
  ])('%j is refused', async (fields, paths) => {
    expect(await wrongFields(await send(post('/v1/score', { ...fresh(), ...fields })))).toEqual(paths);
    expect(asks()).toBe(0);
  });

  it('names a judge that does not exist', async () => {
    const reply = await send(post('/v1/score', { ...fresh(), judges: { members: ['one', 'nobody'] } }));
    await problemOf(reply, 422, 'judge_unknown');
  });
});

describe('a fallback in a group', () => {
  it('judges every sample if the first judge fails on one, and keeps what the first one judged', async () => {
    const { response, ...shared } = fresh();
    const failing = response.replace('288', '290');
    scripts.set('one', (request) =>
      'answer' in request && request.answer.includes('290') ? down(request) : scoresCriteria(2)(request),
    );
    const body = { ...shared, recipe: RUBRIC, responses: [response, failing], judge: ['one', 'two'] };
    const group = await groupOf(body);
    expect(group.members.flatMap(({ judgments }) => judgments.map(({ model }) => model))).toEqual([
      'model-two',
      'model-two',
    ]);
    expect(group.valid).toBe(2);
    const first = await score({ ...shared, recipe: RUBRIC, response, judge: 'one', judgments: 'only' });
    expect(first.judgments[0]).toMatchObject({ model: 'model-one', cached: true });
  });

  it('mixes no judges if all of them fail on some sample', async () => {
    const { response, ...shared } = fresh();
    const failsOn = (text: string) => (request: Parameters<typeof down>[0]) =>
      'answer' in request && request.answer.includes(text) ? down(request) : faithful(request);
    scripts.set('one', failsOn('288'));
    scripts.set('two', failsOn('290'));
    const responses = [response, response.replace('288', '290'), response.replace('288', '300')];
    const group = await groupOf({ ...shared, recipe: RUBRIC, responses, judge: ['one', 'two'] });
    const models = group.members.flatMap(({ judgments }) =>
      judgments.flatMap(({ failure, model }) => (failure === null ? [model] : [])),
    );
    expect(new Set(models).size).toBe(1);
    expect(group.valid).toBe(2);
  });
});

describe('a fallback for single samples', () => {
  it('is counted by model in each step of the run, and so are samples that the first judge judged', async () => {
    const { response, ...shared } = fresh();
    const run = { id: 'single-samples', step: 4, group: 'a' };
    const sample = (n: number, judge: string | readonly string[]) =>
      score({
        ...shared,
        recipe: RUBRIC,
        response: response.replace('288', `${288 + n}`),
        judge,
        run: { ...run, sample: n },
      });
    await sample(0, ['one', 'two']);
    scripts.set('one', down);
    await sample(1, ['one', 'two']);
    await sample(2, ['one', 'two']);
    await sample(3, 'two');
    const reply = await send(new Request(`${ORIGIN}/v1/runs/${run.id}`));
    const { steps } = runDetailSchema.parse(await reply.json());
    expect(steps.map(({ judged_by }) => judged_by)).toEqual([{ 'model-one': 1, 'model-two': 2 }]);
  });
});

describe('a judge watched through replays', () => {
  const summaryOf = async (run: string, input: ReplayInput) => {
    const reply = await send(post(`/v1/runs/${run}/replay`, input));
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => replayLineSchema.parse(JSON.parse(line)));
    const last = lines.at(-1);
    if (last?.kind !== 'summary') throw new Error(text);
    return last;
  };

  it('is asked anew about canaries, once a round, and its drift shows', async () => {
    const { response, ...shared } = fresh();
    scripts.set('one', (request) =>
      'answer' in request && request.answer.includes('290') ? scoresCriteria(0)(request) : scoresCriteria(2)(request),
    );
    const responses = [response, response.replace('288', '290')];
    const run = { id: 'canary-run', step: 0, group: 'g' };
    const first = await groupOf({ ...shared, recipe: RUBRIC, responses, judge: 'one', run, store_text: true });
    const before = asks();
    const steady = await summaryOf('canary-run', { judge: 'one', replicate: 1, steps: { from: 0, to: 0 } });
    expect(asks()).toBeGreaterThan(before);
    expect(steady.judges?.different).toBe(0);
    // The judge now prefers the other answer.
    scripts.set('one', (request) =>
      'answer' in request && request.answer.includes('290') ? scoresCriteria(2)(request) : scoresCriteria(0)(request),
    );
    const drifted = await summaryOf('canary-run', { judge: 'one', replicate: 2, steps: { from: 0, to: 0 } });
    expect(drifted.judges?.different).toBe(2);
    expect(drifted.figures?.advantages).toMatchObject({ flipped: 2, flipped_share: 1 });
    const asked = asks();
    // The same round again asks nothing, and the recorded rewards stay.
    expect(await summaryOf('canary-run', { judge: 'one', replicate: 2 })).toMatchObject({ judge_calls: 0 });
    expect(asks()).toBe(asked);
    expect(drifted.figures?.before.mean).toBeCloseTo(first.mean ?? Number.NaN, 12);
  });

  it('is compared with its own verdicts where it was a member of a panel', async () => {
    const { response, ...shared } = fresh();
    for (const [judge, level] of [
      ['one', 2],
      ['two', 0],
      ['three', 0],
    ] as const)
      scripts.set(judge, scoresCriteria(level));
    const run = { id: 'panel-canary', step: 0, group: 'g' };
    const responses = [response, response.replace('288', '290')];
    await groupOf({ ...shared, recipe: RUBRIC, responses, judges: PANEL, run, store_text: true });
    // The vote of the others is its opposite, but it says what it said.
    const steady = await summaryOf('panel-canary', { judge: 'one', replicate: 1 });
    expect(steady.judges).toMatchObject({ compared: 2, different: 0, as_member: 2 });
    scripts.set('one', scoresCriteria(0));
    const drifted = await summaryOf('panel-canary', { judge: 'one', replicate: 2 });
    expect(drifted.judges).toMatchObject({ compared: 2, different: 2, as_member: 2 });
  });

  it('is audited on a share of the groups, and a failing audit changes nothing', async () => {
    const recorded: (number | null)[] = [];
    for (let group = 0; group < 8; group++) {
      const { response, ...shared } = fresh();
      const run = { id: 'audit-run', step: group, group: `g${group}` };
      const { rewards } = await groupOf({
        ...shared,
        recipe: RUBRIC,
        responses: [response, 'none'],
        judge: 'one',
        run,
        store_text: true,
      });
      recorded.push(...rewards);
    }
    scripts.set('two', scoresCriteria(0));
    const input: ReplayInput = { judge: 'two', sample: { share: 0.5, seed: 1 } };
    const audit = await summaryOf('audit-run', input);
    expect(audit.groups).toBeGreaterThan(0);
    expect(audit.groups).toBeLessThan(8);
    expect(asked.get('two')).toBe(audit.groups * 2);
    expect(audit.figures?.shift.mean).toBeLessThan(0);
    expect(await summaryOf('audit-run', input)).toMatchObject({ judge_calls: 0, groups: audit.groups });
    scripts.set('three', down);
    const failed = await summaryOf('audit-run', { judge: 'three', sample: { share: 1 } });
    // Answers without an answer block earn 0 whatever a judge says.
    expect(failed.figures).toMatchObject({ shift: { compared: 8 }, before: { scored: 16 }, after: { scored: 8 } });
    const kept = await summaryOf('audit-run', { recipe: { set: {} } });
    expect(kept.figures?.before.mean).toBeCloseTo(
      recorded.reduce<number>((sum, reward) => sum + (reward ?? 0), 0) / recorded.length,
      12,
    );
  });

  it.each([
    [{ recipe: { set: {} }, replicate: 1 }, ['replicate']],
    [{ judge: 'one', fill: true, replicate: 1 }, ['replicate']],
    [{ judge: 'one', sample: { share: 0 } }, ['sample.share']],
    [{ judge: 'one', sample: { share: 2 } }, ['sample.share']],
  ])('%j is refused', async (input, paths) => {
    expect(await wrongFields(await send(post('/v1/runs/audit-run/replay', input)))).toEqual(paths);
  });
});
