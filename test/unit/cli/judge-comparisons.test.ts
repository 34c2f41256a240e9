/** All ways of judging ask the same question, verdicts belong to their criteria, and failures are in no figure. */

import { describe, expect, test } from 'vitest';
import {
  CriteriaCheck,
  scoresOneByOne,
  scoresReversed,
  scoresShuffled,
} from '../../../cli/commands/judge/criteria-check.ts';
import type { CheckedJudge } from '../../../cli/commands/judge/judges.ts';
import { LabelledCheck } from '../../../cli/commands/judge/labelled-check.ts';
import { CostMeter, MeasuredJudge } from '../../../cli/commands/judge/measured-judge.ts';
import { readingsOf } from '../../../cli/commands/judge/readings.ts';
import { reportOf } from '../../../cli/commands/judge/report.ts';
import { REFINER_RECIPES } from '../../../src/families/refiner/composer.ts';
import { planRefiner } from '../../../src/families/refiner/plan.ts';
import { rolloutOf } from '../../../src/family/rollout-schema.ts';
import type { Judge, JudgeReply } from '../../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../../src/judgments/kinds/registry.ts';
import { type CriterionScore, criterionKey, type RubricRequest } from '../../../src/judgments/kinds/rubric/rubric.ts';
import { scoreRequestSchema } from '../../../src/wire/score.ts';

const REQUEST = scoreRequestSchema.parse({
  question: 'When was it opened?',
  response: '<answer><snippet id=a>It was opened in May 1937.</snippet></answer>',
  sources: [{ id: 'a', text: 'The bridge was opened in May 1937.' }],
  positive_rubrics: ['Names the year.', { title: 'Month', description: 'Names the month.', weight: 2 }],
  recipe: 'refiner-gpt54-instance-rubric',
});

function requestsBy(judging: 'joint' | 'per_criterion'): readonly RubricRequest[] {
  const recipe = { ...REFINER_RECIPES['refiner-gpt54-instance-rubric'], judging };
  const planned = planRefiner(rolloutOf(REQUEST), recipe);
  if (!planned.ok || typeof planned.value.rubric === 'string') throw new Error('nothing to judge');
  return planned.value.rubric.map(({ request }) => request);
}

function joint(): RubricRequest {
  const [whole] = requestsBy('joint');
  if (whole === undefined) throw new Error('no joint request');
  return whole;
}

const IDENTITY = { model: 'made-up', template: 'made-up', sampling: { temperature: 0 } };

/** A judge whose score depends on the description, not on the position. */
function scoring(scoreOf: (description: string, position: number) => CriterionScore | null): Judge {
  return judgeThat((request) => {
    if (request.kind !== 'rubric') throw new Error('only criteria are asked about');
    const criteria = request.criteria.map(({ description }, position) => ({
      key: criterionKey(position),
      score: scoreOf(description, position),
    }));
    const scored = criteria.flatMap(({ key, score }) => (score === null ? [] : [{ key, score }]));
    return { ok: true, verdicts: { kind: 'rubric', criteria: scored }, usage: null };
  });
}

function judgeThat(reply: (request: JudgmentRequest) => JudgeReply): Judge {
  const identity = { model: IDENTITY.model, identityFor: () => IDENTITY };
  return { name: 'made-up', ...identity, context_tokens: null, judge: async (request) => reply(request) };
}

function measuredJudge(judge: Judge): MeasuredJudge {
  let time = 0;
  return new MeasuredJudge(judge, new CostMeter(), () => time++ * 10);
}

function underCheck(judge: Judge): CheckedJudge {
  return {
    name: 'made-up',
    judging: 'per_criterion',
    batch: null,
    template: null,
    identity: IDENTITY,
    context_tokens: null,
    concurrency: 1,
    notices: [],
    judge: () => judge,
    measured: () => measuredJudge(judge),
  };
}

