/** What the alerts of a run watch in the dr-tulu family. Imports no schema, like the composer. */
import type { Monitor, Observations } from '../../family/monitor.ts';
import type { DrTuluFacts } from './facts.ts';
import type { DrTuluRecipe } from './recipe.ts';

/** The judge's scale is 0, 1, 2. */
const TOP_SCORE = 2;
/** The facts have shares of a statement's sources, and no number of ids. */
const NO_IDS = { citations: null, irrelevant: null };

export const drTuluMonitor: Monitor<DrTuluRecipe, DrTuluFacts> = {
  observe: (facts) =>
    facts.has_answer
      ? { has_answer: true, criteria_met: criteriaMet(facts), ...statementsOf(facts), ...NO_IDS }
      : { has_answer: false, criteria_met: null, cited: 0, uncited: 0, ...NO_IDS },
};

/** All criteria are the row's; a negative weight names a fault. */
function criteriaMet({ rubric }: DrTuluFacts): number | null {
  if (rubric.status !== 'scored') return null;
  const own = rubric.observed.filter(({ weight }) => weight > 0);
  return own.length === 0 ? null : own.reduce((sum, { score }) => sum + score, 0) / (TOP_SCORE * own.length);
}

function statementsOf({ citation }: DrTuluFacts): Pick<Observations, 'cited' | 'uncited'> {
  if (citation.status !== 'scored') return { cited: null, uncited: null };
  const { statements } = citation.observed;
  return {
    cited: statements.filter(({ cited }) => cited).length,
    uncited: statements.filter((one) => !one.cited && one.needs_citation).length,
  };
}
