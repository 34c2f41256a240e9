/** A family for tests: asks whether the answer is right and, only if so, how far it meets the row's criteria. */
import { countProblems, countsOf } from '../../family/counts.ts';
import type { Family } from '../../family/family.ts';
import { mapObserved, scored, unscored, verdictsOf } from '../../family/observe.ts';
import { ours, type RecipeDocuments } from '../../family/provenance.ts';
import { missingFields } from '../../family/requirements.ts';
import { ask, done, type Stage } from '../../family/stages.ts';
import { TERM_FORMULA } from '../../family/terms.ts';
import { criterionLevels, levelsOf, yesNoLevel } from '../../family/verdict-levels.ts';
import { VOTE_FORMULA } from '../../family/votes.ts';
import { type TwoStep, twoStepComposer } from './composer.ts';
import {
  type TwoStepFacts,
  type TwoStepScore,
  twoStepFactsSchema,
  twoStepRecipeSchema,
  twoStepReplySchema,
} from './schemas.ts';

const CHOICE = ours('a family for tests');

export const twoStepDocuments = {
  origins: {
    'two-step': {
      model: null,
      summary: 'Right or wrong, and for right answers the share of the criteria that they meet.',
      not_said: null,
      training: {},
      parameters: { ask_criteria: CHOICE, weight: CHOICE, divide_by_group_max: CHOICE },
    },
  },
  formula: ['reward = 0 if wrong, else (1 - weight) + weight * share', ...TERM_FORMULA, ...VOTE_FORMULA],
} satisfies RecipeDocuments<TwoStep['recipe']>;

export const twoStep = {
  ...twoStepComposer,
  recipe: { ...twoStepComposer.recipe, schema: twoStepRecipeSchema },
  facts: {
    schema: twoStepFactsSchema,
    judged: ({ outcome, criteria }) => [outcome, criteria],
    verdicts: ({ outcome, criteria }) =>
      criteria.status === 'unscored'
        ? levelsOf(outcome, (right) => [yesNoLevel('outcome', right)])
        : criterionLevels(criteria.observed),
  },
  reply: {
    schema: twoStepReplySchema,
    skippedAtZero: [],
    withoutText: (reply) => ({ ...reply, steps: reply.steps.map(({ asked }) => ({ asked })) }),
    unitScore: (base) => base,
  },
  hasReference: true,
  canExplain: false,

  plan(rollout, recipe, { measureAll = false }) {
    const { question, reference, response, positive_rubrics: rubrics = [] } = rollout;
    const problems = [
      ...missingFields(rollout, ['question', 'reference'], 'two-step'),
      ...countProblems(rollout, recipe),
    ];
    if (question === undefined || reference === undefined || problems.length > 0) return { ok: false, error: problems };
    const outcome = { kind: 'outcome', question, reference, answer: response } as const;
    const criteria = rubrics.map(({ description }, position) => ({ key: `c${position + 1}`, description }));
    const rubric = { kind: 'rubric', question, sources: [], criteria, answer: response } as const;
    const cited = new Set<number>();
    const measured = (right: TwoStepFacts['outcome'], met: TwoStepFacts['criteria'], asked: readonly string[]) => {
      const counts = countsOf(rollout, recipe);
      const facts: TwoStepFacts = { v: 1, family: 'two-step', outcome: right, criteria: met, ...counts };
      const steps = asked.map((name) => ({ asked: name, text: response }));
      return done({ facts, reply: (score: TwoStepScore) => ({ ...score, steps }) });
    };
    const first: Stage<ReturnType<typeof measured> extends Stage<infer Value> ? Value : never> = ask(
      [{ request: outcome, cited }],
      ([answer]) => {
        const right = mapObserved(verdictsOf(outcome, answer), ({ correct }) => correct);
        const goesOn = right.status === 'scored' && right.observed && (recipe.ask_criteria || measureAll);
        if (!goesOn) return measured(right, unscored('not_measured'), ['outcome']);
        if (criteria.length === 0) return measured(right, scored([]), ['outcome']);
        return ask([{ request: rubric, cited }], ([verdict]) => {
          const met = mapObserved(verdictsOf(rubric, verdict), (read) => read.criteria.map(({ score }) => ({ score })));
          return measured(right, met, ['outcome', 'rubric']);
        });
      },
    );
    return { ok: true, value: first };
  },
} satisfies Family<TwoStep>;
