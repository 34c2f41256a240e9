/**
 * Plan: a rollout and a recipe in, the judgments it needs out. Parses the response, settles what needs no judge
 * (invented ids, empty claims, the verbatim gate) and asks for the rest in at most two requests (REWARDS.md 3 and 4).
 */
import { indexSourceSet } from '../../citations/lexical-evidence.ts';
import { parseResponse, sizeProblems } from '../../citations/parse.ts';
import { sourcesOf } from '../../citations/sources.ts';
import type { Claim, ParsedResponse, SourceSet } from '../../citations/types.ts';
import { judgedSources } from '../../family/judged-sources.ts';
import { missingFields, originOf } from '../../family/missing-fields.ts';
import type { Criterion, Rollout } from '../../family/rollout.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { CitationsRequest, JudgedClaim, RubricRequest } from '../../judgments/types.ts';
import { gatherEvidence } from '../../lexical/index.ts';
import type { PlanOptions } from '../plan-rollout.ts';
import { neededJudgments } from './compose.ts';
import { criteriaOf } from './criteria.ts';
import type { RefinerRecipe } from './recipe.ts';

/** A claim that counts, with what is settled before judging. */
export type PlannedClaim = {
  readonly claim: Claim;
  /** For each distinct cited id: settled relevance, or `ask` where the judge decides. */
  readonly relevance: readonly (boolean | 'ask')[];
  /** Settled support, or `ask`. */
  readonly support: 0 | 1 | 'ask';
};

/** A request to a judge; or why there is none: everything is settled, or the judgment cannot change the reward. */
export type Ask<R> = R | 'settled' | 'not_needed';

export type RefinerPlan = {
  readonly recipe: RefinerRecipe;
  readonly response: string;
  readonly finish_reason: string | null;
  readonly sources: SourceSet;
  readonly parsed: ParsedResponse;
  readonly criteria: readonly Criterion[];
  readonly claims: readonly PlannedClaim[];
  /** All criteria in one request, or each in one of its own (`judging`). */
  readonly rubric: Ask<readonly RubricRequest[]>;
  readonly citations: Ask<CitationsRequest>;
};

export type PlanResult =
  | { readonly ok: true; readonly plan: RefinerPlan }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** Plans the judgments of one refiner rollout. Problems are the caller's to mend (HTTP 422). */
export function planRefiner(rollout: Rollout, recipe: RefinerRecipe, options: PlanOptions = {}): PlanResult {
  const { question } = rollout;
  const lacking = missingFields(rollout, ['question'], 'refiner');
  const from = originOf(rollout, 'refiner');
  if (!from.ok) return { ok: false, problems: [...lacking, ...from.problems] };
  if (question === undefined) return { ok: false, problems: lacking };
  const sources = options.sources ?? sourcesOf(from.origin);
  const parsed = parseResponse(rollout.response, sources, { answer: recipe.answer });
  const criteria = criteriaOf(rollout, recipe.judge_static);
  const finishReason = rollout.finish_reason ?? null;
  const problems = inputProblems(rollout, recipe, criteria, parsed, sources);
  if (problems.length > 0) return { ok: false, problems };

  const claims = plannedClaims(parsed, sources, recipe);
  const needed = neededJudgments(
    { has_answer: parsed.answer !== null, format: parsed.format, finish_reason: finishReason },
    recipe,
  );
  const wanted = (part: 'rubric' | 'citation'): boolean =>
    needed.includes(part) || (options.measureAll === true && parsed.answer !== null);
  return {
    ok: true,
    plan: {
      recipe,
      response: rollout.response,
      finish_reason: finishReason,
      sources,
      parsed,
      criteria,
      claims,
      rubric: wanted('rubric') ? rubricRequests(rollout, question, sources, parsed, criteria, recipe) : 'not_needed',
      citations: wanted('citation') ? citationsRequest(question, sources, parsed, claims) : 'not_needed',
    },
  };
}

function inputProblems(
  rollout: Rollout,
  recipe: RefinerRecipe,
  criteria: readonly Criterion[],
  parsed: ParsedResponse,
  sources: SourceSet,
): InputProblem[] {
  const problems: InputProblem[] = [];
  if (criteria.every((criterion) => criterion.origin === 'static' || criterion.weight === 0)) {
    const given = criteria.some((criterion) => criterion.origin === 'instance');
    problems.push({
      path: ['positive_rubrics'],
      message: given ? 'every rubric has weight 0: at least one must count' : 'no rubrics: give at least one criterion',
    });
  }
  if (recipe.non_stop_penalty.enabled && rollout.finish_reason === undefined) {
    problems.push({ path: ['finish_reason'], message: 'the recipe has non_stop_penalty enabled and needs it' });
  }
  problems.push(...sizeProblems(parsed, sources, rollout.tool_output === undefined ? 'sources' : 'tool_output'));
  return problems;
}

/** Settles what needs no judge: invented ids, empty claims, and (the zero-token gate) whole copied source sentences. */
function plannedClaims(parsed: ParsedResponse, sources: SourceSet, recipe: RefinerRecipe): PlannedClaim[] {
  const evidence = indexSourceSet(sources);
  return parsed.claims
    .filter((claim) => claim.duplicate_of === null)
    .map((claim) => {
      const known = claim.ids.flatMap(({ source }) => (source === null ? [] : [source]));
      if (known.length === 0 || claim.text.length === 0) {
        return { claim, support: 0 as const, relevance: claim.ids.map(() => false) };
      }
      const copied = new Set(
        recipe.verbatim_gate ? gatherEvidence(evidence, claim.text, known).verbatim.map(({ source }) => source) : [],
      );
      return {
        claim,
        support: copied.size > 0 ? (1 as const) : ('ask' as const),
        relevance: claim.ids.map(({ source }) =>
          source === null ? false : copied.has(source) ? true : ('ask' as const),
        ),
      };
    });
}

function rubricRequests(
  rollout: Rollout,
  question: string,
  sources: SourceSet,
  parsed: ParsedResponse,
  criteria: readonly Criterion[],
  recipe: RefinerRecipe,
): Ask<readonly RubricRequest[]> {
  const span = parsed.answer;
  if (span === null) return 'not_needed';
  const judged = criteria.map(({ key, title, description }) =>
    title === undefined ? { key, description } : { key, title, description },
  );
  const whole: RubricRequest = {
    kind: 'rubric',
    question,
    sources: judgedSources(sources),
    criteria: judged,
    answer: rollout.response.slice(span.start, span.end),
  };
  switch (recipe.judging) {
    case 'joint':
      return [whole];
    case 'per_criterion':
      return judged.map((criterion) => ({ ...whole, criteria: [criterion] }));
  }
}

function citationsRequest(
  question: string,
  sources: SourceSet,
  parsed: ParsedResponse,
  claims: readonly PlannedClaim[],
): Ask<CitationsRequest> {
  const asked: JudgedClaim[] = [];
  for (const { claim, relevance } of claims) {
    const open = claim.ids.flatMap(({ source }, position) =>
      relevance[position] === 'ask' && source !== null ? [source] : [],
    );
    if (open.length > 0) asked.push({ claim: claim.index, text: claim.text, sources: open });
  }
  const statements = parsed.statements.map(({ index, text }) => ({ statement: index, text }));
  if (asked.length === 0 && statements.length === 0) return 'settled';
  return {
    kind: 'citations',
    question,
    sources: judgedSources(sources),
    claims: asked,
    statements,
  };
}
