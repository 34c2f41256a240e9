/** Probes a recipe for `POST /v1/recipes/probe`: validated input in, measured rows or a failure out. */
import type { ResolvedRecipe } from '../src/families/resolve.ts';
import type { InputProblem } from '../src/input-problem.ts';
import { plannedResponses, planProbe } from '../src/probe/plan-probe.ts';
import type { ProbeRow } from '../src/probe/probe-row.ts';
import { measureProbe, type ProbeResult } from '../src/probe/probe-rows.ts';
import type { ProbeRequestBody } from '../src/wire/probe.ts';
import type { ScoringPlatform } from './ports.ts';
import { requestedRecipe } from './requested-recipe.ts';
import { type JudgedReply, withRequestedJudges } from './score.ts';

/** Measured rows with the recipe that they were measured under. */
export type Probed = Extract<ProbeResult, { readonly status: 'done' }> & { readonly recipe: ResolvedRecipe };

/**
 * Measures the rows of a request. An answer whose judge fails is unscored, unless the request wants an error.
 *
 * @param admit waits for room for the answers before they are judged.
 */
export async function probeRecipe(
  rows: readonly ProbeRow[],
  request: ProbeRequestBody,
  platform: ScoringPlatform,
  admit: (responses: readonly string[]) => Promise<void>,
): Promise<JudgedReply<Probed>> {
  const resolution = await requestedRecipe(request.recipe);
  if (!resolution.ok) return refused(resolution.error);
  const { value: recipe } = resolution;
  const plan = planProbe({ rows, recipe, seed: request.seed });
  if (!plan.ok) return refused(plan.error);
  await admit(plannedResponses(plan.value));
  return withRequestedJudges(request, platform, async (obtain) => {
    const probed = await measureProbe(plan.value, obtain, platform.readSources);
    if (probed.status !== 'done') return probed;
    const { failure, timings } = probed;
    return { status: 'done', value: { ...probed, recipe }, failure, timings };
  });
}

function refused(problems: readonly InputProblem[]): JudgedReply<Probed> {
  return { ok: false, failure: { reason: 'input_invalid', problems }, timings: null };
}
