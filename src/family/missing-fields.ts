/** What a recipe reads and a rollout lacks: refused by name, never filled in. */

import type { Family } from '../families/recipes.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Rollout, RolloutSources } from './rollout.ts';

/** One problem for each of the fields that is not there. */
export function missingFields(rollout: Rollout, fields: readonly (keyof Rollout)[], family: Family): InputProblem[] {
  return fields.flatMap((field) =>
    rollout[field] === undefined ? [{ path: [field], message: `required by recipes of the ${family} family` }] : [],
  );
}

/** Where the rollout's sources come from, or the problem that there are none. */
export function originOf(
  { tool_output, sources }: Rollout,
  family: Family,
): { readonly ok: true; readonly origin: RolloutSources } | { readonly ok: false; readonly problems: InputProblem[] } {
  if (tool_output !== undefined) return { ok: true, origin: { tool_output } };
  if (sources !== undefined) return { ok: true, origin: { sources } };
  const message = `give tool_output or sources: recipes of the ${family} family read them`;
  return { ok: false, problems: [{ path: ['tool_output'], message }] };
}
