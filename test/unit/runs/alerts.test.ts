/** The alerts of a run: each rule on a run that earns its reward in the way that the rule names, and on one that does not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECIPES, type Recipe } from '../../../src/families/composers.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from '../../../src/families/refiner/facts.ts';
import type { AlertRule } from '../../../src/runs/alert-rules.ts';
import { alertLines } from '../../../src/runs/alert-text.ts';
import { AlertWatch, type RunAlerts } from '../../../src/runs/alerts.ts';
import { FAMILIES_OF_FACTS, rowsOf, syntheticRun } from './synthetic-rows.ts';

const RECIPE = RECIPES['refiner-gpt54-instance-rubric'];
const STEPS = 12;

type Shape = {
  /** Scores of the rows' own positive criteria, and of the negative ones. */
  readonly positive: 0 | 1 | 2;
  readonly negative: 0 | 1 | 2;
  readonly claims: number;
  readonly relevant: number;
  readonly uncited: number;
};

function criterion(polarity: CriterionFact['polarity'], score: 0 | 1 | 2): CriterionFact {
  return { origin: 'instance', polarity, weight: 1, score };
}

function factsOf({ positive, negative, claims, relevant, uncited }: Shape): RefinerFacts {
  const citation: StatementFact[] = [
    ...Array.from({ length: claims }, (_, n): StatementFact => {
      const isRelevant = n < relevant;
      return { cited: true, support: isRelevant ? 1 : 0, relevant: [isRelevant], quote: 'verified' };
    }),
    ...Array.from({ length: uncited }, (): StatementFact => ({ cited: false, needs_citation: true })),
  ];
  const negatives = Array.from({ length: 4 }, () => criterion('negative', negative));
  return {
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: 'stop',
    rubric: { status: 'scored', observed: [criterion('positive', positive), ...negatives] },
    citation: { status: 'scored', observed: citation },
  };
}

/** Two groups of two samples a step; in each group the second sample is a bit worse, so that it has a signal. */
function watched(shapeOf: (progress: number) => Shape, recipe: Recipe = RECIPE, steps = STEPS): RunAlerts {
  const watch = new AlertWatch(new Map([['a'.repeat(64), recipe]]));
  for (let step = 0; step < steps; step++) {
    const shape = shapeOf(step / (steps - 1));
    for (const group of ['g0', 'g1']) {
      watch.add(rowsOf([factsOf(shape), factsOf({ ...shape, uncited: shape.uncited + 1 })], recipe, { step, group }));
    }
  }
  return watch.alerts;
}

const POOR: Shape = { positive: 0, negative: 2, claims: 4, relevant: 1, uncited: 3 };
const GOOD: Shape = { positive: 2, negative: 0, claims: 4, relevant: 4, uncited: 0 };
const rulesOf = ({ alerts }: RunAlerts): AlertRule[] => alerts.map(({ rule }) => rule);

describe('alerts', () => {
  it('has none for a run that learns what it is meant to learn', () => {
    const alerts = watched((progress) => (progress < 0.4 ? POOR : GOOD));
    expect(alerts).toEqual({ steps: STEPS, alerts: [], unwatched: [] });
    expect(alertLines(alerts)).toEqual([`${STEPS} steps, no alerts`]);
  });

  it('sees credit for faults that an answer does not have, since the first window that shows it', () => {
    const alerts = watched((progress) => (progress < 0.4 ? POOR : { ...GOOD, positive: 0 }));
    expect(rulesOf(alerts)).toEqual(['reference_gap', 'criteria_unmet']);
    const [gap] = alerts.alerts;
    expect(gap).toMatchObject({ since: 7, until: STEPS - 1, active: true });
    expect(gap?.figures.gap?.first).toBe(0);
    expect(gap?.figures.gap?.last).toBeGreaterThan(2);
    expect(gap?.rollouts).toHaveLength(3);
    for (const { reward, reference } of gap?.rollouts ?? []) expect(reward).toBeGreaterThan((reference ?? 10) + 2);
    expect(alertLines(alerts)[0]).toMatch(/^! reference_gap, since step 7: the reward rose/u);
  });

  it.each<[AlertRule, Shape]>([
    ['fewer_claims', { ...GOOD, claims: 1, relevant: 1 }],
    ['more_uncited', { ...GOOD, uncited: 9 }],
    ['more_irrelevant_citations', { ...GOOD, claims: 8, relevant: 0 }],
  ])('sees %s', (rule, learned) => {
    const recipe = { ...RECIPE, citation_weight: 0 };
    expect(rulesOf(watched((progress) => (progress < 0.4 ? { ...POOR, relevant: 4 } : learned), recipe))).toContain(
      rule,
    );
  });

  it('says that an alert is over', () => {
    const alerts = watched(
      (progress) => (progress < 0.3 ? POOR : progress < 0.6 ? { ...GOOD, positive: 0 } : GOOD),
      RECIPE,
      24,
    );
    const [alert] = alerts.alerts;
    expect(alert).toMatchObject({ rule: 'reference_gap', active: false });
    expect(alert?.until).toBeLessThan(20);
    expect(alertLines(alerts)[0]).toMatch(/^ {2}reference_gap, steps \d+ to \d+, no longer/u);
  });

  it('sees groups without a signal, and rollouts without a reward', () => {
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    const lost = { ...factsOf(GOOD), rubric: { status: 'unscored', reason: 'judge_timeout' } } as const;
    for (let step = 0; step < STEPS; step++) {
      const facts = step < 6 ? [factsOf(GOOD), factsOf(POOR)] : [factsOf(GOOD), factsOf(GOOD), lost];
      watch.add(rowsOf(facts, RECIPE, { step }));
    }
    const { alerts } = watch;
    expect(rulesOf(alerts)).toEqual(['no_signal', 'unscored']);
    expect(alerts.alerts[1]?.rollouts[0]).toEqual({
      step: 11,
      group: 'g0',
      sample: 's2',
      reward: null,
      reference: null,
    });
  });

  it('needs two windows of steps, and leaves out rollouts without a step', () => {
    const short = watched((progress) => (progress < 0.4 ? POOR : { ...GOOD, positive: 0 }), RECIPE, 7);
    expect(short.alerts).toEqual([]);
    expect(alertLines(short)).toEqual(['7 steps: a rule needs 8']);
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    watch.add(rowsOf([factsOf(GOOD)], RECIPE, { step: null }));
    expect(watch.alerts).toEqual({ steps: 0, alerts: [], unwatched: [] });
  });

  it('is silent on noise, and names what a family does not show', () => {
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    for (const rows of syntheticRun(64 * 24, 64)) watch.add(rows);
    expect(watch.alerts).toEqual({ steps: 24, alerts: [], unwatched: [] });
  });

  it('names the rules that a family does not allow', () => {
    const longTrace = FAMILIES_OF_FACTS.find(({ recipe }) => recipe.family === 'long-trace');
    if (longTrace === undefined) throw new Error('the family is gone');
    const watch = new AlertWatch(new Map([['a'.repeat(64), longTrace.recipe]]));
    for (let step = 0; step < STEPS; step++) {
      watch.add(rowsOf(fc.sample(longTrace.facts, { numRuns: 8, seed: step }), longTrace.recipe, { step }));
    }
    const { unwatched } = watch.alerts;
    expect(unwatched[0]).toEqual({ rule: 'reference_gap', reason: 'no_reference' });
    expect(unwatched.slice(1).map(({ reason }) => reason)).toEqual(new Array(4).fill('not_observed'));
  });
});
