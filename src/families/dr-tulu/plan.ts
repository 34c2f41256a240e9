/**
 * Plans the judgments of a dr-tulu rollout: reads the transcript as the compat mode requires, and asks a judge about
 * the criteria, the claims and the uncited parts.
 */
import { answerLimits } from '../../citations/answer-limits.ts';
import { sourcesOf } from '../../citations/sources.ts';
import type { SourceSet } from '../../citations/types.ts';
import { countProblems, countsOf } from '../../family/counts.ts';
import type { CreditedPlace } from '../../family/credit.ts';
import type { PlanOptions } from '../../family/family.ts';
import { judgedSources } from '../../family/judged-sources.ts';
import { citedAnswerProblems, missingFields, sourcesOfRollout } from '../../family/requirements.ts';
import type { Rollout, SignedCriterionInput } from '../../family/rollout.ts';
import { sharedLimitsFacts } from '../../family/shared-limits.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { CitationsRequest } from '../../judgments/kinds/citations/citations.ts';
import { type RubricCall, rubricCalls } from '../../judgments/kinds/rubric/rubric-calls.ts';
import type { JudgedSource } from '../../judgments/protocol/prompt.ts';
import type { AnswerText } from '../../lexical/index.ts';
import type { Result } from '../../result.ts';
import type { Span } from '../../text/span.ts';
import { neededByDrTulu } from './compose.ts';
import { planExact } from './exact/final-reward.ts';
import { extractTranscript } from './exact/transcript.ts';
import type { DrTuluFacts } from './facts.ts';
import type { DrTuluRecipe } from './recipe.ts';
import { rolloutText } from './rollout-text.ts';
import { responseFacts } from './terms/final-reward.ts';
import { validIdRatio } from './terms/reward-terms.ts';
import { readCitedClaims, readTranscript } from './terms/transcript.ts';

/** One claim or uncited part, with the index of its question in the citations request. */
type PlannedStatement =
  /**
   * `claim`: index among the claims of the citations request; `null` = the claim cites no existing source, so its
   * support is 0. `statement`: index among the statements of the citations request.
   */
  { readonly cited: true; readonly claim: number | null } | { readonly cited: false; readonly statement: number };

export type DrTuluPlan = {
  readonly observed: Omit<DrTuluFacts, 'rubric' | 'citation'>;
  readonly rubrics: readonly SignedCriterionInput[];
  readonly statements: readonly PlannedStatement[];
  /** Where each of the statements is, in order. */
  readonly places: readonly CreditedPlace[];
  readonly valid_id_ratio: number;
  /** The judged answer; `null` = the transcript has none. */
  readonly answer: string | null;
  /** The answer with its question and sources; `null` = the transcript has none. */
  readonly answerText: (() => AnswerText) | null;
  /** The calls that ask about the criteria, as `judging` splits them. */
  readonly rubric: readonly RubricCall[] | 'not_needed';
  readonly citations: CitationsRequest | 'settled' | 'not_needed';
  /** Whether the facts have the check of each quote. Without `unverified_quote` they stay as they always were. */
  readonly records_quotes: boolean;
};