async function reportWith(judge: Judge, replicates: number) {
  const checked = underCheck(judge);
  const criteria = new CriteriaCheck(checked, { replicates, seed: 0 });
  await criteria.check(REQUEST);
  const { judging } = new LabelledCheck(checked, { replicates, quick: false });
  const report = await reportOf({
    rows: { rollouts: 1, labelled: 0, left_out: 0, bad: 0, without_answer: 0, cut: 0 },
    stopped_early: false,
    seed: 0,
    labelled: [],
    by: [{ judge: checked, criteria: criteria.report, judging, verdicts: [] }],
  });
  const [judged] = report.judges;
  if (judged === undefined) throw new Error('the judge was lost');
  return { report, criteria: judged.criteria };
}

describe('requests', () => {
  test('verdicts are mapped back to their criteria', async () => {
    const judge = scoring((description) => (description === 'Names the year.' ? 2 : 0));
    for (const way of [scoresOneByOne, scoresReversed, scoresShuffled(0), scoresShuffled(1)]) {
      const scores = await way(measuredJudge(judge), joint());
      expect(Object.fromEntries(scores)).toEqual({ 0: 2, 1: 0, 2: 0, 3: 0, 4: 0 });
    }
  });
});

describe('figures', () => {
  test('a consistent judge changes no verdict, and kappa is defined if its scores differ', async () => {
    const { criteria } = await reportWith(
      scoring((description) => (description === 'Names the year.' ? 2 : 0)),
      2,
    );
    expect(criteria?.reversed).toMatchObject({
      verdicts_compared: 5,
      exact_agreement: 1,
      kappa: 1,
      mean_difference: 0,
    });
    expect(criteria?.replicates).toHaveLength(2);
    expect(criteria?.joint).toMatchObject({ questions: 1, failure_rate: 0, mean_latency_ms: 10 });
  });

  test('flips between orders are counted by kind of criterion', async () => {
    const { report, criteria } = await reportWith(
      scoring((_description, position) => (position % 2 === 0 ? 2 : 0)),
      0,
    );
    const { flips, verdicts_compared, exact_agreement } = criteria?.shuffled ?? {};
    const [all, ...kinds] = flips ?? [];
    expect(verdicts_compared).toBe(5);
    expect(all).toMatchObject({ criteria: 'all', verdicts: 5 });
    expect(all?.share).toBe(1 - (exact_agreement ?? Number.NaN));
    expect(kinds.map(({ criteria: kind, verdicts }) => [kind, verdicts])).toEqual([
      ['positive', 2],
      ['static', 3],
    ]);
    expect(kinds.reduce((sum, { flipped }) => sum + flipped, 0)).toBe(all?.flipped);
    expect(all?.flipped).toBeGreaterThan(0);
    expect(readingsOf(report).some((reading) => reading.startsWith('order: shuffling it change'))).toBe(true);
  });

  test('a judge with a single score has no kappa', async () => {
    const { criteria } = await reportWith(
      scoring(() => 2),
      0,
    );
    expect(criteria?.reversed).toMatchObject({ exact_agreement: 1, kappa: null });
  });

  test('verdicts that do not answer the question are failures and are not compared', async () => {
    // Without the last criterion, whatever the order: only a question of one criterion alone is answered, with nothing.
    const { report, criteria } = await reportWith(
      scoring((_description, position) => (position === 4 ? null : 1)),
      1,
    );
    expect(criteria?.joint).toMatchObject({ failure_rate: 1, failures: { by_reason: { judgment_record_invalid: 1 } } });
    expect(criteria?.joint.mean_latency_ms).toBeNull();
    expect(criteria?.per_criterion).toMatchObject({
      failure_rate: 0,
      verdicts_asked: 5,
      verdicts_compared: 0,
      exact_agreement: null,
      kappa: null,
      mean_difference: null,
    });
    expect(readingsOf(report)).toEqual([
      'one by one: could not be compared: no criterion got both verdicts',
      'order: reversing it could not be compared: no criterion got both verdicts',
      'order: shuffling it could not be compared: no criterion got both verdicts',
      'again 1: another seed could not be compared: no criterion got both verdicts',
      'failures: 4 of 9 questions got no verdict and are left out of all figures: 4 judgment_record_invalid',
    ]);
  });
});
