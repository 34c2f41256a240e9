/** The carr family: outcome, and cited and connected criteria. Its second question depends on the answer to the first. */

import { bracketedLinks } from '../../citations/claim-writers.ts';
import { countOf } from '../../family/fact-counts.ts';
import type { Observed } from '../../family/facts.ts';
import type { Family } from '../../family/family.ts';
import { mapObserved, scored, unscored, verdictsOf } from '../../family/observe.ts';
import { ask, done, type Stage } from '../../family/stages.ts';
import { joinedLevels, levelsOf, yesNoLevel } from '../../family/verdict-levels.ts';
import type { JudgmentOutcome } from '../../judgments/judgment.ts';
import type { WantedJudgment } from '../../judgments/obtain.ts';
import { type Carr, carrComposer } from './composer.ts';
import { type CarrFacts, carrFactsSchema } from './facts.ts';
import { type CarrPlan, planCarr } from './plan.ts';
import { type CarrRecipe, carrRecipeSchema } from './recipe.ts';
import { type CarrReply, type CarrScore, carrReplySchema } from './reply.ts';
import { countingCriteria, filledCriteria } from './share.ts';

type Names = ReadonlyMap<string, string | null>;
type Measured = {
  readonly facts: CarrFacts;
  reply(score: CarrScore, facts?: CarrFacts): CarrReply;
  readonly answer: CarrPlan['answerText'];
};

export const carr = {
  ...carrComposer,
  recipe: { ...carrComposer.recipe, schema: carrRecipeSchema },
  facts: {
    schema: carrFactsSchema,
    judged: ({ outcome, named, supported }) => [outcome, named, supported],
    verdicts: ({ outcome, criteria, named, supported }) =>
      joinedLevels(
        levelsOf(outcome, (right) => [yesNoLevel('outcome', right === 1)]),
        joinedLevels(
          levelsOf(named, (labels) => {
            const names = new Set(labels);
            return [...new Set(criteria.flat())].map((label) => yesNoLevel('named', names.has(label)));
          }),
          levelsOf(supported, (all) => all.map((one) => yesNoLevel('supported', one))),
        ),
      ),
    counts: ({ pages, supported }) => ({
      claims: null,
      citations: pages,
      criteria: countOf(supported, (all) => all.map((passed) => ({ kind: 'positive', passed }))),
    }),
  },
  reply: {
    schema: carrReplySchema,
    skippedAtZero: ['rubric'],
    withoutText: (reply) => ({
      ...reply,
      entity_rubrics: reply.entity_rubrics.map(({ criterion: _criterion, statement: _statement, ...rest }) => rest),
      names: null,
      citations: { ...reply.citations, unseen: [] },
    }),
    unitScore: (base) => base,
  },
  answerForm: {
    citing: () => ({ write: bracketedLinks, idOf: ({ id, url }) => url ?? id }),
    answered: (row, answer) => ({ ...row, response: answer }),
  },
  hasReference: true,
  canExplain: false,

  plan(rollout, recipe, { measureAll = false }) {
    const planned = planCarr(rollout, recipe, measureAll);
    return planned.ok ? { ok: true, value: stagesOf(planned.value, recipe) } : planned;
  },
} satisfies Family<Carr>;

function stagesOf(plan: CarrPlan, recipe: CarrRecipe): Stage<Measured> {
  const first: WantedJudgment[] = [plan.outcome, plan.entities].flatMap((request) =>
    typeof request === 'string' ? [] : [{ request, cited: new Set<number>() }],
  );
  return ask(first, (outcomes) => {
    const rest = outcomes.values();
    const next = () => rest.next().value;
    const outcome = outcomeOf(plan, typeof plan.outcome === 'string' ? undefined : next());
    const names = namesOf(plan, typeof plan.entities === 'string' ? undefined : next());
    if (names.status === 'unscored') return done(measured(plan, recipe, { outcome, names, filled: null }, names));
    const { filled, request } = plan.statements(names.observed);
    const nothing = scored(plan.criteria.map(() => false));
    if (request === null) return done(measured(plan, recipe, { outcome, names, filled }, nothing));
    const cited = new Set(request.sources.keys());
    // The answer gives the names in the statements; the rest is the row's.
    const ofRow = { ...request, statements: plan.criteria.filter((_, n) => filled[n] !== null) };
    const positions = filled.flatMap((statement, n) => (statement === null ? [] : [n]));
    return ask([{ request, cited, ofRow, positions }], ([answer]) => {
      const verdicts: Observed<{ readonly supported: readonly boolean[] }> =
        request.kind === 'statements' ? verdictsOf(request, answer) : verdictsOf(request, answer);
      const supported = mapObserved(verdicts, (read) => {
        const inOrder = read.supported.values();
        return filled.map((statement) => statement !== null && inOrder.next().value === true);
      });
      return done(measured(plan, recipe, { outcome, names, filled }, supported));
    });
  });
}