export function planDrTulu(
  rollout: Rollout,
  recipe: DrTuluRecipe,
  options: PlanOptions,
): Result<DrTuluPlan, readonly InputProblem[]> {
  const penalty = recipe.non_stop_penalty.enabled ? (['finish_reason'] as const) : [];
  const problems = [
    ...sourceIdProblems(rollout, recipe),
    ...missingFields(rollout, ['question', 'rubrics', ...penalty], 'dr-tulu'),
    ...citedAnswerProblems(rollout, 'dr-tulu'),
    ...countProblems(rollout, recipe),
  ];
  const { question, rubrics } = rollout;
  if (problems.length > 0 || question === undefined || rubrics === undefined) return { ok: false, error: problems };
  const { samples = 1 } = options;
  const read = scorable(
    recipe.compat === 'exact' ? readExactly(rollout, question, recipe) : readCorrectly(rollout, recipe, options),
    samples,
  );
  const observed = {
    v: 1,
    family: 'dr-tulu',
    compat: recipe.compat,
    has_answer: read.answer !== null,
    finish_reason: rollout.finish_reason ?? null,
    format: read.format,
    queries: read.queries,
    ...countsOf(rollout, recipe),
    ...sharedLimitsFacts(samples),
  } as const;
  const needed = neededByDrTulu(observed, recipe);
  const wanted = (part: 'rubric' | 'citation'): boolean =>
    needed[part] || (options.measureAll === true && read.answer !== null);
  return {
    ok: true,
    value: {
      observed,
      rubrics,
      ...numbered(read.asked),
      places: placesOf(read),
      valid_id_ratio: read.valid_id_ratio,
      answer: read.answer,
      answerText: answerText(read, question),
      rubric: wanted('rubric') ? requestsOf(question, read, rubrics, recipe) : 'not_needed',
      citations: wanted('citation') ? citationsRequest(question, read) : 'not_needed',
      records_quotes: recipe.unverified_quote !== undefined,
    },
  };
}

/** A claim or an uncited part, with its ranges in the response; compat mode "exact" keeps none. */
type Asked = { readonly text: string; readonly spans: readonly Span[] };

/** A transcript as a compat mode reads it. */
type Reading = {
  /** The text to which the criteria apply: the answer; `null` = the transcript has none. */
  readonly answer: string | null;
  readonly sources: readonly JudgedSource[];
  /**
   * The claims and uncited parts to ask the citation judge about, in order. A claim with empty `sources` cites no
   * existing source.
   */
  readonly asked: readonly (
    | (Asked & {
        readonly cited: true;
        readonly sources: readonly number[];
        /** Ids that no source has. */
        readonly unknown: number;
      })
    | (Asked & { readonly cited: false })
  )[];
  /** How often a claim cites an id again; `null` = not known: compat mode "exact" keeps one id of a claim. */
  readonly repeated: number | null;
  readonly valid_id_ratio: number;
  readonly format: number;
  readonly queries: number;
};

function answerText({ answer, sources, asked, repeated }: Reading, question: string): (() => AnswerText) | null {
  if (answer === null) return null;
  const cited = asked.filter((one) => one.cited);
  return () => ({
    ...{ answer, question, sources, repeated },
    claims: cited.map((one) => [...one.sources, ...Array.from({ length: one.unknown }, () => null)]),
    claimTexts: cited.map(({ text }) => text),
  });
}

/** A transcript with more claims and uncited parts than can be judged has no answer; a refusal would be a way out. */
function scorable(read: Reading, samples: number): Reading {
  const { claims, citations, statements } = answerLimits(samples);
  const cited = read.asked.reduce((sum, one) => sum + (one.cited ? one.sources.length : 0), 0);
  return read.asked.length > claims + statements || cited > citations
    ? { ...read, answer: null, asked: [], repeated: 0, valid_id_ratio: 0 }
    : read;
}

function readCorrectly(rollout: Rollout, recipe: DrTuluRecipe, options: PlanOptions): Reading {
  const { text: response, outputs, inResponse } = rolloutText(rollout, recipe.call_form);
  const { answer, sources: inContext } = readTranscript(response, outputs);
  const { format, queries } = responseFacts(response, recipe.call_form);
  // Sources of the request (`tool_output` or `sources`) replace those in the transcript.
  const sources = options.sources ?? sourcesBeside(rollout) ?? inContext;
  if (sources === null || sources.list.length === 0 || answer === null) {
    return { answer, sources: [], asked: [], repeated: 0, valid_id_ratio: 0, format, queries };
  }
  const { claims, uncited, repeated } = readCitedClaims(response, sources);
  return {
    answer,
    sources: judgedSources(sources),
    asked: [
      ...claims.map(({ text, span, ids }) => {
        const known = ids.flatMap(({ source }) => (source === null ? [] : [source]));
        const unknown = ids.length - known.length;
        return { cited: true as const, text, spans: inResponse(span), sources: known, unknown };
      }),
      ...uncited.map(({ text, span }) => ({ cited: false as const, text, spans: inResponse(span) })),
    ],
    repeated,
    valid_id_ratio: validIdRatio(
      claims.flatMap(({ ids }) => ids.map(({ id }) => id)),
      sources.byId,
    ),
    format,
    queries,
  };
}

