/** How a trajectory is to be scored: found out before anything is generated, so that nothing is paid for and then refused. */

import { resolveRecipe } from '../../../src/families/resolve.ts';
import { planToolCall } from '../../../src/families/tool-call/plan.ts';
import type { ToolCallRecipe } from '../../../src/families/tool-call/recipe.ts';
import type { Rollout } from '../../../src/family/rollout.ts';
import type { InputProblem } from '../../../src/input-problem.ts';
import type { AgentRequest } from '../../../src/wire/agent.ts';
import type { RequestFailure } from '../../http/errors.ts';
import type { ScoringWishes } from '../score.ts';

/** The recipe of the run that all other defaults are of. */
const DEFAULT_RECIPE = 'open-agentrl';

export type ScoringPlan = {
  readonly recipe: ToolCallRecipe;
  /** What says what is right. */
  readonly known: Pick<Rollout, 'reference' | 'tests'>;
  readonly wishes: ScoringWishes;
};

/** `plan: null` = nothing says what is right, so nothing is scored. */
export type ScoringPlanResult =
  | { readonly ok: true; readonly plan: ScoringPlan | null }
  | { readonly ok: false; readonly failure: RequestFailure };

export async function planScoring(request: AgentRequest): Promise<ScoringPlanResult> {
  const { reference, tests, judgments, replicate, on_judge_failure } = request;
  if (reference === undefined && tests === undefined) return { ok: true, plan: null };
  const input = request.recipe ?? DEFAULT_RECIPE;
  const resolved = await resolveRecipe(input);
  if (!resolved.ok) return invalid(resolved.problems);
  const { recipe } = resolved.resolved;
  if (recipe.family !== 'tool-call') {
    return invalid([{ path: ['recipe'], message: `expected a recipe of the tool-call family, got ${recipe.family}` }]);
  }
  const known = { ...(reference === undefined ? {} : { reference }), ...(tests === undefined ? {} : { tests }) };
  const planned = planToolCall({ ...known, response: '', num_turns: 2, response_tokens: 0 }, recipe, false);
  if (!planned.ok) return invalid(planned.problems);
  return { ok: true, plan: { recipe, known, wishes: { recipe: input, judgments, replicate, on_judge_failure } } };
}

function invalid(problems: readonly InputProblem[]): Extract<ScoringPlanResult, { ok: false }> {
  return { ok: false, failure: { reason: 'input_invalid', problems } };
}
