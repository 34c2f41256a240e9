/**
 * Plan of a dr-tulu rollout: the transcript is read as the compat mode reads it, and what it says becomes the same two
 * judgments as anywhere else: criteria, and claims with uncited parts.
 */
import { sourcesOf } from '../../citations/sources.ts';
import type { SourceSet } from '../../citations/types.ts';
import type { DrTuluFacts } from '../../family/facts.ts';
import { judgedSources } from '../../family/judged-sources.ts';
import { missingFields } from '../../family/missing-fields.ts';
import type { Rollout, SignedCriterionInput } from '../../family/rollout.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { CitationsRequest, JudgedSource, RubricRequest, Support } from '../../judgments/types.ts';
import { MAX_CLAIMS, MAX_STATEMENTS } from '../../limits.ts';
import type { PlanOptions } from '../plan-rollout.ts';
import { neededByDrTulu } from './compose.ts';
import { planExact } from './exact/final-reward.ts';
import { extractTranscript } from './exact/transcript.ts';
import { responseFacts } from './final-reward.ts';
import type { DrTuluRecipe } from './recipe.ts';
import { validIdRatio } from './reward-terms.ts';
import { readCitedClaims, readTranscript } from './transcript.ts';

/** One claim or uncited part, with the place of its verdict. */
export type PlannedStatement =
  /** `claim`: its number in the citations request; `null` = it cites nothing that exists, which supports nothing. */
  | { readonly cited: true; readonly claim: number | null; readonly support: Extract<Support, 0> | null }
  | { readonly cited: false; readonly statement: number };

export type DrTuluPlan = {
  readonly observed: Omit<DrTuluFacts, 'rubric' | 'citation'>;
  readonly rubrics: readonly SignedCriterionInput[];
  readonly statements: readonly PlannedStatement[];
  readonly valid_id_ratio: number;
  /** All criteria in one request, or each in one of its own; empty where no criterion has to be asked about. */
  readonly rubric: readonly RubricRequest[] | 'not_needed';
  readonly citations: CitationsRequest | 'settled' | 'not_needed';
};

export type DrTuluPlanResult =
  | { readonly ok: true; readonly plan: DrTuluPlan }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

export function planDrTulu(rollout: Rollout, recipe: DrTuluRecipe, options: PlanOptions): DrTuluPlanResult {
  const penalty = recipe.non_stop_penalty.enabled ? (['finish_reason'] as const) : [];
  const problems = missingFields(rollout, ['question', 'rubrics', ...penalty], 'dr-tulu');
  const { question, rubrics } = rollout;
  if (problems.length > 0 || question === undefined || rubrics === undefined) return { ok: false, problems };
  const read =
    recipe.compat === 'exact' ? readExactly(rollout, question, recipe) : readCorrectly(rollout, recipe, options);
  const claims = read.asked.length;
  if (claims > MAX_CLAIMS + MAX_STATEMENTS) {
    const message = `expected at most ${MAX_CLAIMS + MAX_STATEMENTS} claims and uncited parts, got ${claims}`;
    return { ok: false, problems: [{ path: ['response'], message }] };
  }

  const observed = {
    v: 1,
    family: 'dr-tulu',
    compat: recipe.compat,
    has_answer: read.answer !== null,
    finish_reason: rollout.finish_reason ?? null,
    format: read.format,
    queries: read.queries,
  } as const;
  const needed = neededByDrTulu(observed, recipe);
  const wanted = (part: 'rubric' | 'citation'): boolean =>
    needed[part] || (options.measureAll === true && read.answer !== null);
  return {
    ok: true,
    plan: {
      observed,
      rubrics,
      ...numbered(read.asked),
      valid_id_ratio: read.valid_id_ratio,
      rubric: wanted('rubric') ? rubricRequests(question, read, rubrics, recipe) : 'not_needed',
      citations: wanted('citation') ? citationsRequest(question, read) : 'not_needed',
    },
  };
}

/** A transcript as a compat mode reads it. */
type Reading = {
  /** The text that the criteria are judged on. */
  readonly answer: string | null;
  readonly sources: readonly JudgedSource[];
  /** Claims and uncited parts in order; a claim whose `sources` are empty supports nothing. */
  readonly asked: readonly (
    | { readonly cited: true; readonly text: string; readonly sources: readonly number[] }
    | { readonly cited: false; readonly text: string }
  )[];
  readonly valid_id_ratio: number;
  readonly format: number;
  readonly queries: number;
};

