/** The alerts of a run: each rule on a run that earns its reward in the way that the rule names, and on one that does not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILT_IN, RECIPES, type Recipe, rewardRange } from '../../../src/families/composers.ts';
import type { CriterionFact, RefinerFacts, StatementFact } from '../../../src/families/refiner/facts.ts';
import { dividedCriteria } from '../../../src/families/refiner/holdout.ts';
import { familyOf } from '../../../src/families/registry.ts';
import { type AlertFigure, RANK_FIGURES } from '../../../src/runs/alert-figures.ts';
import { ALERT_RULES, type AlertRule, RULES } from '../../../src/runs/alert-rules.ts';
import { alertLines } from '../../../src/runs/alert-text.ts';
import { AlertWatch, type RunAlerts, type WatchedRow } from '../../../src/runs/alerts.ts';
import { remedyChanges } from '../../../src/runs/remedies.ts';
import type { AnswerCounts, RolloutCounts } from '../../../src/runs/rollout-counts.ts';
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

/** Rules that a run without words, outcomes and 16 groups in four steps does not allow. */
const UNWATCHED: RunAlerts['unwatched'] = [
  { rule: 'off_question_copies', reason: 'no_words' },
  { rule: 'held_out_gap', reason: 'no_holdout' },
  { rule: 'outcome_not_followed', reason: 'no_outcome' },
  { rule: 'criteria_not_followed', reason: 'few_groups' },
  { rule: 'shorter_answers', reason: 'no_words' },
  { rule: 'repeated_answers', reason: 'no_words' },
  { rule: 'sprayed_citations', reason: 'no_words' },
  { rule: 'repeated_ids', reason: 'no_structure' },
  { rule: 'same_source', reason: 'no_structure' },
  { rule: 'hedged_answers', reason: 'no_structure' },
  { rule: 'empty_claims', reason: 'not_observed' },
];

const BARE_COUNTS = { claims: null, citations: null, chars: null, tokens: null, findings: null, criteria: null };

/** A run with counts: `rolloutsOf` makes the samples of a group from the step. */
function counted(
  steps: number,
  rolloutsOf: (step: number, group: number) => readonly { readonly facts: RefinerFacts; readonly counts: object }[],
  { groups = 4, recipe = RECIPE }: { readonly groups?: number; readonly recipe?: Recipe } = {},
): RunAlerts {
  const watch = new AlertWatch(new Map([['a'.repeat(64), recipe]]));
  for (let step = 0; step < steps; step++) {
    for (let group = 0; group < groups; group++) {
      const made = rolloutsOf(step, group);
      const rows = rowsOf(
        made.map(({ facts }) => facts),
        recipe,
        { step, group: `g${group}` },
      );
      watch.add(rows.map((row, n): WatchedRow => ({ ...row, counts: { ...BARE_COUNTS, ...made[n]?.counts } })));
    }
  }
  return watch.alerts;
}

const answer = (changes: Partial<AnswerCounts> = {}): Pick<RolloutCounts, 'answer'> => ({
  answer: { words: 10, copied: 0, shared: 1, best: 2, sources: 3, cited: 1, hash: '0123456789ab', ...changes },
});

const alertOf = ({ alerts }: RunAlerts, rule: AlertRule) => alerts.find((alert) => alert.rule === rule);

