/** The lines of a replay, compared with composing the recorded facts directly. */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/families/composers.ts';
import { compose, composeGroup, contributions, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import { planReplay, type ReplayPlan } from '../../../src/runs/plan-replay.ts';
import type { Measurement } from '../../../src/runs/replay-group.ts';
import { findMissing, type Measurer, replayLines } from '../../../src/runs/replay-lines.ts';
import { findStepProblems } from '../../../src/runs/replay-step.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import { advantages } from '../../../src/scoring/advantages.ts';
import { stepAdvantages } from '../../../src/wire/advantages.ts';
import { type ReplayInput, replayRequestSchema } from '../../../src/wire/replay.ts';
import { type ReplayLine, type ReplayLineOf, replayLineSchema } from '../../../src/wire/replay-reply.ts';
import { rowsOf, syntheticRun } from './synthetic-rows.ts';

const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];
const DIGEST = 'a'.repeat(64);

async function* streamed(groups: Iterable<LedgerRow[]>): AsyncGenerator<LedgerRow[]> {
  yield* groups;
}

async function planOf(input: ReplayInput, recipe: Recipe = RECIPE): Promise<ReplayPlan> {
  const planned = await planReplay('run', new Map([[DIGEST, recipe]]), replayRequestSchema.parse(input));
  if (!planned.ok) throw new Error(JSON.stringify(planned.error));
  return planned.value;
}

async function replayOf(
  groups: Iterable<LedgerRow[]>,
  plan: ReplayPlan,
  measurer: Measurer | null = null,
): Promise<ReplayLine[]> {
  const lines: ReplayLine[] = [];
  for await (const line of replayLines(streamed(groups), plan, { measurer })) lines.push(replayLineSchema.parse(line));
  return lines;
}

function only<K extends ReplayLine['kind']>(lines: readonly ReplayLine[], kind: K): ReplayLineOf<K>[] {
  return lines.filter((line): line is ReplayLineOf<K> => line.kind === kind);
}

