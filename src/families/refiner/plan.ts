/**
 * Plans the judgments of a refiner rollout: parses the response, decides what needs no judge (invented ids, claims
 * without content, the verbatim gate), and puts the rest into rubric requests and one citations request.
 */
import { canonicalAnswer } from '../../citations/canonical-answer.ts';
import { onlyAbstains } from '../../citations/empty-statements.ts';
import type { GrammarName } from '../../citations/grammars.ts';
import { evidenceOfClaims } from '../../citations/lexical-evidence.ts';
import { lacksContent, parseResponse, scorableResponse, sizeProblems } from '../../citations/parse.ts';
import { sourcesOf } from '../../citations/sources.ts';
import type { Claim, ParsedResponse, SourceSet } from '../../citations/types.ts';
import { describeResponse, type Verification } from '../../citations/verify.ts';
import { countProblems, countsOf } from '../../family/counts.ts';
import type { PlanOptions } from '../../family/family.ts';
import { judgedSources } from '../../family/judged-sources.ts';
import { missingFields, originOf } from '../../family/requirements.ts';
import type { Criterion, CriterionInput, Rollout } from '../../family/rollout.ts';
import { sharedLimitsFacts } from '../../family/shared-limits.ts';
import type { Counts } from '../../family/terms.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { CitationsRequest, JudgedClaim } from '../../judgments/kinds/citations/citations.ts';
import { criterionKey } from '../../judgments/kinds/rubric/rubric.ts';
import { type RubricCall, rubricCalls } from '../../judgments/kinds/rubric/rubric-calls.ts';
import { STATIC_V3 } from '../../judgments/kinds/rubric/static-criteria.ts';
import { type ClaimEvidence, createAskedWords } from '../../lexical/index.ts';
import type { Result } from '../../result.ts';
import { needsNoCitation } from './cites.ts';
import { neededJudgments } from './compose.ts';
import { hash16 } from './criterion-hash.ts';
import type { RefinerFacts } from './facts.ts';
import { pricedFindings } from './finding-penalty.ts';
import type { RefinerRecipe } from './recipe.ts';

/** A claim that is not a duplicate, with everything that is known without a judge. */
export type PlannedClaim = {
  readonly claim: Claim;
  /** One entry for each distinct cited id: its relevance, or `ask` = the judge decides. */
  readonly relevance: readonly (boolean | 'ask')[];
  /** The support, or `ask` = the judge decides. */
  readonly support: 0 | 1 | 'ask';
};

/**
 * Requests to the judge, or why there are none. `settled`: no question is open. `not_needed`: the answer cannot change
 * the reward.
 */
type Ask<R> = R | 'settled' | 'not_needed';

export type RefinerPlan = {
  readonly recipe: RefinerRecipe;
  readonly question: string;
  readonly finish_reason: string | null;
  readonly counts: Counts & Pick<RefinerFacts, 'scored_together' | 'findings' | 'visit'>;
  readonly sources: SourceSet;
  readonly parsed: ParsedResponse;
  readonly criteria: readonly Criterion[];
  readonly claims: readonly PlannedClaim[];
  /** What comparing words shows about each claim, by its index; the verbatim gate and the report read it. */
  readonly evidence: ReadonlyMap<number, ClaimEvidence>;
  /** Whether the answer cites nothing and only abstains, in a row with positive criteria of its own. */
  readonly abstains: boolean;
  /** The findings, also of the evidence (a number that no cited source has), whatever judge gives the verdicts. */
  readonly verified: Verification;
  /** The answer as judges read it; `null` = the response has none. */
  readonly answer: string | null;
  /** The calls that ask about the criteria, as `judging` splits them. */
  readonly rubric: Ask<readonly RubricCall[]>;
  readonly citations: Ask<CitationsRequest>;
};