describe('a rule', () => {
  type Figures = Partial<Record<AlertFigure, number>>;
  const reader = (figures: Figures) => (figure: AlertFigure) => figures[figure] ?? Number.NaN;
  /** Criteria that are met as at first: what looks like a loss is none. */
  const MEETS_AS_MUCH = { last: { criteria_met: 0.37 }, first: { criteria_met: 0.4 } };
  const RIGHT_AS_OFTEN = { last: { right: 0.37 }, first: { right: 0.4 } };
  /** The figures at which a rule just holds, each change with which it does not, and the rise of the reward. */
  const thresholds: Record<
    AlertRule,
    { readonly last: Figures; readonly first?: Figures; readonly rise?: number; readonly beside: readonly Case[] }
  > = {
    off_question_copies: {
      last: { copies: 0.375 },
      first: { copies: 0.1875 },
      rise: 0.05,
      beside: [{ last: { copies: 0.374 } }, { first: { copies: 0.188 } }, { rise: 0.049 }],
    },
    criteria_left_behind: {
      last: { criteria_met: 0.3 },
      first: { criteria_met: 0.3, reward: 0.5 },
      rise: 0.15,
      beside: [
        { last: { criteria_met: 0.301 } },
        { rise: 0.149 },
        { first: { reward: 0.2 } },
        // Near their ceiling they have little to gain, and a small loss is noise.
        { last: { criteria_met: 0.86 }, first: { criteria_met: 0.86 }, rise: 0.4 },
        { last: { criteria_met: 0.8 }, first: { criteria_met: 0.849 } },
      ],
    },
    held_out_gap: {
      last: { paid_met: 0.8, held_out_met: 0.6 },
      first: { paid_met: 0.45, held_out_met: 0.4 },
      rise: 0.05,
      beside: [
        { last: { held_out_met: 0.66 }, first: { held_out_met: 0.45 } },
        { first: { held_out_met: 0.39 } },
        { rise: 0.049 },
      ],
    },
    paid_without_meeting: {
      last: { unmet: 0.6, unmet_reward: 0.5 },
      beside: [{ last: { unmet: 0.599 } }, { last: { unmet_reward: 0.499 } }],
    },
    criteria_unmet: {
      last: { criteria_met: 0.009, reward: 0.4 },
      beside: [{ last: { criteria_met: 0.01 } }, { last: { reward: 0.399 } }],
    },
    outcome_not_followed: {
      last: { outcome_rank: 0.199, outcome: 0.4 },
      first: { outcome: 0.6 },
      rise: 0.049,
      beside: [{ last: { outcome_rank: 0.2 } }],
    },
    criteria_not_followed: { last: { criteria_rank: 0.199 }, beside: [{ last: { criteria_rank: 0.2 } }] },
    shorter_answers: {
      last: { words: 5 },
      first: { words: 10 },
      rise: 0,
      beside: [{ last: { words: 5.1 } }, { rise: -0.001 }, MEETS_AS_MUCH, RIGHT_AS_OFTEN],
    },
    repeated_answers: {
      last: { repeated: 0.1 },
      first: { repeated: 0.05 },
      beside: [{ last: { repeated: 0.099 } }, { first: { repeated: 0.051 } }, MEETS_AS_MUCH, RIGHT_AS_OFTEN],
    },
    sprayed_citations: {
      last: { ids: 1.75, sources_cited: 0.5 },
      first: { ids: 1.4, sources_cited: 0.4 },
      rise: 0.05,
      beside: [{ last: { ids: 1.74 } }, { first: { ids: 1.41 } }, { first: { sources_cited: 0.41 } }, { rise: 0.049 }],
    },
    repeated_ids: {
      last: { repeated_ids: 0.3 },
      first: { repeated_ids: 0.15 },
      beside: [
        { last: { repeated_ids: 0.299 } },
        { first: { repeated_ids: 0.151 } },
        // Where the facts say what citations support.
        { last: { repeated_ids: 0.399, irrelevant: 0.5 } },
        { last: { repeated_ids: 0.4, irrelevant: 0.499 } },
      ],
    },
    same_source: {
      last: { same_place: 0.7, irrelevant: 0.4 },
      beside: [{ last: { same_place: 0.699 } }, { last: { irrelevant: 0.399 } }],
    },
    hedged_answers: {
      last: { hedged: 0.2 },
      first: { hedged: 0.1 },
      rise: 0.05,
      beside: [{ last: { hedged: 0.199 } }, { first: { hedged: 0.101 } }, { rise: 0.049 }],
    },
    empty_claims: {
      last: { empty_claims: 0.2 },
      first: { empty_claims: 0.13 },
      rise: 0.05,
      beside: [{ last: { empty_claims: 0.199 } }, { first: { empty_claims: 0.14 } }, { rise: 0.049 }],
    },
    reference_gap: {
      last: { gap: 0.2 },
      first: { gap: 0.4 },
      rise: 0.1,
      beside: [{ last: { gap: 0.199 } }, { first: { gap: 0.401 } }, { rise: 0.099 }],
    },
    fewer_claims: {
      last: { cited: 0.599 },
      first: { cited: 1 },
      rise: 0.05,
      beside: [{ last: { cited: 0.6 } }, { rise: 0.049 }, MEETS_AS_MUCH],
    },
    more_uncited: {
      last: { uncited: 0.5 },
      first: { uncited: 0.33 },
      rise: 0.05,
      beside: [{ last: { uncited: 0.499 } }, { first: { uncited: 0.34 } }, { rise: 0.049 }],
    },
    more_irrelevant_citations: {
      last: { irrelevant: 0.2 },
      first: { irrelevant: 0.13 },
      rise: 0.05,
      beside: [{ last: { irrelevant: 0.199 } }, { first: { irrelevant: 0.14 } }, { rise: 0.049 }],
    },
    no_signal: {
      last: { degenerate: 0.501, reward: 0.949 },
      beside: [{ last: { degenerate: 0.5 } }, { last: { reward: 0.95 } }],
    },
    unscored: { last: { unscored: 0.051 }, beside: [{ last: { unscored: 0.05 } }] },
  };
  type Case = { readonly last?: Figures; readonly first?: Figures; readonly rise?: number };

  it.each(ALERT_RULES)('%s holds at its threshold, and not beside it', (name) => {
    const rule = RULES.find((one) => one.rule === name);
    const { last, first = {}, rise = 0, beside } = thresholds[name];
    expect(rule?.isMet(reader(last), reader(first), rise)).toBe(true);
    for (const one of beside) {
      const figures = [reader({ ...last, ...one.last }), reader({ ...first, ...one.first })] as const;
      expect(rule?.isMet(...figures, one.rise ?? rise), JSON.stringify(one)).toBe(false);
    }
    // Without a figure that it reads, a rule never holds.
    for (const figure of rule?.reads ?? []) {
      // A rule of ranks reads its other figure only to say that the run lacks it.
      const figures = [...(rule?.reads ?? []), ...(rule?.alsoReads ?? [])];
      const isRanked = figures.some((one) => RANK_FIGURES.has(one)) && !RANK_FIGURES.has(figure);
      if (figure === 'reward' || name === 'no_signal' || isRanked) continue;
      expect(rule?.isMet(reader({ ...last, [figure]: Number.NaN }), reader(first), rise), figure).toBe(false);
    }
  });
});