describe('replayLines', () => {
  it('gives each group the composed rewards and their advantages, bit for bit', async () => {
    const plan = await planOf({ recipe: { set: { citation_weight: 0.55 } }, advantages: 'slime' });
    const groups = only(await replayOf(syntheticRun(640), plan), 'group');
    const run = [...syntheticRun(640)];
    expect(groups).toHaveLength(80);
    for (const [position, line] of groups.entries()) {
      const rows = run[position] ?? [];
      const rewards = rows.map(({ facts }) => compose(facts, { ...RECIPE, citation_weight: 0.55 }).reward);
      expect(line.after.rewards).toEqual(rewards);
      expect(line.before.rewards).toEqual(rows.map(({ reward }) => reward));
      const result = advantages(rewards, 'slime');
      if (!result.ok) throw new Error('no advantages');
      expect(line.after.advantages).toEqual(result.value.advantages.map(({ advantage }) => advantage));
      expect(line.after.degenerate).toBe(result.value.degenerate?.reason ?? null);
      expect(line.samples).toEqual(rows.map(({ sample }) => sample));
    }
  });

  it('normalises within the group if the family does', async () => {
    const facts = [1, 2, 4].map(
      (content): Facts => ({
        v: 1,
        family: 'long-trace',
        well_formed: true,
        finish_reason: 'stop',
        outcome: { status: 'scored', observed: 1 },
        entities: { total: 4, content, reasoning: 0, both: content },
        chunks: null,
      }),
    );
    const recipe = RECIPES['longtrace-rl'];
    const plan = await planOf({ recipe: { set: { eta: 0.9 } } }, recipe);
    const [line] = only(await replayOf([rowsOf(facts, recipe)], plan), 'group');
    expect(line?.after.rewards).toEqual(composeGroup(facts, { ...recipe, eta: 0.9 }).map(({ reward }) => reward));
  });

  it('sends the changes first, each step at its end, and the summary last', async () => {
    const lines = await replayOf(syntheticRun(512), await planOf({ recipe: { set: { citation_weight: 0.5 } } }));
    expect(lines[0]).toMatchObject({
      kind: 'replay',
      judge: null,
      recipes: [{ before: DIGEST, changed: [{ name: 'citation_weight', kind: 'compose', before: 0.2, after: 0.5 }] }],
    });
    const steps = lines.flatMap((line, position) => (line.kind === 'step' ? [position] : []));
    expect(steps).toEqual([33, 66]);
    expect(lines.at(-1)).toMatchObject({ kind: 'summary', rollouts: 512, groups: 64, judge_calls: 0, measured: null });
    expect(only(lines, 'step').map(({ step, rollouts }) => [step, rollouts])).toEqual([
      [0, 256],
      [1, 256],
    ]);
  });

  it('sends a line for each rollout on request', async () => {
    const plan = await planOf({ recipe: { set: { instance_rubrics_only: true } }, samples: true });
    const lines = await replayOf(syntheticRun(16), plan);
    const samples = only(lines, 'sample');
    expect(samples).toHaveLength(16);
    const [group] = only(lines, 'group');
    expect(samples.slice(0, 8).map(({ after }) => after.reward)).toEqual(group?.after.rewards);
    expect(Object.keys(samples[0]?.after.components ?? {})).toContain('rubric');
  });

  it('sends an empty summary for an empty selection', async () => {
    const lines = await replayOf([], await planOf({ recipe: { set: { citation_weight: 0.5 } } }));
    expect(lines.map(({ kind }) => kind)).toEqual(['replay', 'summary']);
  });

  it('reads a run once for a sweep, and gives for each value the figures of its own replay', async () => {
    const values = [0, 0.3, 1];
    const plan = await planOf({ sweep: { field: 'citation_weight', values } });
    let reads = 0;
    function* counted() {
      reads++;
      yield* syntheticRun(512);
    }
    const lines = await replayOf(counted(), plan);
    expect(reads).toBe(1);
    expect(only(lines, 'progress').map(({ step, rollouts }) => [step, rollouts])).toEqual([[0, 256]]);
    for (const { value, kind: _kind, ...figures } of only(lines, 'point')) {
      const alone = await planOf({ recipe: { set: { citation_weight: value } } });
      const [summary] = only(await replayOf(syntheticRun(512), alone), 'summary');
      expect(figures).toEqual(summary?.figures);
    }
  });
});

