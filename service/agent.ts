/**
 * Runs one agent request. `planAgent` rejects everything that can be rejected before a token is generated; `runAgent`
 * then runs the trajectory and scores it if the request has a reference or tests.
 */
import { AgentLoop } from '../src/agent/loop.ts';
import { agentPromptTokens } from '../src/agent/prompt.ts';
import type { AgentSettings } from '../src/agent/types.ts';
import { AGENT_DEFAULTS } from '../src/agent/types.ts';
import { resolveRecipe } from '../src/families/resolve.ts';
import { toolCall } from '../src/families/tool-call/family.ts';
import { planToolCall } from '../src/families/tool-call/plan.ts';
import type { ToolCallRecipe } from '../src/families/tool-call/recipe.ts';
import type { Rollout } from '../src/family/rollout.ts';
import type { Generator } from '../src/generation/generator.ts';
import { MAX_AGENT_RESPONSE_TOKENS } from '../src/limits.ts';
import type { Failure, Result } from '../src/result.ts';
import type { AgentRequest } from '../src/wire/agent.ts';
import type { AgentResponse } from '../src/wire/agent-reply.ts';
import { type AgentStart, agentReply, agentStart, scored, unscored, unscoredReason } from '../src/wire/agent-reply.ts';
import type { ScoreResponse } from '../src/wire/score.ts';
import type { CodeRunner } from './backends/code-runner.ts';
import { chooseGenerator, chooseSandbox } from './backends/configured.ts';
import type { RequestFailure } from './failures.ts';
import type { AgentPlatform } from './ports.ts';
import type { ScoringOptions } from './score.ts';
import { type LoopOptions, runTrajectory } from './trajectory.ts';

export type AgentPlan = {
  readonly settings: AgentSettings;
  readonly generator: Generator;
  readonly runCode: CodeRunner;
  /** `null` = the request has no ground truth, so the trajectory is not scored. */
  readonly scoring: ScoringPlan | null;
  readonly start: AgentStart;
};

export async function planAgent(
  request: AgentRequest,
  { backends, runCode }: AgentPlatform,
): Promise<Result<AgentPlan, RequestFailure>> {
  const chosen = chooseGenerator(backends, request.generator);
  if (chosen === null) {
    const configured = backends.generators.named.map(({ generator }) => generator.name);
    return refused({ reason: 'generator_unknown', configured });
  }
  if (!chosen.ok) return refused({ reason: 'generation_failed', failure: chosen.error });
  const { value: generator } = chosen;
  const planned = await planScoring(request);
  if (!planned.ok) return planned;
  const scoring = planned.value;
  const sandbox = chooseSandbox(backends);
  if (!sandbox.ok && request.tools.length > 0) {
    return refused({ reason: 'judgment_failed', failure: sandbox.failure });
  }
  const settings = settingsOf(request, scoring);
  const prompt = promptProblem(request, generator);
  if (prompt !== null) return refused(prompt);
  return {
    ok: true,
    value: { settings, generator, runCode: runCode ?? NO_CODE, scoring, start: agentStart(settings, generator) },
  };
}

/** The code runner of a deployment without a sandbox. It is never called, because the request then has no tools. */
const NO_CODE: CodeRunner = () => {
  throw new Error('planAgent: code without a sandbox');
};

function settingsOf(request: AgentRequest, scoring: ScoringPlan | null): AgentSettings {
  return { ...request, max_response_tokens: request.max_response_tokens ?? defaultBudget(scoring) };
}

/**
 * The default of `max_response_tokens`: the longest response that the reward accepts, because training uses one setting
 * for both limits.
 */
function defaultBudget(scoring: ScoringPlan | null): number {
  const penalty = scoring?.recipe.overlong_penalty;
  if (penalty === undefined || !penalty.enabled) return AGENT_DEFAULTS.max_response_tokens;
  return Math.min(penalty.max_response_tokens, MAX_AGENT_RESPONSE_TOKENS);
}

