/** What the alerts of a run watch in the refiner family, and what a recipe that is gamed may change. Imports no schema, like the composer. */
import { countedScore } from '../../family/criterion-evidence.ts';
import type { Monitor, Observations } from '../../family/monitor.ts';
import type { RefinerFacts } from './facts.ts';
import { dividedCriteria } from './holdout.ts';
import type { RefinerRecipe } from './recipe.ts';
import { composeRubric, ownPositives } from './rubric-score.ts';

/** The judge's scale is 0, 1, 2. */
const TOP_SCORE = 2;
/** The citation weight of `refiner-gpt54-instance-rubric`. A recipe with less hardly pays for citations. */
const PAYING_WEIGHT = 0.2;
/**
 * The citation weight of `refiner-rl-balanced`: the reference for a recipe that hardly pays for citations. With 0.2 the
 * gap misses policies that stop citing (docs/guides/alerts.md).
 */
const BALANCED_WEIGHT = 0.5;

export const refinerMonitor: Monitor<RefinerRecipe, RefinerFacts> = {
  /** Negative criteria pay only as far as positive ones are met, and citations count. */
  reference: (recipe) => ({
    ...recipe,
    negatives_require_positive: true,
    citation_weight: recipe.citation_weight < PAYING_WEIGHT ? BALANCED_WEIGHT : recipe.citation_weight,
  }),
  observe: (facts) =>
    facts.has_answer ? { has_answer: true, ...criteriaOf(facts), ...citationsOf(facts) } : NO_ANSWER,
  criteriaShares,
};

/** Guards first: of two changes that help alike, the alerts name the first. */
export function stricterRefiner(recipe: RefinerRecipe) {
  const { citation_weight: weight, citations = 'allowed' } = recipe;
  return {
    negatives_require_positive: true,
    own_positives_required: true,
    ...(recipe.judge_static ? { padding_lowers_citation: true } : {}),
    citation_metric: 'precision_squared',
    ...(citations === 'allowed' ? { citations: 'required' } : {}),
    ...(weight === PAYING_WEIGHT ? {} : { citation_weight: weight < PAYING_WEIGHT ? BALANCED_WEIGHT : weight / 2 }),
    static_weight: recipe.static_weight / 2,
    uncited_ok: 'exclude',
    citation_not_applicable: 'zero',
    unverified_quote: 'zero',
  } as const satisfies Partial<RefinerRecipe>;
}

const NO_ANSWER: Observations = {
  ...{ has_answer: false, criteria_met: null },
  ...{ cited: 0, uncited: 0, citations: 0, irrelevant: 0 },
};

function criteriaOf({ rubric }: RefinerFacts): Pick<Observations, 'criteria_met' | 'asks_nothing'> {
  if (rubric.status !== 'scored') return { criteria_met: null };
  const own = rubric.observed.filter(({ origin, polarity }) => origin === 'instance' && polarity === 'positive');
  if (own.length === 0) return { criteria_met: null, asks_nothing: true };
  return { criteria_met: own.reduce((sum, { score }) => sum + score, 0) / (TOP_SCORE * own.length) };
}

/** What each criterion adds to the rubric score (rubric-score.ts), as a share of it. */
function criteriaShares(facts: RefinerFacts, recipe: RefinerRecipe): Record<string, number> | null {
  const { rubric } = facts;
  if (rubric.status !== 'scored') return null;
  const { rubric: paying } = dividedCriteria(facts, recipe);
  const paid = new Set(paying.status === 'scored' ? paying.observed : []);
  const composed = composeRubric(paying, recipe);
  const own = recipe.own_positives_required === true ? ownPositives([...paid], recipe) : null;
  const byPositives = composed.status === 'scored' && recipe.negatives_require_positive ? composed.positive : null;
  const negativeShare = own ?? byPositives ?? 1;
  const numbers = { positive: 0, negative: 0, static: 0 };
  const parts = rubric.observed.map((criterion): [string, number] => {
    const { origin, polarity, weight } = criterion;
    const kind = origin === 'static' ? origin : polarity;
    numbers[kind]++;
    const factor = origin === 'instance' ? 1 : recipe.instance_rubrics_only ? 0 : recipe.static_weight;
    const score = countedScore(criterion, recipe) / TOP_SCORE;
    const positiveShare = origin === 'static' ? (own ?? 1) : 1;
    const counted = polarity === 'positive' ? score * positiveShare : (1 - score) * negativeShare;
    return [`${kind}_${numbers[kind]}`, paid.has(criterion) ? weight * factor * counted : 0];
  });
  const sum = parts.reduce((total, [, part]) => total + part, 0);
  return sum > 0 ? Object.fromEntries(parts.map(([name, part]) => [name, part / sum])) : null;
}

function citationsOf({
  citation,
  repeated_ids: repeated,
}: RefinerFacts): Omit<Observations, 'has_answer' | 'criteria_met' | 'asks_nothing'> {
  if (citation.status !== 'scored') return { cited: null, uncited: null, citations: null, irrelevant: null };
  const counts = { cited: 0, uncited: 0, citations: 0, irrelevant: 0, ...(repeated === undefined ? {} : { repeated }) };
  for (const statement of citation.observed) {
    if (!statement.cited) {
      if (statement.needs_citation) counts.uncited++;
      continue;
    }
    counts.cited++;
    counts.citations += statement.relevant.length;
    counts.irrelevant += statement.relevant.filter((relevant) => !relevant).length;
  }
  return counts;
}
