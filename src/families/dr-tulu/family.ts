/** The dr-tulu family on the scoring line; with `explain`, both compat modes. */

import type { DrTuluFacts } from '../../family/facts.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { DrTuluScore } from '../../family/score.ts';
import type { WantedJudgment } from '../../judgments/obtain.ts';
import type { JudgmentOutcome, JudgmentRequest } from '../../judgments/types.ts';
import type { DrTuluReply } from '../../scoring/score-reply.ts';
import type { PlanOptions, PlanRolloutResult } from '../plan-rollout.ts';
import { composeDrTulu } from './compose.ts';
import { measureDrTulu } from './measure.ts';
import { criterionKey, type DrTuluPlan, planDrTulu } from './plan.ts';
import type { DrTuluRecipe } from './recipe.ts';

export function planDrTuluRollout(rollout: Rollout, recipe: DrTuluRecipe, options: PlanOptions): PlanRolloutResult {
  const planned = planDrTulu(rollout, recipe, options);
  if (!planned.ok) return planned;
  const { plan } = planned;
  const otherRecipe: DrTuluRecipe = { ...recipe, compat: recipe.compat === 'exact' ? 'corrected' : 'exact' };
  const other = options.explain === true ? planDrTulu(rollout, otherRecipe, options) : null;
  if (other !== null && !other.ok) return other;

  const asked = new AskedOnce();
  const own = asked.add(plan);
  const others = other === null ? null : asked.add(other.plan);
  return {
    ok: true,
    planned: {
      wanted: asked.wanted,
      measure(outcomes) {
        const facts = measureDrTulu(plan, own(outcomes));
        return {
          facts,
          groupVote: null,
          finish() {
            const score = composeDrTulu(facts, recipe);
            const reply = { ...score, criteria: reportCriteria(plan, facts) };
            if (other === null || others === null) return { score, reply };
            const otherScore = composeDrTulu(measureDrTulu(other.plan, others(outcomes)), otherRecipe);
            return { score, reply: { ...reply, explain: explained(score, otherScore) } };
          },
        };
      },
    },
  };
}

type OutcomesOfPlan = (outcomes: readonly JudgmentOutcome[]) => Parameters<typeof measureDrTulu>[1];

/** The requests of one or two plans; what both ask is asked once. */
class AskedOnce {
  readonly wanted: WantedJudgment[] = [];
  readonly #positions = new Map<string, number>();

  /** @returns how the plan finds its outcomes among all. */
  add({ rubric, citations }: DrTuluPlan): OutcomesOfPlan {
    // Sources that are cut last, alike for all requests, so that they share their beginning.
    const cited = new Set(typeof citations === 'string' ? [] : citations.claims.flatMap(({ sources }) => sources));
    const rubricAt = rubric === 'not_needed' ? [] : rubric.map((request) => this.#positionOf(request, cited));
    const citationsAt = typeof citations === 'string' ? null : this.#positionOf(citations, cited);
    return (outcomes) => ({
      rubric: rubricAt.flatMap((position) => outcomes[position] ?? []),
      citations: citationsAt === null ? undefined : outcomes[citationsAt],
    });
  }

  #positionOf(request: JudgmentRequest, cited: ReadonlySet<number>): number {
    const text = JSON.stringify(request);
    const known = this.#positions.get(text);
    if (known !== undefined) return known;
    this.#positions.set(text, this.wanted.length);
    return this.wanted.push({ request, cited }) - 1;
  }
}

function reportCriteria(plan: DrTuluPlan, facts: DrTuluFacts): DrTuluReply['criteria'] {
  const scores = facts.rubric.status === 'scored' ? facts.rubric.observed.map(({ score }) => score) : [];
  return plan.rubrics.map(({ title, description, weight }, position) => ({
    key: criterionKey(position),
    ...(title === undefined ? {} : { title }),
    description,
    weight,
    score: scores[position] ?? null,
  }));
}

function explained(one: DrTuluScore, other: DrTuluScore): NonNullable<DrTuluReply['explain']> {
  const bare = ({ family: _family, ...score }: DrTuluScore) => score;
  return one.details.compat === 'exact'
    ? { exact: bare(one), corrected: bare(other) }
    : { exact: bare(other), corrected: bare(one) };
}
