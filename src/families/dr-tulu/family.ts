/** The dr-tulu family: rubric, citation, format and search turns; with `explain`, in both compat modes. */
import type { CreditedClaims } from '../../family/credit.ts';
import { countOf } from '../../family/fact-counts.ts';
import type { ObservedIn } from '../../family/facts.ts';
import type { Family } from '../../family/family.ts';
import { keepCriteria } from '../../family/kept-criteria.ts';
import { ask, done } from '../../family/stages.ts';
import { criterionLevels, joinedLevels, levelsOf, supportLevel, yesNoLevel } from '../../family/verdict-levels.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import { criterionKey } from '../../judgments/kinds/rubric/rubric.ts';
import type { WantedJudgment } from '../../judgments/obtain.ts';
import { drTuluAnswerForm } from './answer-form.ts';
import { drTuluClaimShares } from './claim-shares.ts';
import { type DrTulu, drTuluComposer } from './composer.ts';
import { type DrTuluFacts, drTuluFactsSchema } from './facts.ts';
import { type DrTuluOutcomes, measureDrTulu } from './measure.ts';
import { type DrTuluPlan, planDrTulu } from './plan.ts';
import { type DrTuluRecipe, drTuluRecipeSchema } from './recipe.ts';
import { type DrTuluReply, type DrTuluScore, drTuluReplySchema } from './reply.ts';
import { revisedDrTulu } from './revised.ts';

export const drTulu = {
  ...drTuluComposer,
  recipe: { ...drTuluComposer.recipe, schema: drTuluRecipeSchema },
  facts: {
    schema: drTuluFactsSchema,
    judged: ({ rubric, citation }) => [rubric, citation],
    verdicts: ({ has_answer, rubric, citation }) =>
      has_answer
        ? joinedLevels(
            levelsOf(rubric, criterionLevels),
            levelsOf(citation, ({ statements }) =>
              statements.map((one) =>
                one.cited ? supportLevel(one.support) : yesNoLevel('needs_citation', one.needs_citation),
              ),
            ),
          )
        : [],
    revised: revisedDrTulu,
    counts: ({ rubric, citation }) => ({
      claims: countOf(citation, ({ statements }) => statements.filter(({ cited }) => cited).length),
      citations: null,
      criteria: countOf(rubric, (criteria) =>
        criteria.map(({ weight, score }) =>
          weight < 0 ? { kind: 'negative', passed: score === 0 } : { kind: 'positive', passed: score === 2 },
        ),
      ),
    }),
  },
  reply: {
    schema: drTuluReplySchema,
    skippedAtZero: ['rubric', 'citation'],
    withoutText: (reply) => ({
      ...reply,
      criteria: reply.criteria.map(({ title: _title, description: _description, ...criterion }) => criterion),
    }),
    unitScore: (base) => base,
  },
  rubric: {
    criteriaOf: ({ rubrics = [] }) => rubrics,
    withCriteria: (rollout, criteria) => ({ ...rollout, rubrics: criteria }),
    positions: (criteria) => criteria.map((_, n) => n),
    scores: ({ has_answer, rubric }) =>
      has_answer && rubric.status === 'scored' ? rubric.observed.map(({ score }) => score / 2) : null,
    only: (facts, weights) =>
      keepCriteria(facts, (criterion: ObservedIn<DrTuluFacts['rubric']>[number], position) => {
        const weight = weights.get(position);
        return weight === undefined ? null : { ...criterion, weight: criterion.weight < 0 ? -weight : weight };
      }),
  },
  answerForm: drTuluAnswerForm,
  hasReference: false,
  canExplain: true,

  plan(rollout, recipe, options) {
    const planned = planDrTulu(rollout, recipe, options);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const otherRecipe: DrTuluRecipe = { ...recipe, compat: recipe.compat === 'exact' ? 'corrected' : 'exact' };
    const other = options.explain === true ? planDrTulu(rollout, otherRecipe, options) : null;
    if (other !== null && !other.ok) return other;

    const asked = new AskedOnce();
    const own = asked.add(plan);
    const others = other === null ? null : { plan: other.value, outcomes: asked.add(other.value) };
    const stage = ask(asked.wanted, (outcomes) => {
      const facts = measureDrTulu(plan, own(outcomes));
      const reply = (score: DrTuluScore, observed = facts): DrTuluReply => {
        const reported = { ...score, criteria: reportCriteria(plan, observed) };
        if (others === null) return reported;
        const otherScore = drTuluComposer.compose(measureDrTulu(others.plan, others.outcomes(outcomes)), otherRecipe);
        return { ...reported, explain: explained(score, otherScore) };
      };
      const claims: CreditedClaims<DrTuluScore, DrTuluFacts> = {
        places: plan.places,
        shares: (score, observed = facts) => drTuluClaimShares(observed, recipe, score),
      };
      return done({ facts, reply, answer: plan.answerText, claims });
    });
    return { ok: true, value: stage };
  },
} satisfies Family<DrTulu>;

/** Collects the judgments that one or two plans want, each distinct request once. */
class AskedOnce {
  readonly wanted: WantedJudgment[] = [];
  readonly #positions = new Map<string, number>();

  /** Adds a plan. @returns a function that selects the plan's outcomes from the outcomes of `wanted`. */
  add({ answer, rubric, citations }: DrTuluPlan): (outcomes: readonly JudgmentOutcome[]) => DrTuluOutcomes {
    // All requests of a plan name the same cited sources, so the prompts cut them alike and share a prefix.
    const cited = new Set(typeof citations === 'string' ? [] : citations.claims.flatMap(({ sources }) => sources));
    const rubricAt = rubric === 'not_needed' ? [] : rubric.map((call) => this.#positionOf({ ...call, cited }));
    const citationsAt =
      typeof citations === 'string'
        ? null
        : this.#positionOf({ request: citations, cited, ...(answer === null ? {} : { answer }) });
    return (outcomes) => ({
      rubric: rubricAt.flatMap((position) => outcomes[position] ?? []),
      citations: citationsAt === null ? undefined : outcomes[citationsAt],
    });
  }

  #positionOf(wanted: WantedJudgment): number {
    const text = JSON.stringify([wanted.request, wanted.answer]);
    const known = this.#positions.get(text);
    if (known !== undefined) return known;
    this.#positions.set(text, this.wanted.length);
    return this.wanted.push(wanted) - 1;
  }
}

function reportCriteria(plan: DrTuluPlan, facts: DrTuluFacts): DrTuluReply['criteria'] {
  const judged = facts.rubric.status === 'scored' ? facts.rubric.observed : [];
  return plan.rubrics.map(({ title, description, weight }, position) => {
    const { score = null, evidence } = judged[position] ?? {};
    return {
      key: criterionKey(position),
      ...(title === undefined ? {} : { title }),
      description,
      weight,
      score,
      ...(evidence === undefined ? {} : { evidence }),
    };
  });
}

function explained(one: DrTuluScore, other: DrTuluScore): NonNullable<DrTuluReply['explain']> {
  const bare = ({ family: _family, ...score }: DrTuluScore) => score;
  return one.details.compat === 'exact'
    ? { exact: bare(one), corrected: bare(other) }
    : { exact: bare(other), corrected: bare(one) };
}
