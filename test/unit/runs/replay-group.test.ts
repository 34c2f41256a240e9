/** Replay of a group: exact if the facts suffice, and unscored otherwise. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/families/composers.ts';
import { composeGroup, RECIPES, type Recipe } from '../../../src/families/composers.ts';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { familyOf } from '../../../src/families/registry.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import type { ToolCallFacts } from '../../../src/families/tool-call/facts.ts';
import { recipeChange } from '../../../src/runs/gaps.ts';
import { prepareGroup, replayGroup, replayPrepared } from '../../../src/runs/replay-group.ts';
import { advantages } from '../../../src/scoring/advantages.ts';
import { FAMILIES_OF_FACTS, longTraceFacts, refinerFacts, rowsOf } from './synthetic-rows.ts';

const REFINER = RECIPES['refiner-gpt54-instance-rubric'];

/** Recipes of a family that differ in compose fields only, and read nothing that a rollout can lack. */
const OTHERS: Readonly<Record<string, readonly Recipe[]>> = {
  refiner: [
    { ...REFINER, citation_weight: 0.5 },
    { ...REFINER, instance_rubrics_only: true },
    { ...REFINER, gate_judge_score_with_format_bonus: true, mode: 'answer_only' },
    { ...REFINER, citation_not_applicable: 'drop', uncited_ok: 'credit', citation_metric: 'claim_f1' },
    { ...REFINER, mix: 'additive', citation_weight: 2, unverified_quote: 'zero', verification_reward: 3 },
  ],
  'long-trace': [
    { ...RECIPES['longtrace-rl'], eta: 0.6 },
    { ...RECIPES['longtrace-rl'], variant: 'plain', normalise_in_group: false },
    { ...RECIPES['longtrace-rl'], variant: 'negative_only', punish_ill_formed: false },
  ],
  carr: [
    { ...RECIPES.carr, eta: 0.6, connected: false },
    { ...RECIPES.carr, variant: 'plain', normalisation: 'none' },
    { ...RECIPES.carr, variant: 'negative_only', normalisation: 'published', punish_ill_formed: false },
  ],
  'tool-call': [
    RECIPES['open-agentrl'],
    { ...RECIPES['grpo-tcr'], tool_call_credit: { enabled: false, ceiling: 0, per_round: 0 } },
  ],
  'dr-tulu': [RECIPES['dr-tulu-no-citation'], { ...RECIPES['dr-tulu'], search_turns_bound: 5 }],
};

describe.each(FAMILIES_OF_FACTS)('$recipe.family', ({ recipe, facts }) => {
  const groups = fc.array(facts, { minLength: 1, maxLength: 9 });

  it('equals compose over the group, before and after, with the advantages of the rule', () => {
    fc.assert(
      fc.property(groups, fc.constantFrom(...(OTHERS[recipe.family] ?? [])), (members, other) => {
        const replayed = replayGroup(rowsOf(members, recipe), recipe, other, 'slime');
        const [before, after] = [composeGroup(members, recipe), composeGroup(members, other)];
        expect(replayed.samples.map((sample) => sample.before.reward)).toEqual(before.map(({ reward }) => reward));
        expect(replayed.samples.map((sample) => sample.after.reward)).toEqual(after.map(({ reward }) => reward));
        expect(replayed.samples.map((sample) => sample.after.components)).toEqual(
          after.map(({ components }) => components),
        );
        const group = advantages(
          after.map(({ reward }) => reward),
          'slime',
        );
        expect(group.ok && group.value.advantages).toEqual(
          replayed.samples.map(({ after: { advantage, masked } }) => ({ advantage, masked })),
        );
        expect(group.ok && group.value.degenerate).toEqual(replayed.degenerate.after);
        expect(new Set(replayed.samples.map(({ recorded }) => recorded))).toEqual(new Set(['equal']));
        expect(replayed.samples.flatMap(({ gaps }) => gaps)).toEqual([]);
      }),
    );
  });

  it('changes nothing under the recorded recipe', () => {
    fc.assert(
      fc.property(groups, (members) => {
        const { samples, tau, degenerate } = replayGroup(rowsOf(members, recipe), recipe, structuredClone(recipe));
        for (const { before, after } of samples) expect(after).toEqual(before);
        expect([1, null]).toContain(tau);
        expect(degenerate.after).toEqual(degenerate.before);
      }),
    );
  });
});

const FACTS: RefinerFacts = {
  v: 1,
  family: 'refiner',
  has_answer: true,
  format: { answer_only: 0, full: 1 },
  finish_reason: null,
  rubric: { status: 'scored', observed: [{ origin: 'instance', polarity: 'positive', weight: 1, score: 2 }] },
  citation: { status: 'scored', observed: [{ cited: true, support: 0, relevant: [true] }] },
};

