/** What the alerts of a run watch in the carr family. Imports no schema, like the composer. */
import type { Monitor } from '../../family/monitor.ts';
import type { CarrFacts } from './facts.ts';
import type { CarrRecipe } from './recipe.ts';

const NO_STATEMENTS = { cited: null, uncited: null, citations: null, irrelevant: null };

export const carrMonitor: Monitor<CarrRecipe, CarrFacts> = {
  /** The row's own criteria are the single-hop ones about its entities. */
  observe: ({ has_answer, supported }) => {
    if (!has_answer) return { has_answer, criteria_met: null, ...NO_STATEMENTS };
    const criteria = supported.status === 'scored' ? supported.observed : [];
    const met = criteria.filter((isSupported) => isSupported).length;
    return { has_answer, criteria_met: criteria.length === 0 ? null : met / criteria.length, ...NO_STATEMENTS };
  },
};
