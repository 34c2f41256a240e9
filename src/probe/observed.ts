/** What the facts of one answer show, whatever its recipe pays for. */
import { BUILT_IN, type Facts } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';

/**
 * The share of the row's own positive criteria that an answer meets; `null` = not known. In families without a monitor a
 * criterion that is half met is not met.
 */
export function criteriaMet(facts: Facts): number | null {
  const { monitor } = BUILT_IN.of(facts);
  if (monitor !== undefined) {
    const { has_answer, criteria_met } = monitor.observe(facts);
    return has_answer ? criteria_met : 0;
  }
  const own =
    familyOf(facts)
      .facts.counts?.(facts)
      .criteria?.filter(({ kind }) => kind === 'positive') ?? [];
  return own.length === 0 ? null : own.filter(({ passed }) => passed).length / own.length;
}

/** The ids that the claims of an answer cite, summed over its claims; `null` = not known. */
export function citationCount(facts: Facts): number | null {
  return familyOf(facts).facts.counts?.(facts).citations ?? null;
}