function promptProblem(request: AgentRequest, generator: Generator): RequestFailure | null {
  const tokens = agentPromptTokens(request, generator);
  const { max_prompt_tokens } = request;
  if (tokens > max_prompt_tokens) {
    const message = `expected at most ${max_prompt_tokens} tokens (max_prompt_tokens), tools included; estimated from above they are ${tokens}`;
    return { reason: 'input_invalid', problems: [{ path: ['messages'], message }] };
  }
  if (generator.context_tokens === null || tokens < generator.context_tokens) return null;
  const detail = `the prompt is estimated at ${tokens} tokens; the generator takes ${generator.context_tokens}, prompt and response together`;
  return {
    reason: 'generation_failed',
    failure: { reason: 'generator_prompt_too_long', detail, retryable: false },
  };
}

/** The recipe of the training run from which all other agent defaults come. */
const DEFAULT_RECIPE = 'open-agentrl';

type ScoringPlan = {
  readonly recipe: ToolCallRecipe;
  /** The ground truth of the request: a reference answer or tests. */
  readonly known: Pick<Rollout, 'reference' | 'tests'>;
  readonly options: ScoringOptions;
};

/** Plans the scoring of a trajectory; `null` = the request has no ground truth. */
async function planScoring(request: AgentRequest): Promise<Result<ScoringPlan | null, RequestFailure>> {
  const { reference, tests, judgments, replicate, on_judge_failure } = request;
  if (reference === undefined && tests === undefined) return { ok: true, value: null };
  const input = request.recipe ?? DEFAULT_RECIPE;
  const resolved = await resolveRecipe(input);
  if (!resolved.ok) return refused({ reason: 'input_invalid', problems: resolved.error });
  const { recipe } = resolved.value;
  if (recipe.family !== toolCall.name) {
    const message = `expected a recipe of the ${toolCall.name} family, got ${recipe.family}`;
    return refused({ reason: 'input_invalid', problems: [{ path: ['recipe'], message }] });
  }
  const known = { ...(reference === undefined ? {} : { reference }), ...(tests === undefined ? {} : { tests }) };
  const planned = planToolCall({ ...known, response: '', num_turns: 2, response_tokens: 0 }, recipe, false);
  if (!planned.ok) return refused({ reason: 'input_invalid', problems: planned.error });
  return { ok: true, value: { recipe, known, options: { recipe: input, judgments, replicate, on_judge_failure } } };
}

export type AgentRunOptions = Pick<LoopOptions, 'observer' | 'caller' | 'deadline_ms' | 'elapsed'> & {
  /** Scores the trajectory; rejects if the failure must fail the whole request. */
  readonly score: (rollout: Rollout, options: ScoringOptions) => Promise<ScoreResponse>;
};

/** Runs a planned agent to its end. It fails only if the first turn produced no message. */
export async function runAgent(
  plan: AgentPlan,
  { score, ...options }: AgentRunOptions,
): Promise<Result<AgentResponse, RequestFailure>> {
  const { settings, generator, runCode, scoring, start } = plan;
  const loop = new AgentLoop(settings, generator);
  await runTrajectory(loop, { ...options, generator, runCode });
  const { step } = loop;
  if (step.kind === 'stopped' && step.stop === 'generator_failed' && loop.messages.length === 0) {
    return refused({ reason: 'generation_failed', failure: step.failure });
  }
  const reason = unscoredReason(loop, scoring?.recipe ?? null);
  if (reason !== null) return { ok: true, value: agentReply(start, loop, unscored(reason)) };
  if (scoring === null) throw new Error('runAgent: a score without a plan');
  const rollout = {
    ...scoring.known,
    response: loop.response,
    num_turns: loop.numTurns,
    response_tokens: loop.responseTokens,
  };
  return { ok: true, value: agentReply(start, loop, scored(await score(rollout, scoring.options))) };
}

function refused(error: RequestFailure): Failure<RequestFailure> {
  return { ok: false, error };
}