const MATH: ToolCallFacts = {
  v: 1,
  family: 'tool-call',
  outcome: { kind: 'math', exact: false, equivalent: { status: 'unscored', reason: 'not_measured' } },
  num_turns: 2,
  response_tokens: 10,
};

function onlySample(facts: Facts, before: Recipe, after: Recipe) {
  const [sample] = replayGroup(rowsOf([facts], before), before, after).samples;
  if (sample === undefined) throw new Error('no sample');
  return sample;
}

describe('gaps in the facts', () => {
  it.each<[string, Facts, Recipe, Recipe, string[]]>([
    ['another way of judging', FACTS, REFINER, { ...REFINER, judging: 'per_criterion' }, ['recipe.judging']],
    ['a part that has no weight', FACTS, REFINER, { ...REFINER, judging: 'per_criterion', citation_weight: 1 }, []],
    ['an answer that is not there', { ...FACTS, has_answer: false }, REFINER, { ...REFINER, judge_static: false }, []],
    [
      'two at once',
      FACTS,
      REFINER,
      { ...REFINER, judge_static: false, answer: 'last' },
      ['recipe.judge_static', 'recipe.answer'],
    ],
    [
      'how the response ended',
      FACTS,
      REFINER,
      { ...REFINER, non_stop_penalty: { enabled: true, value: -1 } },
      ['rollout.finish_reason'],
    ],
    [
      'a comparison',
      MATH,
      RECIPES['grpo-tcr'],
      { ...RECIPES['grpo-tcr'], math_equivalence: 'symbolic' },
      ['recipe.math_equivalence'],
    ],
    [
      'a limit of programs, for mathematics',
      MATH,
      RECIPES['grpo-tcr'],
      { ...RECIPES['grpo-tcr'], time_limit_s: 1 },
      [],
    ],
    [
      'a comparison that a run made',
      { ...MATH, outcome: { kind: 'math', exact: false, equivalent: { status: 'scored', observed: true } } },
      RECIPES['grpo-tcr'],
      { ...RECIPES['grpo-tcr'], math_equivalence: 'symbolic' },
      [],
    ],
  ])('%s', (_name, facts, before, after, gaps) => {
    const sample = onlySample(facts, before, after);
    expect(sample.gaps).toEqual(gaps);
    if (gaps.length === 0) expect(sample.after.reward).not.toBeNull();
    else expect(sample.after).toMatchObject({ reward: null, reason: 'not_measured', masked: true, advantage: 0 });
  });

  it('include chunks if the recipe reads another text', () => {
    const before = { ...RECIPES['longtrace-rl-chunks'], punish_ill_formed: false };
    fc.assert(
      fc.property(longTraceFacts, (facts) => {
        const sample = onlySample(facts, before, { ...before, text: 'both' });
        expect(sample.gaps).toEqual(facts.chunks === null ? [] : ['recipe.text']);
      }),
    );
  });

  it('exist for every measure field of every family', () => {
    for (const [recipe, changed] of changedMeasureFields()) {
      const change = recipeChange(recipe, changed);
      expect(change.ok && change.fields.map(({ kind }) => kind)).toEqual(['measure']);
    }
    expect(changedMeasureFields()).toHaveLength(25);
  });

  it('are filled by facts measured for the other recipe', () => {
    const after: Recipe = { ...REFINER, judging: 'per_criterion' };
    const measured: RefinerFacts = {
      ...FACTS,
      citation: { status: 'scored', observed: [{ cited: true, support: 1, relevant: [true] }] },
    };
    const prepared = prepareGroup(rowsOf([FACTS, FACTS, FACTS], REFINER), REFINER);
    const { samples } = replayPrepared(prepared, after, [{ facts: measured }, null, { gaps: ['rollout.text'] }]);
    expect(samples.map((sample) => [sample.after.reward, sample.gaps])).toEqual([
      [10, []],
      [null, ['recipe.judging']],
      [null, ['rollout.text']],
    ]);
  });
});

/** Changes each measure field of the named recipes to another valid value. */
function changedMeasureFields(): [Recipe, Recipe][] {
  const values = {
    judging: ['joint', 'per_criterion'],
    answer: ['last'],
    grammar: ['bracket'],
    compat: ['exact'],
    call_form: ['search'],
    math_equivalence: ['symbolic'],
    time_limit_s: [1],
    memory_limit_mb: [64],
    judge_static: [false],
    verbatim_gate: [false],
    ask_contradiction: [true],
    template: ['healthbench-1'],
    evidence: ['quote'],
    outcome_template: ['aa-lcr-1'],
    batch: [{ size: 2 }],
    judge_options: [{ tries: 3 }],
  };
  return FAMILIES_OF_FACTS.flatMap(({ recipe }) =>
    Object.entries(familyOf(recipe).recipe.fields).flatMap(([field, kind]): [Recipe, Recipe][] => {
      if (kind !== 'measure') return [];
      const now = new Map<string, unknown>(Object.entries(recipe)).get(field);
      const other = new Map<string, readonly unknown[]>(Object.entries(values)).get(field)?.find((one) => one !== now);
      // Only batched judging reads the batch.
      const before = field === 'batch' ? { ...recipe, judging: 'batched', batch: { size: 3 } } : recipe;
      return [[recipeSchema.parse(before), recipeSchema.parse({ ...before, [field]: other })]];
    }),
  );
}