function outcomeOf({ outcome }: CarrPlan, answer: JudgmentOutcome | undefined): CarrFacts['outcome'] {
  if (outcome === 'no_answer') return scored(0);
  if (outcome === 'not_needed') return unscored('not_measured');
  const verdicts: Observed<{ readonly correct: boolean }> =
    outcome.kind === 'outcome' ? verdictsOf(outcome, answer) : verdictsOf(outcome, answer);
  return mapObserved(verdicts, ({ correct }) => (correct ? 1 : 0));
}

function namesOf({ entities }: CarrPlan, answer: JudgmentOutcome | undefined): Observed<Names> {
  if (entities === 'no_answer') return scored(new Map());
  if (entities === 'not_needed') return unscored('not_measured');
  if (entities.kind === 'entities_text') {
    return mapObserved(
      verdictsOf(entities, answer),
      (read) => new Map(read.entities.map((one) => [one.label, one.name])),
    );
  }
  // A judge that sees the answer only in part names places in that part, which begins it.
  return mapObserved(
    verdictsOf(entities, answer),
    (read) =>
      new Map(
        read.entities.map(({ label, span }) => [
          label,
          span === null ? null : entities.answer.slice(span.start, span.end),
        ]),
      ),
  );
}

type Answers = {
  readonly outcome: CarrFacts['outcome'];
  readonly names: Observed<Names>;
  /** `null` = the names are unknown. */
  readonly filled: readonly (string | null)[] | null;
};

function measured(
  plan: CarrPlan,
  recipe: CarrRecipe,
  { outcome, names, filled }: Answers,
  supported: CarrFacts['supported'],
): Measured {
  const named = mapObserved(names, (known) => [...known].flatMap(([label, name]) => (name === null ? [] : [label])));
  const facts: CarrFacts = { ...plan.observed, outcome, named, supported };
  return {
    facts,
    answer: plan.answerText,
    reply: (score, reported = facts) => ({
      ...score,
      entity_rubrics: reportCriteria(plan, reported, filled, recipe),
      names: names.status === 'scored' ? Object.fromEntries(names.observed) : null,
      citations: plan.citations,
    }),
  };
}

/** For each criterion, whether it counts, and if not, the first reason. */
function reportCriteria(
  { criteria, observed }: CarrPlan,
  { named, supported }: CarrFacts,
  filled: readonly (string | null)[] | null,
  { connected }: CarrRecipe,
): CarrReply['entity_rubrics'] {
  const labels = observed.criteria;
  const isFilled = named.status === 'scored' ? filledCriteria(labels, named.observed) : null;
  const counting = supported.status === 'scored' ? countingCriteria(labels, supported.observed, connected) : null;
  return criteria.map((criterion, n) => {
    const failed =
      isFilled?.[n] === false
        ? 'not_named'
        : observed.pages === 0
          ? 'not_cited'
          : supported.status === 'unscored' || counting?.[n] === true
            ? null
            : supported.observed[n] === true
              ? 'not_connected'
              : 'not_supported';
    return {
      criterion,
      statement: filled?.[n] ?? null,
      labels: [...(labels[n] ?? [])],
      counts: failed === null ? (counting?.[n] ?? null) : false,
      failed,
    };
  });
}