/**
 * The sources of the request, or those that `trajectory.source_ids` makes of its messages; `null` = neither: the tagged
 * pieces in the transcript count.
 */
function sourcesBeside(rollout: Rollout): SourceSet | null {
  const { tool_output, sources } = rollout;
  const isGiven = tool_output !== undefined || sources !== undefined || hasSourceIds(rollout);
  const origin = isGiven ? sourcesOfRollout(rollout) : null;
  return origin === null ? null : sourcesOf(origin);
}

/** Whether the sources are other parts of the messages than tagged pieces. */
function hasSourceIds({ trajectory }: Rollout): boolean {
  return trajectory?.source_ids !== undefined && trajectory.source_ids !== 'tagged';
}

function sourceIdProblems(rollout: Rollout, { compat }: DrTuluRecipe): InputProblem[] {
  if (compat !== 'exact' || !hasSourceIds(rollout)) return [];
  const message = 'expected tagged: dr-tulu in compat mode "exact" cites tagged pieces only';
  return [{ path: ['trajectory', 'source_ids'], message }];
}

function readExactly(rollout: Rollout, question: string, recipe: DrTuluRecipe): Reading {
  const { rubrics = [] } = rollout;
  const { text: response } = rolloutText(rollout, recipe.call_form);
  const set = { query: question, rubrics };
  const exact = planExact({ response, rubrics: set, variant: 'rubrics', form: recipe.call_form, citations: true });
  const known = [...(extractTranscript(response).sources ?? new Map<string, string>())];
  const positions = new Map(known.map(([id], position) => [id, position]));
  return {
    answer: exact.answer,
    sources: known.map(([id, text]) => ({ id, text })),
    asked: exact.citations.questions.map((question) =>
      question.kind === 'uncited'
        ? { cited: false, text: question.claim, spans: [] }
        : {
            cited: true,
            text: question.claim,
            spans: [],
            sources: question.ids.flatMap((id) => positions.get(id) ?? []),
            unknown: 0,
          },
    ),
    repeated: null,
    valid_id_ratio: exact.citations.validIds,
    format: exact.format,
    queries: exact.queries,
  };
}

/**
 * Numbers the questions: gives each claim its index among the claims of the citations request, and each uncited part
 * its index among the statements of that request.
 */
function numbered(asked: Reading['asked']): Pick<DrTuluPlan, 'statements'> {
  let claim = 0;
  let statement = 0;
  return {
    statements: asked.map((one) => {
      if (!one.cited) return { cited: false, statement: statement++ };
      return one.sources.length === 0 ? { cited: true, claim: null } : { cited: true, claim: claim++ };
    }),
  };
}

function placesOf({ asked, sources }: Reading): readonly CreditedPlace[] {
  let claim = 0;
  let statement = 0;
  return asked.map((one) => {
    const { spans } = one;
    if (!one.cited) return { of: 'statement', index: statement++, spans, cites: [] };
    return { of: 'claim', index: claim++, spans, cites: one.sources.flatMap((source) => sources[source]?.id ?? []) };
  });
}

function requestsOf(
  question: string,
  { answer, sources }: Reading,
  rubrics: readonly SignedCriterionInput[],
  recipe: DrTuluRecipe,
): readonly RubricCall[] | 'not_needed' {
  if (answer === null) return 'not_needed';
  const criteria = rubrics.map(({ title, description }) =>
    title === undefined ? { description } : { title, description },
  );
  return rubricCalls({ kind: 'rubric', question, sources, criteria, answer }, recipe);
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
