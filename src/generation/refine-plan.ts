/**
 * Plans a refinement before any token is paid for: the prompt that the policy sees, the generator calls, and a check of
 * everything that scoring will need.
 */
import type { CitationPolicy } from '../citations/citation-policy.ts';
import { parseResponse, sizeProblems } from '../citations/parse.ts';
import { parseSources } from '../citations/sources.ts';
import type { SourceSet } from '../citations/types.ts';
import { refiner } from '../families/refiner/family.ts';
import { planRollout } from '../families/registry.ts';
import { type RecipeInput, type ResolvedRecipe, resolveRecipe } from '../families/resolve.ts';
import type { Rollout } from '../family/rollout.ts';
import { type RolloutFields, rolloutOf, rolloutSources } from '../family/rollout-schema.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Failure, Result } from '../result.ts';
import type { GenerationRequest, GenerationSampling, Generator } from './generator.ts';
import { PROMPTED_GRAMMAR, type RefinerPrompt, refinerPrompt, taggedSources } from './refiner-prompt.ts';

/** What is generated and against which sources. Exactly one of `tool_output` and `sources` is given. */
type RefineInput = Pick<
  RolloutFields,
  'reasoning' | 'tool_output' | 'sources' | 'positive_rubrics' | 'negative_rubrics'
> & {
  readonly question: string;
  /** `answer_only`: the policy writes the answer block alone. `full`: it may think before. */
  readonly mode: 'answer_only' | 'full';
  /** Number of candidates, at least 1. */
  readonly n: number;
  readonly sampling: GenerationSampling & { readonly max_tokens: number };
  /** Budget of the prompt in tokens; `planRefinement` lowers it to what fits into the generator's context. */
  readonly prompt_tokens: number;
  readonly evidence: 'none' | 'lexical';
  /** A recipe of the refiner family. Absent: the candidates are not scored. */
  readonly recipe?: RecipeInput;
  /** `abort`: a candidate is stopped at its first citation of an id that no source has. */
  readonly on_invented_citation: 'flag' | 'abort';
};

export type RefinePlan<Request extends RefineInput = RefineInput> = {
  readonly request: Request;
  readonly prompt: RefinerPrompt;
  /** Token budget that the prompt was built for. */
  readonly prompt_tokens: number;
  /** Sources in the tool output as the policy sees it: what its answers can cite. */
  readonly sources: SourceSet;
  /**
   * One call for all candidates, or one per candidate if each must be stoppable by itself. Candidates are numbered
   * through all calls.
   */
  readonly calls: readonly GenerationRequest[];
  /** `null` = candidates are not scored. */
  readonly recipe: ResolvedRecipe | null;
  /** What the citations of an answer are to the recipe. */
  readonly citations: CitationPolicy;
};

/** Plans the calls of a refinement, or returns the input errors of the request. */
export async function planRefinement<Request extends RefineInput>(
  request: Request,
  generator: Pick<Generator, 'context_tokens'>,
): Promise<Result<RefinePlan<Request>, readonly InputProblem[]>> {
  const origin = rolloutSources(request);
  const tagged = 'sources' in origin ? taggedSources(origin.sources) : { ok: true as const, value: origin.tool_output };
  if (!tagged.ok) return tagged;
  const budget = promptBudget(request, generator.context_tokens);
  if (!budget.ok) return budget;
  const prompt = promptOf(request, tagged.value, budget.value);
  if (!prompt.ok) return prompt;
  const sources = parseSources(prompt.value.tool_output);
  const scoring = await planScoring(request, prompt.value.tool_output, sources);
  if (!scoring.ok) return scoring;
  const plan = {
    request,
    prompt: prompt.value,
    prompt_tokens: budget.value,
    sources,
    calls: callsOf(request, prompt.value),
    ...scoring.value,
  };
  return { ok: true, value: plan };
}

