/**
 * `POST /v1/groups` and `GET /v1/recipes` in workerd: rewards, advantages, masks, and refusals before any judge call.
 */
import { describe, expect, it } from 'vitest';
import { stepResponseSchema } from '../../src/wire/advantages.ts';
import { groupResponseSchema } from '../../src/wire/groups.ts';
import { recipesResponseSchema } from '../../src/wire/recipes.ts';
import { ORIGIN, post, problemOf, ROLLOUT, score, send, wrongFields } from './api.ts';

const { response: GOOD, ...SHARED } = ROLLOUT;
const COPIED = '<answer><snippet id=S1>The Aare is 288 kilometres long.</snippet></answer>';
const GROUP = { ...SHARED, responses: [GOOD, COPIED, 'I would rather not say.'] };

async function groupOf(body: unknown) {
  const reply = await send(post('/v1/groups', body));
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return groupResponseSchema.parse(JSON.parse(text));
}

describe('POST /v1/groups', () => {
  it('scores each sample as it would be scored alone, and centres the rewards', async () => {
    const group = await groupOf(GROUP);
    const alone = await Promise.all(GROUP.responses.map((response) => score({ ...SHARED, response })));
    expect(group.rewards).toEqual(alone.map(({ reward }) => reward));
    expect(group.members.map(({ judgments }) => judgments.map(({ key }) => key))).toEqual(
      alone.map(({ judgments }) => judgments.map(({ key }) => key)),
    );
    const mean = group.rewards.reduce<number>((sum, reward) => sum + (reward ?? Number.NaN), 0) / 3;
    expect(group.mean).toBeCloseTo(mean, 12);
    group.advantages.forEach(({ advantage, masked }, n) => {
      expect(masked).toBe(false);
      expect(advantage).toBeCloseTo((group.rewards[n] ?? Number.NaN) - mean, 12);
    });
    expect(group).toMatchObject({ valid: 3, degenerate: null });
  });

  it('gives 0 to each sample that cites nothing, if the recipe requires citations', async () => {
    const recipe = { base: ROLLOUT.recipe, citations: 'required' };
    const group = await groupOf({ ...GROUP, recipe, responses: [GOOD, '<answer>It is 288 kilometres long.</answer>'] });
    expect(group.rewards).toEqual([(await score(ROLLOUT)).reward, 0]);
    expect(group.members[1]).toMatchObject({ decided_by: 'citation_policy', finding_counts: { citation_missing: 1 } });
  });

  it('asks about the criteria in batches, and gives each score to its criterion', async () => {
    const asked = async (fields: object) => {
      const group = await groupOf({ ...GROUP, recipe: { base: ROLLOUT.recipe, judge_static: false, ...fields } });
      return group.members.slice(0, 2).map((member) => {
        if (member.family !== 'refiner') throw new Error('the recipe is a refiner');
        const { criteria, judgments } = member;
        return { criteria, keys: judgments.filter(({ kind }) => kind === 'rubric').map(({ key }) => key) };
      });
    };
    const joint = await asked({ judging: 'joint' });
    const alone = await asked({ judging: 'per_criterion' });
    const pairs = await asked({ judging: 'batched', batch: { size: 2, order_seed: 5 } });
    expect(await asked({ judging: 'batched', batch: { size: 9 } })).toEqual(joint);
    expect(await asked({ judging: 'batched', batch: { size: 1 } })).toEqual(alone);
    expect(pairs.map(({ keys }) => keys.length)).toEqual([2, 2]);
    expect(pairs.map(({ criteria }) => criteria)).toEqual(alone.map(({ criteria }) => criteria));
    const refused = post('/v1/groups', { ...GROUP, recipe: { base: ROLLOUT.recipe, judging: 'batched' } });
    expect(await wrongFields(await send(refused))).toEqual(['recipe.batch']);
  });

  it('takes samples with their own fields, and names a trainer', async () => {
    const responses = [
      { response: GOOD, finish_reason: 'stop' },
      { response: GOOD, finish_reason: 'length' },
    ];
    const recipe = { base: 'refiner-rl-balanced', non_stop_penalty: { enabled: true, value: -1 } };
    const group = await groupOf({ ...SHARED, recipe, responses, advantages: 'open-instruct' });
    expect(group.rewards[1]).toBe(-1);
    expect(group.advantages.map(({ advantage }) => Math.round((advantage ?? Number.NaN) * 1e6) / 1e6)).toEqual([1, -1]);
  });

  it('masks the samples whose judgment was lost, and lets them move nobody', async () => {
    const group = await groupOf({ ...GROUP, judgments: 'skip' });
    // Without judgments only the refusal has a reward: zero, earned.
    expect(group.rewards).toEqual([null, null, 0]);
    expect(group.advantages).toEqual([
      { advantage: 0, masked: true },
      { advantage: 0, masked: true },
      { advantage: 0, masked: false },
    ]);
    expect(group).toMatchObject({ valid: 1, degenerate: { reason: 'too_few_valid' } });
  });

  it('gives weighted sums for GDPO, which only the whole step turns into advantages', async () => {
    const group = await groupOf({ ...GROUP, advantages: 'trl-gdpo' });
    expect(group.final).toBe(false);
    expect((await groupOf({ ...GROUP, advantages: 'trl' })).final).toBe(true);
    for (const { advantage, weighted_sum } of group.advantages) {
      expect(advantage).toBeNull();
      expect(weighted_sum).toEqual(expect.any(Number));
    }
    const members = group.members.map(({ contributions }) => ({ components: contributions }));
    const lost = { id: 7, members: [{ components: null }, { components: { rubric: 1, citation: 0 } }] };
    const reply = await send(post('/v1/advantages', { rule: 'trl-gdpo', groups: [{ id: 'first', members }, lost] }));
    expect(reply.status).toBe(200);
    const step = stepResponseSchema.parse(await reply.json());
    expect(step.groups[0]?.advantages.map(({ weighted_sum }) => weighted_sum)).toEqual(
      group.advantages.map(({ weighted_sum }) => weighted_sum),
    );
    expect(step.groups[1]).toMatchObject({
      id: 7,
      advantages: [{ advantage: 0, masked: true, weighted_sum: null }, { masked: false }],
      degenerate: { reason: 'too_few_valid' },
    });
    const odd = { rule: { preset: 'trl-gdpo', weights: { ruric: 1 } }, groups: [{ members }] };
    expect(await wrongFields(await send(post('/v1/advantages', odd)))).toEqual(['rule.weights.ruric']);
    const misspelt = { ...GROUP, advantages: { preset: 'verl-gdpo', weights: { ruric: 1 } } };
    expect(await wrongFields(await send(post('/v1/groups', misspelt)))).toEqual(['advantages.weights.ruric']);
  });

  it('counts a sample beyond its share of the limits as no answer, and leaves the others alone', async () => {
    const claims = '<snippet id=S1>The Aare is 288 kilometres long.</snippet>'.repeat(251);
    const most = `<answer>${'<snippet id=S1>It is 288 km long.</snippet>'.repeat(250)}</answer>`;
    const normal = Array.from({ length: 62 }, (_, n) => GROUP.responses[n % 2] ?? '');
    const group = await groupOf({ ...SHARED, responses: [...normal, most, `<answer>${claims}</answer>`] });
    const alone = await groupOf(GROUP);
    expect(group.rewards.slice(0, 62)).toEqual(normal.map((_, n) => alone.rewards[n % 2]));
    const findings = group.members.map((member) => ('finding_counts' in member ? member.finding_counts : {}));
    expect(findings.at(-2)).not.toHaveProperty('answer_oversized');
    expect(findings.at(-1)).toMatchObject({ answer_oversized: 1 });
    expect(group.rewards.at(-1)).toBe(0);
    expect((await score({ ...SHARED, response: `<answer>${claims}</answer>` })).reward).toBeGreaterThan(0);
  });

  it('refuses more sources than all members of a reply can list, and says how to split', async () => {
    const pieces = Array.from({ length: 1_001 }, (_, n) => `<snippet id=T${n}>The Aare.</snippet>`).join('');
    const body = { ...SHARED, tool_output: pieces, responses: Array.from({ length: 40 }, () => GOOD) };
    const problem = await problemOf(await send(post('/v1/groups', body)), 422, 'input_invalid');
    expect(problem.errors).toEqual([
      { path: 'tool_output', message: expect.stringContaining('send at most 39 samples together, or fewer sources') },
    ]);
  });

  it('names a group that gives no signal', async () => {
    const group = await groupOf({ ...SHARED, responses: [GOOD, GOOD, GOOD], advantages: 'slime' });
    expect(group.degenerate).toEqual({ reason: 'all_equal', dropped_by_filter: true });
    expect(group.advantages.map(({ advantage }) => advantage)).toEqual([0, 0, 0]);
  });

  it('answers 409 with every judgment that is not stored', async () => {
    const body = { ...GROUP, question: 'How wide is it?', judgments: 'only' };
    const problem = await problemOf(await send(post('/v1/groups', body)), 409, 'judgment_missing');
    expect(problem.missing?.map(({ kind }) => kind).sort()).toEqual(['citations', 'rubric', 'rubric']);
  });

  it('divides by the maximum of the group where the recipe says so', async () => {
    const group = await groupOf({
      question: 'Which river flows through Bern?',
      reference: 'The Aare',
      entities: ['Aare', 'Bern', 'Rhine', 'Koblenz'],
      recipe: 'longtrace-rl',
      responses: ['The Aare, in Bern.', 'The Aare.', 'The Reuss'].map((response) => ({
        response,
        finish_reason: 'stop',
      })),
    });
    expect(group.rewards.map((reward) => Math.round((reward ?? Number.NaN) * 1e9) / 1e9)).toEqual([1, 0.85, 0]);
    const [first] = group.members;
    expect(first).toMatchObject({ family: 'long-trace', details: { group_max: 0.5, final: true } });
  });

  it('refuses, naming the sample, before anything is judged', async () => {
    const refused = async (change: object) => wrongFields(await send(post('/v1/groups', { ...GROUP, ...change })));
    expect(await refused({ responses: [] })).toEqual(['responses']);
    expect(await refused({ responses: Array.from({ length: 65 }, () => GOOD) })).toEqual(['responses']);
    expect(await refused({ responses: [GOOD, { response: GOOD, finishreason: 'stop' }] })).toEqual([
      'responses[1].finishreason',
    ]);
    expect(await refused({ advantages: 'slimey' })).toEqual(['advantages']);
    expect(await refused({ advantages: { preset: 'open-instruct-margin', bias: 2, verification_reward: 10 } })).toEqual(
      ['advantages.bias'],
    );
    expect(await refused({ response: GOOD })).toEqual(['response']);
    const recipe = { base: 'refiner-rl-balanced', non_stop_penalty: { enabled: true, value: -1 } };
    expect(await refused({ recipe, responses: [{ response: GOOD, finish_reason: 'stop' }, GOOD] })).toEqual([
      'responses[1].finish_reason',
    ]);
    expect(await refused({ recipe: 'grpo-tcr', reference: '1' })).toEqual([
      'responses[0].num_turns',
      'responses[0].response_tokens',
    ]);
  });
});

