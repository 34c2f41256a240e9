/** The refiner family: rubric judge and citation quality, for answers that cite snippets. */
import type { Family } from '../../family/family.ts';
import { finishReasonGaps } from '../../family/requirements.ts';
import { ask, done } from '../../family/stages.ts';
import {
  criterionLevels,
  joinedLevels,
  levelsOf,
  supportLevel,
  type VerdictLevel,
  yesNoLevel,
} from '../../family/verdict-levels.ts';
import { composeRefiner, neededJudgments } from './compose.ts';
import { type RefinerFacts, refinerFactsSchema, type StatementFact } from './facts.ts';
import { measureRefiner } from './measure.ts';
import { REFINER_ORIGINS } from './origin.ts';
import { planRefiner } from './plan.ts';
import {
  REFINER_FIELDS,
  REFINER_FORMULA,
  REFINER_RECIPES,
  type RefinerRecipe,
  refinerRecipeSchema,
  refinerRewardRange,
} from './recipe.ts';
import { type RefinerReply, type RefinerScore, refinerReplySchema, refinerReplyWithoutText } from './reply.ts';
import { reportRefiner } from './report.ts';

type Refiner = {
  readonly recipe: RefinerRecipe;
  readonly facts: RefinerFacts;
  readonly score: RefinerScore;
  readonly reply: RefinerReply;
};

export const refiner = {
  name: 'refiner',
  recipe: {
    schema: refinerRecipeSchema,
    fields: REFINER_FIELDS,
    named: REFINER_RECIPES,
    origins: REFINER_ORIGINS,
    formula: REFINER_FORMULA,
    range: refinerRewardRange,
  },
  facts: {
    schema: refinerFactsSchema,
    judged: ({ rubric, citation }) => [rubric, citation],
    verdicts: ({ has_answer, rubric, citation }) =>
      has_answer ? joinedLevels(levelsOf(rubric, criterionLevels), levelsOf(citation, statementLevels)) : [],
  },
  reply: {
    schema: refinerReplySchema,
    skippedAtZero: ['rubric', 'citation'],
    withoutText: refinerReplyWithoutText,
    unitScore: (base) => base,
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
    const stage = ask(
      [...rubric, ...citations].map((request) => ({ request, cited })),
      (outcomes) => {
        const facts = measureRefiner(plan, {
          rubric: outcomes.slice(0, rubric.length),
          citations: outcomes[rubric.length],
        });
        return done({ facts, reply: (score: RefinerScore) => ({ ...score, ...reportRefiner(plan, facts) }) });
      },
    );
    return { ok: true, value: stage };
  },
  compose: composeRefiner,
  groupVote: () => null,

  gaps: (before, after, changed) => [
    ...changed.map((field) => {
      const part = ASKED_FOR.get(field);
      return {
        name: `recipe.${field}`,
        isOpen: (facts: RefinerFacts) => part === undefined || neededJudgments(facts, after).includes(part),
      };
    }),
    ...finishReasonGaps<RefinerFacts>({
      before: before.non_stop_penalty.enabled,
      after: after.non_stop_penalty.enabled,
    }),
  ],
} satisfies Family<Refiner>;

/** Maps a measure field to the judgment that it changes. `answer` is not here: it can change every judgment. */
const ASKED_FOR: ReadonlyMap<string, 'rubric' | 'citation'> = new Map([
  ['judging', 'rubric'],
  ['judge_static', 'rubric'],
  ['verbatim_gate', 'citation'],
]);

function statementLevels(statements: readonly StatementFact[]): VerdictLevel[] {
  return statements.flatMap((one): VerdictLevel[] =>
    one.cited
      ? [supportLevel(one.support), ...one.relevant.map((relevant) => yesNoLevel('relevance', relevant))]
      : [yesNoLevel('needs_citation', one.needs_citation)],
  );
}
