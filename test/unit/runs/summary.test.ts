/** The summary of a step, from its groups at once and from the merged figures of some of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_METRICS } from '../../../src/limits.ts';
import {
  groupFiguresSchema,
  type RunStep,
  runStepSchema,
  StepFigures,
  type SummarisedRollout,
} from '../../../src/runs/summary.ts';

type Placed = SummarisedRollout & { readonly group: string };

const rollout = (changes: Partial<Placed>): Placed => ({
  group: 'g',
  inferred: false,
  reward: 1,
  reason: null,
  components: {},
  judgments: 2,
  cached: 0,
  counts: { claims: null, citations: null, chars: null, tokens: null, findings: null, criteria: null },
  ...changes,
});

function figuresOf(rollouts: readonly Placed[]): StepFigures {
  const figures = new StepFigures();
  for (const group of Map.groupBy(rollouts, ({ group }) => group).values()) figures.addGroup(group);
  return figures;
}

const stepOf = (rollouts: readonly Placed[]): RunStep => runStepSchema.parse(figuresOf(rollouts).summary(0));

describe('the summary of a step', () => {
  it('names its step, or says that it has none', () => {
    const figures = figuresOf([rollout({ inferred: true }), rollout({ group: 'h' })]);
    expect(figures.summary(null)).toMatchObject({ step: null, groups: 2, rollouts: 2, inferred: 1 });
    expect(figures.summary(3)).toMatchObject({ step: 3 });
  });

  it('counts unscored rollouts, and leaves them out of the mean', () => {
    const step = stepOf([
      rollout({ reward: 0.5 }),
      rollout({ reward: null, reason: 'judge_timeout' }),
      rollout({ reward: null, reason: 'judgment_skipped', group: 'h' }),
      rollout({ reward: null, reason: 'nothing_to_score', group: 'h' }),
    ]);
    expect(step).toMatchObject({ rollouts: 4, scored: 1, judge_failures: 1 });
    expect(step.reward).toEqual({ mean: 0.5, min: 0.5, max: 0.5, std: null });
    expect(step.unscored).toEqual({ judge_timeout: 1, judgment_skipped: 1, nothing_to_score: 1 });
    expect(step.degenerate).toEqual({ groups: 2, share: 1, reasons: { no_valid_reward: 1, too_few_valid: 1 } });
    expect(step.spread).toEqual({ groups: 0, mean_std: null });
  });

  it('averages the agreement of the rollouts that have several judges, also of stored figures', () => {
    const { counts } = rollout({});
    const several = [0.5, 1].map((agreement) => rollout({ counts: { ...counts, agreement } }));
    expect(stepOf([...several, rollout({})])).toMatchObject({ agreement: { rollouts: 2, mean: 0.75 } });
    expect(stepOf([rollout({})])).not.toHaveProperty('agreement');
    const merged = figuresOf([rollout({ counts: { ...counts, agreement: 0 } })]);
    merged.merge(groupFiguresSchema.parse(JSON.parse(JSON.stringify(figuresOf(several).stored))));
    merged.merge(figuresOf([rollout({})]).stored);
    expect(merged.summary(0).agreement).toEqual({ rollouts: 3, mean: 0.5 });
  });

  it('averages the rewards by persistent criteria of the rollouts that have one, also of stored figures', () => {
    const { counts } = rollout({});
    const evolving = [2, 4].map((persistent_reward) => rollout({ counts: { ...counts, persistent_reward } }));
    const merged = figuresOf([rollout({})]);
    expect(merged.summary(0)).not.toHaveProperty('persistent_reward');
    merged.merge(groupFiguresSchema.parse(JSON.parse(JSON.stringify(figuresOf(evolving).stored))));
    expect(merged.summary(0).persistent_reward).toEqual({ rollouts: 2, mean: 3 });
  });

  it('averages words, outcomes and metrics of the rollouts that have them, also of stored figures', () => {
    const { counts } = rollout({});
    const answer = { words: 10, copied: 4, shared: 1, best: 2, sources: 3, cited: 1, hash: '0123456789ab' };
    const told = [
      rollout({ counts: { ...counts, answer, outcome: 1, metrics: { f1: 0.5, length: null } } }),
      rollout({ counts: { ...counts, answer: null, outcome: null, metrics: { f1: 1 } } }),
      rollout({ counts: { ...counts, answer: { ...answer, copied: 10 }, outcome: 0 } }),
    ];
    const merged = figuresOf([rollout({})]);
    for (const name of ['words', 'copied', 'outcome', 'metrics']) expect(merged.summary(0)).not.toHaveProperty(name);
    merged.merge(groupFiguresSchema.parse(JSON.parse(JSON.stringify(figuresOf(told).stored))));
    expect(runStepSchema.parse(merged.summary(0))).toMatchObject({
      words: { rollouts: 2, mean: 10 },
      copied: { rollouts: 2, mean: 0.7 },
      outcome: { rollouts: 2, mean: 0.5 },
      metrics: { f1: { rollouts: 2, mean: 0.75 } },
    });
  });

  it('keeps the metrics of a bounded number of names', () => {
    const { counts } = rollout({});
    const many = Array.from({ length: 100 }, (_, n) => rollout({ counts: { ...counts, metrics: { [`m${n}`]: n } } }));
    expect(Object.keys(stepOf(many).metrics ?? {})).toHaveLength(MAX_METRICS);
  });

  it('averages the spread within groups, and components that have a value', () => {
    const step = stepOf([
      rollout({ group: 'a', reward: 0, components: { rubric: 0.5, citation: null } }),
      rollout({ group: 'a', reward: 2, components: { rubric: 1, citation: null } }),
      rollout({ group: 'b', reward: 1, components: { rubric: 0, citation: 1 }, cached: 2 }),
      rollout({ group: 'b', reward: 1, components: { rubric: 0, citation: 1 }, cached: 2 }),
    ]);
    expect(step.spread.groups).toBe(2);
    expect(step.spread.mean_std).toBeCloseTo(Math.SQRT2 / 2, 12);
    expect(step.components).toEqual({ rubric: { rollouts: 4, mean: 0.375 }, citation: { rollouts: 2, mean: 1 } });
    expect(step.degenerate).toEqual({ groups: 1, share: 0.5, reasons: { all_equal: 1 } });
    expect(step.judgments).toEqual({ had: 8, cached: 4, hit_rate: 0.5 });
  });

  it('shows what the answers contain, each figure over the rollouts of which it is known', () => {
    const counts = { claims: 4, citations: 6, chars: 100, tokens: 30, findings: { quote_not_in_source: 2 } };
    const step = stepOf([
      rollout({ counts: { ...counts, criteria: 'p+p-n+s+' } }),
      rollout({ counts: { ...counts, claims: 2, tokens: null, findings: {}, criteria: 'p+s-' } }),
      rollout({}),
    ]);
    expect(step.claims).toEqual({ rollouts: 2, mean: 3 });
    expect(step.citations).toEqual({ rollouts: 2, mean: 6 });
    expect(step.lengths).toEqual({ chars: { rollouts: 2, mean: 100 }, tokens: { rollouts: 1, mean: 30 } });
    expect(step.findings).toEqual({
      rollouts: 2,
      reasons: { quote_not_in_source: 2 },
      shares: { quote_not_in_source: 0.5 },
    });
    expect(step.criteria).toEqual({
      negative_1: { rollouts: 1, pass_rate: 1 },
      positive_1: { rollouts: 2, pass_rate: 1 },
      positive_2: { rollouts: 1, pass_rate: 0 },
      static_1: { rollouts: 2, pass_rate: 0.5 },
    });
  });

  it('is the same from all groups at once and from merged figures of some, however they are divided', () => {
    const value = fc.double({ min: -10, max: 10, noNaN: true });
    const one = fc.record({
      group: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      inferred: fc.boolean(),
      reward: fc.option(value),
      reason: fc.constantFrom('judge_timeout' as const, 'nothing_to_score' as const),
      components: fc.record({ rubric: fc.option(value), citation: fc.option(value) }),
      judgments: fc.constant(3),
      cached: fc.nat(3),
      counts: fc.record({
        ...{ claims: fc.option(fc.nat(9)), citations: fc.option(fc.nat(9)) },
        ...{ chars: fc.option(fc.nat(9)), tokens: fc.option(fc.nat(9)) },
        findings: fc.option(fc.record({ quote_not_in_source: fc.nat(3) })),
        criteria: fc.option(fc.constantFrom('', 'p+', 'p-n+s+')),
      }),
    });
    const close = (some: unknown, other: unknown): void => {
      if (typeof some === 'number' && typeof other === 'number') {
        expect(Math.abs(some - other)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(some)));
      } else if (typeof some === 'object' && some !== null && typeof other === 'object' && other !== null) {
        expect(Object.keys(other).sort()).toEqual(Object.keys(some).sort());
        for (const [name, member] of Object.entries(some)) close(member, Reflect.get(other, name));
      } else expect(other).toEqual(some);
    };
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), fc.constantFrom('a', 'c', 'e', 'f'), (rollouts, border) => {
        const merged = new StepFigures();
        for (const part of [true, false]) {
          const figures = figuresOf(rollouts.filter(({ group }) => group < border === part));
          merged.merge(groupFiguresSchema.parse(JSON.parse(JSON.stringify(figures.stored))));
        }
        close(stepOf(rollouts), merged.summary(0));
      }),
      { numRuns: 200 },
    );
  });
});