describe('POST /v1/score without a sandbox', () => {
  it('says so, and gives no number', async () => {
    const code = {
      response: '```python\nprint(1)\n```',
      tests: [{ stdin: '', stdout: '1' }],
      num_turns: 2,
      response_tokens: 10,
      recipe: 'grpo-tcr',
    };
    await problemOf(await send(post('/v1/score', code)), 503, 'sandbox_unconfigured');
    const group = await groupOf({
      tests: code.tests,
      recipe: 'grpo-tcr',
      responses: [{ response: code.response, num_turns: 2, response_tokens: 10 }],
    });
    expect(group.rewards).toEqual([null]);
    const strict = { tests: code.tests, recipe: 'grpo-tcr', on_judge_failure: 'error' };
    const responses = [{ response: code.response, num_turns: 2, response_tokens: 10 }];
    await problemOf(await send(post('/v1/groups', { ...strict, responses })), 503, 'sandbox_unconfigured');
  });
});

describe('GET /v1/recipes', () => {
  it('lists every recipe with its formula and the origin of each parameter', async () => {
    const reply = await send(new Request(`${ORIGIN}/v1/recipes`));
    expect(reply.status).toBe(200);
    const { recipes } = recipesResponseSchema.parse(await reply.json());
    expect(recipes.map(({ name }) => name)).toContain('refiner-gpt54-instance-rubric');
    for (const { parameters, formula } of recipes) {
      expect(formula.length).toBeGreaterThan(0);
      for (const { source } of parameters) expect(source).not.toBe('');
    }
  });
});