describe('recorded rewards', () => {
  it('marks a reward that another version computed, and continues', () => {
    const [row] = rowsOf([FACTS], REFINER);
    if (row === undefined) throw new Error('no row');
    const { samples } = replayGroup([{ ...row, reward: 8.000000000000002 }], REFINER, REFINER);
    expect(samples[0]).toMatchObject({ recorded: 'different', before: { reward: 8 } });
  });

  it('recognise a rollout that was scored without its group', () => {
    const recipe = RECIPES['longtrace-rl'];
    const of = (content: number): Facts => ({
      v: 1,
      family: 'long-trace',
      well_formed: true,
      finish_reason: 'stop',
      outcome: { status: 'scored', observed: 1 },
      entities: { total: 4, content, reasoning: 0, both: content },
      chunks: null,
    });
    const rows = [1, 2].flatMap((content) => rowsOf([of(content)], { ...recipe, normalise_in_group: false }));
    const { samples } = replayGroup(rows, recipe, recipe);
    expect(samples.map(({ recorded, before }) => [recorded, before.reward])).toEqual([
      ['alone', 0.7 + 0.3 * 0.5],
      ['alone', 1],
    ]);
  });
});

it('replays each row against its own recipe', () => {
  const [one] = rowsOf([FACTS], REFINER, { recipe: 'b'.repeat(64) });
  const other: Recipe = { ...REFINER, verification_reward: 2 };
  const [two] = rowsOf([FACTS], other, { recipe: 'c'.repeat(64) });
  if (one === undefined || two === undefined) throw new Error('no rows');
  const before = new Map<string, Recipe>([
    [one.recipe, REFINER],
    [two.recipe, other],
  ]);
  const { samples } = replayGroup([one, two], before, { ...REFINER, citation_weight: 0.5 });
  expect(samples.map((sample) => [sample.recorded, sample.before.reward, sample.after.reward])).toEqual([
    ['equal', 8, 5],
    ['equal', 1.6, 5],
  ]);
  expect(() => replayGroup([one], new Map(), REFINER)).toThrow(RangeError);
});

it('reports the advantages that change sign', () => {
  const rubric = (score: 0 | 1 | 2): RefinerFacts['rubric'] => ({
    status: 'scored',
    observed: [{ origin: 'instance', polarity: 'positive', weight: 1, score }],
  });
  const cited = (support: 0 | 0.5 | 1): RefinerFacts['citation'] => ({
    status: 'scored',
    observed: [{ cited: true, support, relevant: [support > 0] }],
  });
  const lost: RefinerFacts = { ...FACTS, rubric: { status: 'unscored', reason: 'judge_timeout' } };
  const members: RefinerFacts[] = [
    { ...FACTS, rubric: rubric(2), citation: cited(0) },
    { ...FACTS, rubric: rubric(0), citation: cited(1) },
    lost,
  ];
  const replayed = replayGroup(rowsOf(members, REFINER), REFINER, { ...REFINER, citation_weight: 1 });
  // With all weight on citations the rubric is not needed, so the third sample has a reward.
  expect(replayed.samples.map(({ sign }) => sign)).toEqual(['flipped', 'flipped', 'not_compared']);
  expect(replayed.tau).toBe(-1);
  const even = replayGroup(rowsOf(members, REFINER), REFINER, { ...REFINER, citation_weight: 0.5 });
  expect(even.samples.map(({ sign }) => sign)).toEqual(['silenced', 'silenced', 'not_compared']);
  expect(even.degenerate).toMatchObject({ before: null, after: { reason: 'all_equal' } });
  expect(even.tau).toBeNull();
});

it('refuses facts of another family', () => {
  expect(() => replayGroup(rowsOf([FACTS], REFINER), REFINER, RECIPES['grpo-tcr'])).toThrow(RangeError);
  fc.assert(
    fc.property(refinerFacts, (facts) => {
      expect(() => replayGroup(rowsOf([facts], REFINER), REFINER, RECIPES['dr-tulu'])).toThrow(RangeError);
    }),
    { numRuns: 5 },
  );
});