describe('a GDPO rule', () => {
  const RULE = { preset: 'trl-gdpo', weights: { citation: 0.5 } } as const;
  const CHANGED = { ...RECIPE, instance_rubrics_only: true };
  const input = { recipe: { set: { instance_rubrics_only: true } }, advantages: RULE } as const;

  /** What `POST /v1/advantages` makes of the rows of one step. */
  function finished(step: readonly LedgerRow[][], recipe: Recipe) {
    const groups = step.map((rows) => ({
      members: rows.map(({ facts }) => {
        const components = contributions(compose(facts, recipe), recipe);
        return { components: components === null ? null : { ...components } };
      }),
    }));
    const result = stepAdvantages({ rule: RULE, groups });
    if (!result.ok) throw new Error(JSON.stringify(result.error));
    return result.value.groups;
  }

  it('gives the groups of a step the advantages of the whole step', async () => {
    const lines = await replayOf(syntheticRun(512), await planOf(input));
    expect(lines.filter(({ kind }) => kind === 'step')).toHaveLength(2);
    const run = Map.groupBy(syntheticRun(512), ([row]) => row?.step ?? null);
    const groups = only(lines, 'group');
    for (const [step, rows] of run) {
      const own = groups.filter((group) => group.step === step);
      for (const [side, recipe] of [['before', RECIPE] as const, ['after', CHANGED] as const]) {
        const expected = finished(rows, recipe);
        expect(own.map((group) => group[side].advantages)).toEqual(
          expected.map((group) => group.advantages.map(({ advantage }) => advantage)),
        );
        expect(own.map((group) => group[side].degenerate)).toEqual(
          expected.map(({ degenerate }) => degenerate?.reason ?? null),
        );
      }
    }
    const signs = groups.flatMap(({ before, after }) =>
      before.advantages.map((old, n) => (old * (after.advantages[n] ?? 0) < 0 ? 1 : 0)),
    );
    const flipped = signs.reduce<number>((sum, sign) => sum + sign, 0);
    expect(flipped).toBeGreaterThan(0);
    expect(only(lines, 'summary')[0]?.figures?.advantages.flipped).toBe(flipped);
  });

  it('sweeps step by step', async () => {
    const plan = await planOf({ sweep: { field: 'instance_rubrics_only', values: [true] }, advantages: RULE });
    const lines = await replayOf(syntheticRun(512), plan);
    expect(only(lines, 'progress').map(({ step, rollouts }) => [step, rollouts])).toEqual([[0, 256]]);
    const [summary] = only(await replayOf(syntheticRun(512), await planOf(input)), 'summary');
    const points = only(lines, 'point').map(({ kind: _kind, value: _value, ...figures }) => figures);
    expect(points).toEqual([summary?.figures]);
  });

  it('refuses before a line what it cannot normalise', async () => {
    const problemsOf = async (groups: Iterable<LedgerRow[]>, plan: ReplayPlan) =>
      (await findStepProblems(streamed(groups), plan)).map(({ path, message }) => `${path.join('.')}: ${message}`);
    const plan = await planOf(input);
    expect(await problemsOf(syntheticRun(512), plan)).toEqual([]);
    const stepless = [...syntheticRun(8)].map((rows) => rows.map((row) => ({ ...row, step: null })));
    expect(await problemsOf(stepless, plan)).toEqual([expect.stringContaining('have no step')]);
    expect(await problemsOf(stepless, { ...plan, advantages: 'trl' })).toEqual([]);
    const misspelt = await planOf({ ...input, advantages: { preset: 'trl-gdpo', weights: { citaton: 1 } } });
    expect(await problemsOf(syntheticRun(512), misspelt)).toEqual([
      expect.stringMatching(/^advantages\.weights\.citaton: expected one of citation, /),
    ]);
    const huge = [...syntheticRun(10_008, 20_000)];
    expect(await problemsOf(huge, plan)).toEqual([expect.stringContaining('at most 10000 rollouts in a step')]);
  });

  it('refuses verl-gdpo: a run does not record the tokens of the policy', () => {
    for (const advantages of ['verl-gdpo', { preset: 'verl-gdpo' }]) {
      const read = replayRequestSchema.safeParse({ ...input, advantages });
      expect(read.error?.issues.map(({ path, message }) => [path, message])).toEqual([
        [['advantages'], expect.stringContaining('needs response_tokens')],
      ]);
    }
  });
});

describe('findMissing', () => {
  it('counts the rollouts that lack what a changed measure field reads', async () => {
    const plan = await planOf({ recipe: { set: { judging: 'per_criterion' } } });
    expect(plan.mayLeaveGaps).toBe(true);
    const run = [...syntheticRun(256)].flat();
    const answered = run.filter(({ facts }) => facts.family === 'refiner' && facts.has_answer).length;
    expect(answered).toBeLessThan(256);
    expect(await findMissing(streamed(syntheticRun(256)), plan)).toEqual({
      rollouts: 256,
      open: answered,
      missing: { 'recipe.judging': answered },
    });
  });

  it('counts for the value of a sweep with the most gaps', async () => {
    const plan = await planOf({ sweep: { field: 'judging', values: ['joint', 'per_criterion'] } });
    const found = await findMissing(streamed(syntheticRun(64)), plan);
    expect(found.open).toBe(found.missing['recipe.judging']);
    expect(found.open).toBeGreaterThan(0);
  });

  it('is not needed if only weights change', async () => {
    expect((await planOf({ recipe: { set: { citation_weight: 1 } } })).mayLeaveGaps).toBe(false);
  });
});