describe('sprayed citations need no higher reward', () => {
  type Figures = Partial<Record<AlertFigure, number>>;
  const first: Figures = { ids: 1.08, sources_cited: 0.2 };

  it.each<[string, Figures, Figures[]]>([
    [
      'where most answers miss what the row asks for',
      { unmet: 0.6, ids: 1.35, sources_cited: 0.25 },
      [{ unmet: 0.599 }, { ids: 1.349 }, { sources_cited: 0.249 }, { unmet: Number.NaN }],
    ],
    [
      'where half of the citations support nothing',
      { irrelevant: 0.5, ids: 1.75, sources_cited: 0.25 },
      [{ irrelevant: 0.499 }, { ids: 1.749 }, { sources_cited: 0.249 }, { irrelevant: Number.NaN }],
    ],
  ])('%s', (_, last, besides) => {
    const rule = RULES.find((one) => one.rule === 'sprayed_citations');
    const isMet = (figures: Figures): boolean | undefined =>
      rule?.isMet(
        (figure) => figures[figure] ?? Number.NaN,
        (figure) => first[figure] ?? Number.NaN,
        -0.1,
      );
    expect(isMet(last)).toBe(true);
    for (const beside of besides) expect(isMet({ ...last, ...beside }), JSON.stringify(beside)).toBe(false);
  });
});

describe('changes that are tried', () => {
  it.each(Object.entries(RECIPES))('%s: compose fields with values that fit it and keep its range', (_, recipe) => {
    for (const { field, value } of remedyChanges(recipe)) {
      expect(BUILT_IN.of(recipe).recipe.fields[field], field).toBe('compose');
      const read = familyOf(recipe).recipe.schema.safeParse({ ...recipe, [field]: value });
      expect(read.success, `${field}=${value}`).toBe(true);
      expect(new Map(Object.entries(recipe)).get(field)).not.toBe(value);
      if (read.success && typeof value !== 'number') expect(rewardRange(read.data)).toEqual(rewardRange(recipe));
    }
  });

  it('are none for a recipe that has them all, nor padding where the judge does not read it', () => {
    const fields = (recipe: Recipe) => remedyChanges(recipe).map(({ field }) => field);
    expect(fields({ ...RECIPE, judge_static: false })).not.toContain('padding_lowers_citation');
    expect(fields(RECIPES['refiner-guarded'])).toEqual(['citation_weight', 'static_weight', 'unverified_quote']);
    expect(fields({ ...RECIPE, citations: 'forbidden' })).not.toContain('citations');
    expect(fields(RECIPES['grpo-tcr'])).toEqual([]);
  });
});