/** Converts a candidate to a rollout, with the tool output that the policy saw. */
export function candidateRollout(
  { question, reasoning, positive_rubrics, negative_rubrics }: RefineInput,
  tool_output: string,
  response: string,
  finish_reason: string,
): Rollout {
  return rolloutOf({
    question,
    tool_output,
    response,
    finish_reason,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(positive_rubrics === undefined ? {} : { positive_rubrics }),
    ...(negative_rubrics === undefined ? {} : { negative_rubrics }),
  });
}

function refused(field: string, message: string, ...within: readonly string[]): Failure<readonly InputProblem[]> {
  return { ok: false, error: [{ path: [field, ...within], message }] };
}

function promptBudget(
  { prompt_tokens, sampling }: RefineInput,
  context: number | null,
): Result<number, readonly InputProblem[]> {
  const most = context === null ? prompt_tokens : context - sampling.max_tokens;
  if (most >= 1) return { ok: true, value: Math.min(prompt_tokens, most) };
  return refused('sampling', `leaves no room for a prompt: the generator takes ${context} tokens`, 'max_tokens');
}

function promptOf(
  request: RefineInput,
  tool_output: string,
  prompt_tokens: number,
): Result<RefinerPrompt, readonly InputProblem[]> {
  const { question, reasoning, mode } = request;
  const input = { question, tool_output, mode, prompt_tokens };
  const whole = refinerPrompt(reasoning === undefined ? input : { ...input, reasoning });
  if (whole.ok) return whole;
  const alone = refinerPrompt(input);
  const needed = `about ${whole.error} tokens are needed before any tool output, and the prompt may take ${prompt_tokens}`;
  return refused(alone.ok ? 'reasoning' : 'question', `too long: ${needed}`);
}

/** Splits a request of n candidates into n calls if one may be stopped: a server cannot stop one choice of a call. */
function callsOf(request: RefineInput, prompt: RefinerPrompt): GenerationRequest[] {
  const { n, sampling, mode, question, on_invented_citation } = request;
  const { max_tokens, ...rest } = sampling;
  const whole: GenerationRequest = {
    messages: prompt.messages,
    n,
    sampling: rest,
    max_tokens,
    thinking: mode === 'full',
    tools: [],
    subject: { question, tool_output: prompt.tool_output },
  };
  if (on_invented_citation === 'flag' || n === 1) return [whole];
  return Array.from({ length: n }, (_, candidate) => {
    const seed = rest.seed === null ? null : rest.seed + candidate;
    return { ...whole, n: 1, sampling: { ...rest, seed } };
  });
}

async function planScoring(
  request: RefineInput,
  tool_output: string,
  sources: SourceSet,
): Promise<Result<Pick<RefinePlan, 'recipe' | 'citations'>, readonly InputProblem[]>> {
  const tooMany = sizeProblems(
    parseResponse('', sources),
    sources,
    request.sources === undefined ? 'tool_output' : 'sources',
  );
  if (tooMany.length > 0) return { ok: false, error: tooMany };
  if (request.recipe === undefined) return { ok: true, value: { recipe: null, citations: 'allowed' } };
  const resolved = await resolveRecipe(request.recipe);
  if (!resolved.ok) return resolved;
  const { recipe } = resolved.value;
  if (recipe.family !== refiner.name) {
    return refused('recipe', `expected a recipe of the ${refiner.name} family, got one of ${recipe.family}`);
  }
  const { grammar = PROMPTED_GRAMMAR, citations = 'allowed' } = recipe;
  if (grammar !== PROMPTED_GRAMMAR) {
    const message = `expected "${PROMPTED_GRAMMAR}", as the prompt asks for it: leave the field out, or score answers to a prompt of your own with POST /v1/score`;
    return refused('recipe', message, 'grammar');
  }
  // Checks what the recipe requires of the row before anything is generated.
  const tried = planRollout(candidateRollout(request, tool_output, '', 'stop'), recipe, { sources });
  return tried.ok ? { ok: true, value: { recipe: resolved.value, citations } } : { ok: false, error: tried.error };
}