/** Plans the judgments of one refiner rollout. Problems are input errors (HTTP 422). */
export function planRefiner(
  rollout: Rollout,
  recipe: RefinerRecipe,
  options: PlanOptions = {},
): Result<RefinerPlan, readonly InputProblem[]> {
  const { question } = rollout;
  const missing = missingFields(rollout, ['question'], 'refiner');
  const origin = originOf(rollout, 'refiner');
  if (!origin.ok) return { ok: false, error: [...missing, ...origin.error] };
  if (question === undefined) return { ok: false, error: missing };
  const sources = options.sources ?? sourcesOf(origin.value);
  const { samples = 1 } = options;
  const whole = parseResponse(rollout.response, sources, {
    answer: recipe.answer,
    grammar: grammarOf(rollout, recipe),
  });
  const parsed = scorableResponse(whole, sources, samples);
  const criteria = criteriaOf(rollout, recipe.judge_static);
  const finishReason = rollout.finish_reason ?? null;
  const problems = inputProblems(rollout, recipe, criteria, parsed, sources);
  if (problems.length > 0) return { ok: false, error: problems };

  const evidence = evidenceOfClaims(sources, parsed.claims);
  const abstains = abstainsAlone(rollout, parsed, criteria);
  const { mode } = recipe;
  const citations = needsNoCitation(abstains ? { abstains } : {}, recipe) ? 'allowed' : recipe.citations;
  const verified = describeResponse(rollout.response, parsed, sources, { mode, evidence, citations, question });
  const claims = plannedClaims(parsed, evidence, recipe);
  const needed = neededJudgments(
    {
      has_answer: parsed.answer !== null,
      format: parsed.format,
      finish_reason: finishReason,
      cites: parsed.claims.length > 0,
      ...(abstains ? { abstains } : {}),
    },
    recipe,
  );
  const wanted = (part: 'rubric' | 'citation'): boolean =>
    needed.includes(part) || (options.measureAll === true && parsed.answer !== null);
  const answer =
    parsed.answer === null
      ? null
      : canonicalAnswer(rollout.response, parsed.answer, parsed.claims, grammarOf(rollout, recipe));
  return {
    ok: true,
    value: {
      recipe,
      question,
      finish_reason: finishReason,
      counts: {
        ...(recipe.finding_penalty === undefined ? {} : { findings: pricedFindings(verified.finding_counts) }),
        ...(recipe.dropout === undefined ? {} : { visit: hash16(options.visit ?? question) }),
        ...countsOf(rollout, recipe),
        ...sharedLimitsFacts(samples),
      },
      sources,
      parsed,
      criteria,
      claims,
      evidence,
      abstains,
      verified,
      answer,
      rubric: wanted('rubric') ? requestsOf(answer, question, sources, criteria, recipe) : 'not_needed',
      citations: wanted('citation') ? citationsRequest(question, sources, parsed, claims, recipe) : 'not_needed',
    },
  };
}

function abstainsAlone(
  { response, question = '' }: Rollout,
  { answer, claims }: ParsedResponse,
  criteria: readonly Criterion[],
): boolean {
  if (answer === null || claims.length > 0) return false;
  const mayAsk = criteria.some(
    ({ origin, polarity, weight }) => origin === 'instance' && polarity === 'positive' && weight > 0,
  );
  return mayAsk && onlyAbstains(response.slice(answer.start, answer.end), createAskedWords(question));
}

/** A vendor's answer has been converted to snippet tags, whatever the recipe says. */
function grammarOf({ cited_answer }: Rollout, { grammar = 'snippet' }: RefinerRecipe): GrammarName {
  return cited_answer === undefined ? grammar : 'snippet';
}

/**
 * The row's positive criteria, its negative ones, then the static set if `withStatic`. Duplicates are kept. Keys
 * `c1`…`cn` follow the index, so the keys of the row's own criteria do not depend on the static set.
 */
function criteriaOf(row: Rollout, withStatic: boolean): readonly Criterion[] {
  const ofRow = (polarity: 'positive' | 'negative', inputs: readonly CriterionInput[] = []): Omit<Criterion, 'key'>[] =>
    inputs.map(({ title, description, weight = 1 }) => ({
      origin: 'instance',
      polarity,
      weight,
      description,
      ...(title === undefined ? {} : { title }),
    }));
  const criteria = [
    ...ofRow('positive', row.positive_rubrics),
    ...ofRow('negative', row.negative_rubrics),
    ...(withStatic ? STATIC_V3 : []).map((criterion) => ({ origin: 'static' as const, weight: 1, ...criterion })),
  ];
  return criteria.map((criterion, position) => ({ key: criterionKey(position), ...criterion }));
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
    problems.push({
      path: ['finish_reason'],
      message: 'expected a finish reason: the recipe has non_stop_penalty enabled',
    });
  }
  problems.push(...countProblems(rollout, recipe));
  problems.push(...sizeProblems(parsed, sources, rollout.tool_output === undefined ? 'sources' : 'tool_output'));
  return problems;
}

/**
 * Decides what needs no judge: invented ids, claims without content, and with `verbatim_gate` claims that copy source
 * sentences.
 */
function plannedClaims(
  parsed: ParsedResponse,
  evidence: RefinerPlan['evidence'],
  recipe: RefinerRecipe,
): PlannedClaim[] {
  return parsed.claims
    .filter((claim) => claim.duplicate_of === null)
    .map((claim) => {
      if (claim.text.length === 0 || lacksContent(claim) || claim.ids.every(({ source }) => source === null)) {
        return { claim, support: 0 as const, relevance: claim.ids.map(() => false) };
      }
      const copied = new Set(
        recipe.verbatim_gate ? evidence.get(claim.index)?.verbatim.map(({ source }) => source) : [],
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

function requestsOf(
  answer: string | null,
  question: string,
  sources: SourceSet,
  criteria: readonly Criterion[],
  recipe: RefinerRecipe,
): Ask<readonly RubricCall[]> {
  if (answer === null) return 'not_needed';
  const judged = criteria.map(({ title, description }) =>
    title === undefined ? { description } : { title, description },
  );
  const whole = { kind: 'rubric', question, sources: judgedSources(sources), criteria: judged, answer } as const;
  return rubricCalls(whole, recipe);
}

function citationsRequest(
  question: string,
  sources: SourceSet,
  parsed: ParsedResponse,
  claims: readonly PlannedClaim[],
  { ask_contradiction = false }: RefinerRecipe,
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
    ...(ask_contradiction ? { asking: { contradiction: true } } : {}),
  };
}