describe('alerts', () => {
  it('has none for a run that learns what it is meant to learn', () => {
    const alerts = watched((progress) => (progress < 0.4 ? POOR : GOOD));
    expect(alerts).toEqual({ steps: STEPS, alerts: [], unwatched: UNWATCHED });
    expect(alertLines(alerts)).toEqual([
      `${STEPS} steps, no alerts`,
      'not watched: off_question_copies, shorter_answers, repeated_answers, sprayed_citations: not recorded: the run has ' +
        'no counts of its answers',
      'not watched: held_out_gap: the recipe holds no criteria out',
      'not watched: outcome_not_followed: the trainer sends no outcome',
      'not watched: criteria_not_followed: fewer than 16 groups of four steps have differences',
      'not watched: repeated_ids, same_source, hedged_answers: not recorded: the run has no counts of what its answers cite',
      'not watched: empty_claims: the facts of the run do not say it',
    ]);
  });

  it('sees credit for faults that an answer does not have, since the first window that shows it', () => {
    const alerts = watched((progress) => (progress < 0.4 ? POOR : { ...GOOD, positive: 0 }));
    expect(new Set(rulesOf(alerts))).toEqual(
      new Set(['paid_without_meeting', 'criteria_unmet', 'criteria_left_behind', 'reference_gap']),
    );
    const since = alerts.alerts.map((alert) => alert.since);
    expect(since).toEqual(since.toSorted((one, other) => one - other));
    const gap = alertOf(alerts, 'reference_gap');
    expect(gap).toMatchObject({ since: 8, until: STEPS - 1, active: true });
    expect(gap?.figures.gap?.first).toBe(0);
    expect(gap?.figures.gap?.last).toBeGreaterThan(2);
    expect(gap?.rollouts).toHaveLength(3);
    for (const { reward, reference } of gap?.rollouts ?? []) expect(reward).toBeGreaterThan((reference ?? 10) + 2);
    expect(gap?.remedy).toMatchObject({ change: { own_positives_required: true }, rollouts: 16 });
    const lines = alertLines(alerts);
    expect(lines.join('\n')).toMatch(/! reference_gap, since step 8: the reward rose, .*\n.*\n {4}try /u);
    // All alerts are about the same steps, so one line says what pays.
    expect(lines.filter((line) => line.includes('inside groups the rewards differ by'))).toEqual([
      '  inside groups the rewards differ by citation (100 %)',
    ]);
  });

  it.each<[AlertRule, Shape]>([
    ['fewer_claims', { ...GOOD, positive: 0, claims: 1, relevant: 1 }],
    ['more_uncited', { ...GOOD, uncited: 9 }],
    ['more_irrelevant_citations', { ...GOOD, claims: 8, relevant: 0 }],
  ])('sees %s', (rule, learned) => {
    const recipe = { ...RECIPE, citation_weight: 0 };
    expect(rulesOf(watched((progress) => (progress < 0.4 ? { ...POOR, relevant: 4 } : learned), recipe))).toContain(
      rule,
    );
  });

  it('knows no own criteria where no answer was judged by any, although some rollouts have no answer', () => {
    const negatives = (facts: RefinerFacts): RefinerFacts => {
      const { rubric } = facts;
      if (rubric.status !== 'scored') throw new Error('a rubric that is not scored');
      return {
        ...facts,
        rubric: { ...rubric, observed: rubric.observed.filter(({ polarity }) => polarity === 'negative') },
      };
    };
    const none: RefinerFacts = {
      ...factsOf(GOOD),
      has_answer: false,
      rubric: { status: 'unscored', reason: 'not_measured' },
      citation: { status: 'unscored', reason: 'not_measured' },
    };
    const samples = (own: RefinerFacts) => [own, own, none].map((facts) => ({ facts, counts: {} }));
    const without = counted(STEPS, () => samples(negatives(factsOf(GOOD))));
    expect(rulesOf(without)).toEqual([]);
    expect(without.unwatched).toContainEqual({ rule: 'criteria_unmet', reason: 'no_own_criteria' });
    expect(alertLines(without)).toContain(
      'not watched: criteria_left_behind, paid_without_meeting, criteria_unmet, criteria_not_followed: the rows have ' +
        'no positive criterion of their own, so an answer that says nothing is paid; give each row one',
    );
    // With own criteria, a rollout without an answer meets none of them.
    const unmet = counted(STEPS, () => samples(factsOf({ ...GOOD, positive: 0 })));
    expect(alertOf(unmet, 'criteria_unmet')?.figures.criteria_met).toEqual({ first: 0, last: 0 });
    expect(
      alertOf(
        counted(STEPS, () => samples(factsOf(GOOD))),
        'criteria_unmet',
      ),
    ).toBeUndefined();
  });

  it('says that an alert is over', () => {
    const alerts = watched(
      (progress) => (progress < 0.3 ? POOR : progress < 0.6 ? { ...GOOD, positive: 0 } : GOOD),
      RECIPE,
      24,
    );
    const alert = alertOf(alerts, 'reference_gap');
    expect(alert).toMatchObject({ active: false, remedy: null });
    expect(alert?.until).toBeLessThan(20);
    expect(alertLines(alerts).join('\n')).toMatch(/^ {2}reference_gap, steps \d+ to \d+, no longer/mu);
  });

  it('sees groups without a signal, and rollouts without a reward', () => {
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    const lost = { ...factsOf(GOOD), rubric: { status: 'unscored', reason: 'judge_timeout' } } as const;
    for (let step = 0; step < STEPS; step++) {
      const fair = factsOf({ ...GOOD, positive: 1 });
      const facts = step < 6 ? [factsOf(GOOD), factsOf(POOR)] : [fair, fair, lost];
      watch.add(rowsOf(facts, RECIPE, { step }));
    }
    const { alerts } = watch;
    expect(rulesOf(alerts)).toContain('no_signal');
    expect(rulesOf(watched(() => GOOD, { ...RECIPE, citation_weight: 0 }))).toEqual([]);
    expect(alertOf(alerts, 'unscored')?.rollouts[0]).toEqual({
      step: 11,
      group: 'g0',
      sample: 's2',
      reward: null,
      reference: null,
    });
  });

  it('needs two windows in a row, and leaves out rollouts without a step', () => {
    const short = watched((progress) => (progress < 0.4 ? POOR : { ...GOOD, positive: 0 }), RECIPE, 4);
    expect(short.alerts).toEqual([]);
    expect(alertLines(short)[0]).toBe('4 steps so far: an alert needs 5, some rules 9');
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    watch.add(rowsOf([factsOf(GOOD)], RECIPE, { step: null }));
    expect(watch.alerts).toEqual({ steps: 0, alerts: [], unwatched: [] });
  });

  it('is silent on noise, and names what a family does not show', () => {
    const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPE]]));
    for (const rows of syntheticRun(64 * 24, 64)) watch.add(rows);
    expect(watch.alerts).toMatchObject({ steps: 24, alerts: [] });
  });

  it('names the rules that a family does not allow', () => {
    const longTrace = FAMILIES_OF_FACTS.find(({ recipe }) => recipe.family === 'long-trace');
    if (longTrace === undefined) throw new Error('the family is gone');
    const watch = new AlertWatch(new Map([['a'.repeat(64), longTrace.recipe]]));
    for (let step = 0; step < STEPS; step++) {
      watch.add(rowsOf(fc.sample(longTrace.facts, { numRuns: 8, seed: step }), longTrace.recipe, { step }));
    }
    const { unwatched } = watch.alerts;
    expect(unwatched).toContainEqual({ rule: 'reference_gap', reason: 'no_reference' });
    const observed = unwatched.filter(({ reason }) => reason === 'not_observed').map(({ rule }) => rule);
    expect(observed).toEqual([
      'criteria_left_behind',
      'paid_without_meeting',
      'criteria_unmet',
      'criteria_not_followed',
      'empty_claims',
      'fewer_claims',
      'more_uncited',
      'more_irrelevant_citations',
    ]);
  });

  it('gives no alert for terse answers under longtrace-rl that a judge finds as right as before', () => {
    const run = (outcome: 0 | 1) => {
      const watch = new AlertWatch(new Map([['a'.repeat(64), RECIPES['longtrace-rl']]]));
      for (let step = 0; step < STEPS; step++) {
        for (const group of ['g0', 'g1', 'g2']) {
          const isTerse = step > 4;
          const facts = {
            ...({ v: 1, family: 'long-trace', well_formed: true, finish_reason: 'stop' } as const),
            outcome: { status: 'scored', observed: isTerse ? outcome : 1 } as const,
            ...{ entities: { total: 4, content: 1 + step / 8, reasoning: 0, both: 1 }, chunks: null },
          };
          const words = isTerse ? 1 : 10;
          const hash = isTerse ? '0123456789ab' : `${step}${group.slice(1)}`.padStart(12, '0');
          const rows = rowsOf([facts], RECIPES['longtrace-rl'], { step, group });
          watch.add(rows.map((row) => ({ ...row, counts: { ...BARE_COUNTS, ...answer({ words, hash }) } })));
        }
      }
      return rulesOf(watch.alerts);
    };
    expect(run(1)).toEqual([]);
    expect(run(0)).toContain('repeated_answers');
  });

  it('says that answers which cite nothing show no place and no ids, rather than that they were not recorded', () => {
    const structure = { claims: 0, ids: 0, repeated: 0, place: null, hedges: false };
    const { unwatched } = counted(STEPS, () => [
      { facts: factsOf({ ...GOOD, claims: 0, relevant: 0 }), counts: answer({ sources: 0, structure }) },
    ]);
    expect(unwatched).toContainEqual({ rule: 'same_source', reason: 'not_observed' });
    expect(unwatched).toContainEqual({ rule: 'sprayed_citations', reason: 'not_observed' });
  });

  it('compares places of the list only where it has three sources or more', () => {
    const structure = { claims: 1, ids: 1, repeated: 0, place: 0, hedges: false };
    const reasons = (sources: number) =>
      counted(STEPS, () => [{ facts: factsOf(GOOD), counts: answer({ sources, structure }) }]).unwatched.map(
        ({ rule }) => rule,
      );
    expect(reasons(2)).toContain('same_source');
    expect(reasons(3)).not.toContain('same_source');
  });

  it('does not read ids that a claim repeats as none where earlier versions did not record them', () => {
    const run = (repeated: (step: number) => number) =>
      counted(STEPS, (step) => {
        const again = repeated(step);
        return [
          {
            facts: { ...factsOf({ ...GOOD, relevant: 0 }), ...(again === 0 ? {} : { repeated_ids: again }) },
            counts: {},
          },
        ];
      });
    expect(run(() => 0).unwatched).toContainEqual({ rule: 'repeated_ids', reason: 'no_structure' });
    // A version that records them takes over while the run goes on.
    expect(rulesOf(run((step) => (step < 4 ? 0 : 4)))).not.toContain('repeated_ids');
    expect(rulesOf(run((step) => (step < 4 ? 1 : 4)))).toContain('repeated_ids');
  });

  it('names copies that do not answer, what pays for them, and a change that pays less', () => {
    const recipe = { ...RECIPE, citation_weight: 0.5 };
    const right = { facts: factsOf({ ...GOOD, claims: 1, relevant: 0 }), counts: answer() };
    const copy = { facts: factsOf({ ...GOOD, positive: 0, claims: 1, relevant: 1 }), counts: answer({ copied: 9 }) };
    const poor = { facts: factsOf({ ...POOR, claims: 1, relevant: 0 }), counts: answer() };
    const alerts = counted(12, (step) => (step < 6 ? [right, poor, poor] : [copy, copy, right]), { recipe });
    const alert = alertOf(alerts, 'off_question_copies');
    expect(alert).toMatchObject({ since: 9, active: true, shown: { rollouts: 32 } });
    expect(alert?.message).toMatch(
      /^67 % of the answers copy the sources although .* question; they earn \d\.\d\d, of which citation 5\.00$/u,
    );
    expect(alert?.paying).toMatchObject({ by: 'covariance' });
    expect(alert?.paying?.parts[0]?.name).toBe('citation');
    expect(alert?.paying?.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    const { remedy = null } = alert ?? {};
    const { shown = null, others = null } = remedy ?? {};
    expect((shown?.before ?? 0) - (shown?.after ?? 0)).toBeGreaterThan((others?.before ?? 0) - (others?.after ?? 0));
    expect(alert?.rollouts.map(({ sample }) => sample)).toEqual(['s0', 's1', 's0']);
    // A copy that is as close to the question as any sentence is what the rows ask for.
    const close = { ...copy, counts: answer({ copied: 9, shared: 2 }) };
    const honest = counted(12, (step) => (step < 6 ? [right, poor, poor] : [close, close, right]), { recipe });
    expect(rulesOf(honest)).not.toContain('off_question_copies');
  });

  it('sees criteria that are met where they pay, and not where they are held out', () => {
    const recipe: Recipe = { ...RECIPE, holdout: { share: 0.5, seed: 1 } };
    const hashes = Array.from({ length: 8 }, (_, n) => 9_001 * n);
    const made = (hash: number, score: 0 | 1 | 2): CriterionFact => ({ ...criterion('positive', score), hash });
    const all = { status: 'scored' as const, observed: hashes.map((hash) => made(hash, 0)) };
    const { rubric: paying } = dividedCriteria({ rubric: all }, recipe);
    const paid = new Set(paying.status === 'scored' ? paying.observed.map(({ hash }) => hash) : []);
    expect(paid.size).toBeGreaterThan(0);
    expect(paid.size).toBeLessThan(hashes.length);
    const run = (gamed: boolean) =>
      counted(
        12,
        (step) => {
          const learned = step < 5 ? 0 : 2;
          const observed = hashes.map((hash) => made(hash, gamed && !paid.has(hash) ? 0 : learned));
          return [{ facts: { ...factsOf(GOOD), rubric: { status: 'scored', observed } }, counts: {} }];
        },
        { recipe },
      );
    const alert = alertOf(run(true), 'held_out_gap');
    expect(alert?.figures).toMatchObject({ paid_met: { first: 0, last: 1 }, held_out_met: { first: 0, last: 0 } });
    expect(alert?.message).toMatch(/^100 % of the own criteria that pay are met, and 0 % of those that are held out/u);
    expect(rulesOf(run(false))).not.toContain('held_out_gap');
  });

  it.each([
    ['a third less, while the reward rises', 0.399, 0.6, 0.05, true],
    ['less than a third', 0.401, 0.6, 0.05, false],
    ['a reward that hardly rises', 0.4, 0.6, 0.049, false],
    ['outcomes below 0, whose thirds mean nothing', -2, -1, 0.05, false],
    ['no outcome', Number.NaN, Number.NaN, 0.05, false],
  ])('names an outcome that fell although its order holds inside groups: %s', (_, now, before, rise, isNamed) => {
    const rule = RULES.find((one) => one.rule === 'outcome_not_followed');
    const reader = (outcome: number) => (figure: AlertFigure) => (figure === 'outcome' ? outcome : 0.5);
    expect(rule?.isMet(reader(now), reader(before), rise)).toBe(isNamed);
  });

  it.each(RULES.map((rule) => [rule.rule, rule] as const))('says a whole sentence without rollouts: %s', (_, rule) => {
    const message = rule.says({ last: () => 0.5, first: () => 0.5, shown: null });
    expect(message).not.toMatch(/; answers [^;]*$/u);
  });

  it('sees that the rewards do not follow the outcome, and does not forget it', () => {
    const [good, poor] = [factsOf(GOOD), factsOf(POOR)];
    const told = (facts: RefinerFacts, outcome: number | null) => ({ facts, counts: { outcome } });
    const run = (follows: (step: number) => boolean, groups: number) =>
      counted(12, (step) => [told(good, follows(step) ? 1 : 0), told(poor, follows(step) ? 0 : 1)], { groups });
    expect(rulesOf(run(() => true, 4))).not.toContain('outcome_not_followed');
    const turned = run((step) => step > 7, 4);
    expect(alertOf(turned, 'outcome_not_followed')).toMatchObject({ since: 4, until: 11, active: true });
    expect(alertOf(turned, 'outcome_not_followed')?.figures.outcome_rank).toEqual({ first: -1, last: 0 });
    // 12 groups in four steps are too few for the order. A fall of the outcome is watched all the same.
    const few = run(() => false, 3);
    expect(rulesOf(few)).not.toContain('outcome_not_followed');
    for (const { unwatched } of [few, run(() => false, 4)]) {
      expect(unwatched).not.toContainEqual(expect.objectContaining({ rule: 'outcome_not_followed' }));
    }
  });

  it('sees an answer that its prompts share, and answers that lose their words', () => {
    const made = (hash: string, words: number, positive: 0 | 2 = 0) => ({
      facts: factsOf({ ...GOOD, positive }),
      counts: answer({ hash, words }),
    });
    const run = (prompts: number) =>
      counted(12, (step, group) => {
        const own = `${step}${group}`.padStart(12, '0');
        return [made(step > 5 && group < prompts ? 'f'.repeat(12) : own, 10), made(`a${own.slice(1)}`, 10)];
      });
    expect(alertOf(run(3), 'repeated_answers')).toMatchObject({
      since: 8,
      figures: { repeated: { first: 0, last: 0.375 } },
      shown: { rollouts: 12 },
    });
    expect(alertOf(run(3), 'repeated_answers')?.rollouts.map(({ group }) => group)).toEqual(['g0', 'g1', 'g2']);
    expect(rulesOf(run(2))).not.toContain('repeated_answers');
    const short = counted(12, (step, group) => [made(`${step}${group}`.padStart(12, '0'), step < 4 ? 10 : 5)]);
    expect(alertOf(short, 'shorter_answers')).toMatchObject({ since: 8, figures: { words: { first: 10, last: 5 } } });
    // Answers that meet their criteria in fewer words are brief.
    const brief = counted(12, (step, group) => [made(`${step}${group}`.padStart(12, '0'), step < 4 ? 10 : 5, 2)]);
    expect(rulesOf(brief)).toEqual([]);
  });

  it('sees citations of more sources a claim, and claims that state nothing', () => {
    const statement = (relevant: readonly boolean[]): RefinerFacts => ({
      ...factsOf({ ...GOOD, claims: 0, relevant: 0 }),
      citation: {
        status: 'scored',
        observed: [{ cited: true, support: 1, relevant: [...relevant], quote: 'verified' }],
      },
    });
    const made = (facts: RefinerFacts, cited: number, empty: number) => ({
      facts,
      counts: { ...answer({ cited }), findings: { claim_states_nothing: empty } },
    });
    const alerts = counted(12, (step) =>
      step < 5
        ? [made({ ...statement([true]), rubric: factsOf(POOR).rubric }, 1, 0)]
        : [made(statement([true, true, true]), 3, 1)],
    );
    expect(alertOf(alerts, 'sprayed_citations')).toMatchObject({
      figures: { ids: { first: 1, last: 3 }, sources_cited: { first: 1 / 3, last: 1 } },
    });
    expect(alertOf(alerts, 'empty_claims')?.message).toMatch(/^100 % of the cited claims state nothing/u);
  });

  it.each([
    ['claim_states_nothing', true, true],
    ['claim_without_content', true, true],
    // Right where the row asks for an abstention, for yes or no, or for a choice.
    ['claim_abstains', true, false],
    ['claim_abstains', false, true],
    ['claim_repeats_question', true, false],
    ['claim_repeats_question', false, true],
  ] as const)('cited claims with %s, own criteria met: %s; empty: %s', (reason, isMet, isEmpty) => {
    const learned = { ...GOOD, positive: isMet ? 2 : 0 } as const;
    const alerts = counted(12, (step) =>
      step < 5
        ? [{ facts: factsOf(POOR), counts: { findings: {} } }]
        : [{ facts: factsOf(learned), counts: { findings: { [reason]: 1 } } }],
    );
    expect(rulesOf(alerts).includes('empty_claims')).toBe(isEmpty);
  });

  it.each(['claim_abstains', 'claim_repeats_question'])('counts %s in rows that ask for nothing', (reason) => {
    const asksNothing = (facts: RefinerFacts): RefinerFacts => ({
      ...facts,
      rubric: { status: 'scored', observed: [criterion('negative', 0)] },
    });
    const alerts = counted(12, (step) =>
      step < 5
        ? [{ facts: asksNothing(factsOf({ ...POOR, claims: 1 })), counts: { findings: {} } }]
        : [{ facts: asksNothing(factsOf({ ...GOOD, claims: 1 })), counts: { findings: { [reason]: 1 } } }],
    );
    expect(alertOf(alerts, 'empty_claims')?.message).toMatch(/^100 % of the cited claims state nothing/u);
  });
});
