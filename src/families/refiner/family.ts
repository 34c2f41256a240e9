/** The refiner family: rubric judge and citation quality, for answers that cite snippets. */
import { CLAIM_WRITERS } from '../../citations/claim-writers.ts';
import { answerText } from '../../family/answer-text.ts';
import type { CreditedPlace } from '../../family/credit.ts';
import { countOf } from '../../family/fact-counts.ts';
import type { Family } from '../../family/family.ts';
import { keepCriteria } from '../../family/kept-criteria.ts';
import { ask, done } from '../../family/stages.ts';
import {
  criterionLevels,
  joinedLevels,
  levelsOf,
  supportLevel,
  type VerdictLevel,
  yesNoLevel,
} from '../../family/verdict-levels.ts';
import { refinerClaimShares } from './claim-shares.ts';
import { type Refiner, refinerComposer } from './composer.ts';
import { type CriterionFact, refinerFactsSchema, type StatementFact } from './facts.ts';
import { measureRefiner } from './measure.ts';
import { planRefiner, type RefinerPlan } from './plan.ts';
import { refinerRecipeSchema } from './recipe.ts';
import { type RefinerScore, refinerReplySchema, refinerReplyWithOffsets, refinerReplyWithoutText } from './reply.ts';
import { reportRefiner } from './report.ts';
import { revisedRefiner } from './revised.ts';

export const refiner = {
  ...refinerComposer,
  recipe: { ...refinerComposer.recipe, schema: refinerRecipeSchema },
  facts: {
    schema: refinerFactsSchema,
    judged: ({ rubric, citation }) => [rubric, citation],
    verdicts: ({ has_answer, rubric, citation }) =>
      has_answer ? joinedLevels(levelsOf(rubric, criterionLevels), levelsOf(citation, statementLevels)) : [],
    revised: revisedRefiner,
    counts: ({ rubric, citation }) => ({
      claims: countOf(citation, (statements) => statements.filter(({ cited }) => cited).length),
      citations: countOf(citation, (statements) =>
        statements.reduce((sum, one) => sum + (one.cited ? one.relevant.length : 0), 0),
      ),
      criteria: countOf(rubric, (criteria) =>
        criteria.map(({ origin, polarity, score }) => ({
          kind: origin === 'static' ? origin : polarity,
          passed: score === (polarity === 'positive' ? 2 : 0),
        })),
      ),
    }),
  },
  reply: {
    schema: refinerReplySchema,
    skippedAtZero: ['rubric', 'citation'],
    withoutText: refinerReplyWithoutText,
    withOffsets: refinerReplyWithOffsets,
    unitScore: (base) => base,
  },
  rubric: {
    criteriaOf: ({ positive_rubrics = [], negative_rubrics = [] }) => [
      ...positive_rubrics.map(({ weight = 1, ...criterion }) => ({ ...criterion, weight })),
      ...negative_rubrics.map(({ weight = 1, ...criterion }) => ({ ...criterion, weight: -weight })),
    ],
    withCriteria: (rollout, criteria) => ({
      ...rollout,
      positive_rubrics: criteria.filter(({ weight }) => weight >= 0),
      negative_rubrics: criteria.flatMap(({ weight, ...rest }) => (weight < 0 ? [{ ...rest, weight: -weight }] : [])),
    }),
    // The facts have positive criteria first.
    positions: (criteria) => {
      const positives = criteria.filter(({ weight }) => weight >= 0).length;
      let [positive, negative] = [0, positives];
      return criteria.map(({ weight }) => (weight >= 0 ? positive++ : negative++));
    },
    scores: ({ has_answer, rubric }) =>
      has_answer && rubric.status === 'scored' ? rubric.observed.map(({ score }) => score / 2) : null,
    // Static criteria come after those of the row.
    only: (facts, weights) =>
      keepCriteria(facts, (criterion: CriterionFact, position) => {
        if (criterion.origin === 'static') return criterion;
        const weight = weights.get(position);
        return weight === undefined ? null : { ...criterion, weight };
      }),
  },
  answerForm: {
    citing: ({ grammar = 'snippet' }) => ({ write: CLAIM_WRITERS[grammar], idOf: ({ id }) => id }),
    answered: (row, answer) => ({ ...row, response: `<answer>${answer}</answer>` }),
  },
  hasReference: false,
  canExplain: false,

  plan(rollout, recipe, options) {
    const planned = planRefiner(rollout, recipe, options);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const rubric = typeof plan.rubric === 'string' ? [] : plan.rubric;
    const citations = typeof plan.citations === 'string' ? [] : [plan.citations];
    const cited = new Set(plan.parsed.claims.flatMap(({ ids }) => ids.flatMap(({ source }) => source ?? [])));
    const { answer: judged } = plan;
    const answer = judged === null ? {} : { answer: judged };
    const stage = ask(
      [...rubric.map((call) => ({ ...call, cited })), ...citations.map((request) => ({ request, cited, ...answer }))],
      (outcomes) => {
        const facts = measureRefiner(plan, {
          rubric: outcomes.slice(0, rubric.length),
          citations: outcomes[rubric.length],
        });
        return done({
          facts,
          reply: (score: RefinerScore, reported = facts) => ({ ...score, ...reportRefiner(plan, reported) }),
          answer: judged === null ? null : () => answerText(judged, plan.question, plan),
          claims: {
            places: placesOf(plan),
            shares: (score: RefinerScore, reported = facts) => refinerClaimShares(reported, plan.recipe, score),
          },
        });
      },
    );
    return { ok: true, value: stage };
  },
} satisfies Family<Refiner>;

/** In the order of the facts: the claims without duplicates, then the uncited statements. */
function placesOf({ claims, parsed }: RefinerPlan): readonly CreditedPlace[] {
  return [
    ...claims.map(
      ({ claim: { index, span, ids } }): CreditedPlace => ({
        of: 'claim',
        index,
        spans: [span],
        cites: ids.flatMap(({ id, source }) => (source === null ? [] : [id])),
      }),
    ),
    ...parsed.statements.map(
      ({ index, pieces }): CreditedPlace => ({ of: 'statement', index, spans: pieces, cites: [] }),
    ),
  ];
}

function statementLevels(statements: readonly StatementFact[]): VerdictLevel[] {
  return statements.flatMap((one): VerdictLevel[] =>
    one.cited
      ? [supportLevel(one.support), ...one.relevant.map((relevant) => yesNoLevel('relevance', relevant))]
      : [yesNoLevel('needs_citation', one.needs_citation)],
  );
}