function readCorrectly({ response, ...rollout }: Rollout, recipe: DrTuluRecipe, options: PlanOptions): Reading {
  const { answer, sources: inContext } = readTranscript(response);
  const { format, queries } = responseFacts(response, recipe.call_form);
  // Tool output that the caller keeps apart from the transcript stands in for what the transcript holds.
  const sources = options.sources ?? givenSources(rollout) ?? inContext;
  if (sources === null || sources.list.length === 0 || answer === null) {
    return { answer, sources: [], asked: [], valid_id_ratio: 0, format, queries };
  }
  const { claims, uncited } = readCitedClaims(response, sources);
  return {
    answer,
    sources: judgedSources(sources),
    asked: [
      ...claims.map(({ text, ids }) => {
        const known = ids.flatMap(({ source }) => (source === null ? [] : [source]));
        return { cited: true as const, text, sources: known };
      }),
      ...uncited.map((text) => ({ cited: false as const, text })),
    ],
    valid_id_ratio: validIdRatio(
      claims.flatMap(({ ids }) => ids.map(({ id }) => id)),
      sources.byId,
    ),
    format,
    queries,
  };
}

function givenSources({ tool_output, sources }: Omit<Rollout, 'response'>): SourceSet | null {
  if (tool_output !== undefined) return sourcesOf({ tool_output });
  return sources === undefined ? null : sourcesOf({ sources });
}

function readExactly({ response, rubrics = [] }: Rollout, question: string, recipe: DrTuluRecipe): Reading {
  const set = { query: question, rubrics };
  const exact = planExact({ response, rubrics: set, variant: 'rubrics', form: recipe.call_form, citations: true });
  const known = [...(extractTranscript(response).sources ?? new Map<string, string>())];
  const positions = new Map(known.map(([id], position) => [id, position]));
  return {
    answer: exact.answer,
    sources: known.map(([id, text]) => ({ id, text })),
    asked: exact.citations.questions.map((question) =>
      question.kind === 'uncited'
        ? { cited: false, text: question.claim }
        : { cited: true, text: question.claim, sources: question.ids.flatMap((id) => positions.get(id) ?? []) },
    ),
    valid_id_ratio: exact.citations.validIds,
    format: exact.format,
    queries: exact.queries,
  };
}

/** Each claim and uncited part with its number among those that are asked about. */
function numbered(asked: Reading['asked']): Pick<DrTuluPlan, 'statements'> {
  let claim = 0;
  let statement = 0;
  return {
    statements: asked.map((one) => {
      if (!one.cited) return { cited: false, statement: statement++ };
      return one.sources.length === 0
        ? { cited: true, claim: null, support: 0 }
        : { cited: true, claim: claim++, support: null };
    }),
  };
}

function rubricRequests(
  question: string,
  { answer, sources }: Reading,
  rubrics: readonly SignedCriterionInput[],
  recipe: DrTuluRecipe,
): readonly RubricRequest[] | 'not_needed' {
  if (answer === null) return 'not_needed';
  const criteria = rubrics.map(({ title, description }, position) => {
    const key = criterionKey(position);
    return title === undefined ? { key, description } : { key, title, description };
  });
  const whole: RubricRequest = { kind: 'rubric', question, sources, criteria, answer };
  switch (recipe.judging) {
    case 'joint':
      return [whole];
    case 'per_criterion':
      return criteria.map((criterion) => ({ ...whole, criteria: [criterion] }));
  }
}

/** `c1`…`cn` by position. */
export function criterionKey(position: number): string {
  return `c${position + 1}`;
}

function citationsRequest(question: string, { sources, asked }: Reading): CitationsRequest | 'settled' {
  const cited = asked.flatMap((one) => (one.cited && one.sources.length > 0 ? [one] : []));
  const uncited = asked.flatMap((one) => (one.cited ? [] : [one]));
  if (cited.length === 0 && uncited.length === 0) return 'settled';
  return {
    kind: 'citations',
    question,
    sources,
    claims: cited.map(({ text, sources: ids }, claim) => ({ claim, text, sources: ids })),
    statements: uncited.map(({ text }, statement) => ({ statement, text })),
  };
}