describe('rollouts measured again', () => {
  /** The verdicts of another judge: every criterion one level lower. */
  function stricter(facts: Facts): Facts {
    if (facts.family !== 'refiner' || facts.rubric.status !== 'scored') return facts;
    const observed = facts.rubric.observed.map((one) => ({ ...one, score: Math.max(0, one.score - 1) }));
    return { ...facts, rubric: { status: 'scored', observed } };
  }

  function measurerOf(measure: (row: LedgerRow, position: number) => Measurement | null): Measurer {
    return {
      counts: { rollouts: 7, without_text: 1, refused: 0, judge_calls: 14 },
      measure: async ({ rows }) => rows.map(measure),
    };
  }

  it('compares two judges verdict by verdict, and rewards by the second', async () => {
    const plan = await planOf({ judge: 'other' });
    const measurer = measurerOf(({ facts }, position) =>
      position === 0 ? { gaps: ['rollout.text'] } : { facts: stricter(facts) },
    );
    const lines = await replayOf(syntheticRun(256), plan, measurer);
    const [group] = only(lines, 'group');
    const [rows] = [...syntheticRun(8)];
    expect(group?.after.rewards).toEqual(
      (rows ?? []).map(({ facts }, position) => (position === 0 ? null : compose(stricter(facts), RECIPE).reward)),
    );
    const [summary] = only(lines, 'summary');
    expect(summary).toMatchObject({
      judge_calls: 14,
      measured: { rollouts: 7, without_text: 1, refused: 0 },
      judges: { judge: 'other' },
      figures: { gaps: { 'rollout.text': 32 } },
    });
    const criteria = summary?.judges?.questions.find(({ question }) => question === 'criteria');
    // Every verdict of 1 or 2 falls by one, every 0 stays.
    const same = (criteria?.table[0]?.[0] ?? 0) / (criteria?.pairs ?? 1);
    expect(criteria).toMatchObject({ same, mean_difference: expect.closeTo(same - 1, 9) });
    expect(summary?.judges?.questions.find(({ question }) => question === 'support')).toMatchObject({ same: 1 });
    const most = summary?.judges?.most_different ?? [];
    expect(most).toHaveLength(20);
    expect(most.map(({ verdicts }) => verdicts)).toEqual(
      most.map(({ verdicts }) => verdicts).toSorted((a, b) => b - a),
    );
  });

  it('fill gaps, and the remaining gaps are reported', async () => {
    const plan = await planOf({ recipe: { set: { judging: 'per_criterion' } }, fill: true });
    const measurer = measurerOf(({ facts }, position) =>
      position < 4 ? { facts } : { gaps: ['recipe.judging', 'rollout.text'] },
    );
    const [summary] = only(await replayOf(syntheticRun(64), plan, measurer), 'summary');
    expect(summary).toMatchObject({
      judges: null,
      figures: { gaps: { 'recipe.judging': 32, 'rollout.text': 32 }, unscored: { after: { not_measured: 32 } } },
    });
  });
});

it('refuses an invalid replay before a row is read', async () => {
  const recorded = new Map<string, Recipe>([[DIGEST, RECIPE]]);
  const refusal = async (input: ReplayInput) => {
    const planned = await planReplay('run', recorded, replayRequestSchema.parse(input));
    return planned.ok ? [] : planned.error.map(({ path }) => path.join('.'));
  };
  expect(await refusal({ recipe: 'grpo-tcr' })).toEqual(['recipe']);
  expect(await refusal({ recipe: { set: { citation_wieght: 1 } } })).toEqual(['recipe.set.citation_wieght']);
  expect(await refusal({ sweep: { field: 'citation_weight', values: [0.5, 2] } })).toEqual([
    'sweep.values.citation_weight',
  ]);
});

it.each([
  [{}],
  [{ judge: 'x', sweep: { field: 'w', values: [1] } }],
  [{ fill: true, sweep: { field: 'w', values: [1] } }],
  [{ recipe: 'x', steps: { from: 3, to: 2 } }],
  [{ recipe: 'x', unknown: 1 }],
  [{ sweep: { field: 'w', values: [] } }],
])('takes no request like %j', (input) => {
  expect(replayRequestSchema.safeParse(input).success).toBe(false);
});
