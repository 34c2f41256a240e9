/**
 * The built-in lexical judge (REWARDS.md section 7): answers the same requests as a model backend, by comparing words.
 * For wiring, tests, CI and the demo without a GPU; never presented as a model. docs/lexical-judge.md has its measured
 * accuracy. Deterministic and pure: the same request, the same verdicts, on every runtime.
 */
import { indexSourceSet } from '../citations/evidence-index.ts';
import { parseResponse, SHOTGUN_IDS_PER_CLAIM } from '../citations/parse.ts';
import { sourcesFromList } from '../citations/sources.ts';
import type { Claim, ParsedResponse, SourceSet } from '../citations/types.ts';
import {
  type ClaimEvidence,
  gatherEvidence,
  indexSources,
  LEXICAL_JUDGE_MODEL,
  needsCitation,
  scoreCriterion,
  supportVerdict,
} from '../lexical/index.ts';
import type { Judge } from './judge.ts';
import { STATIC_V3, type StaticCriterion } from './static-v3.ts';
import type {
  CitationsRequest,
  CitationVerdicts,
  CriterionScore,
  JudgedCriterion,
  JudgeIdentity,
  JudgmentRequest,
  OutcomeRequest,
  OutcomeVerdicts,
  RubricRequest,
  RubricVerdicts,
  Support,
  Verdicts,
} from './types.ts';

/** The lexical judge samples nothing and has no prompt: its version is its template. */
export const LEXICAL_IDENTITY: JudgeIdentity = {
  model: LEXICAL_JUDGE_MODEL,
  template: LEXICAL_JUDGE_MODEL,
  sampling: null,
};

/** Share of statements that must be cited well for full, and for half, Citation Discipline. */
const DISCIPLINED_SHARE = 0.9;
const PARTLY_DISCIPLINED_SHARE = 0.5;
/** Share of off-query statements from which an answer is padded, and somewhat padded. */
const PADDED_SHARE = 0.4;
const SOMEWHAT_PADDED_SHARE = 0.25;
/** A statement that shares less than this with question and criteria together is off the query. */
const ON_QUERY_COVERAGE = 0.08;
/** Share of claims with a name that no cited source holds from which entities are confounded. */
const CONFABULATED_SHARE = 0.25;

const SUPPORT_OF_VERDICT: Record<ReturnType<typeof supportVerdict>, Support> = { full: 1, partial: 0.5, none: 0 };

/** The judge itself, for wherever it runs: in the caller, as it only computes. */
export const LEXICAL_JUDGE: Judge = {
  name: 'lexical',
  identity: LEXICAL_IDENTITY,
  context_tokens: null,
  async judge(request) {
    return { ok: true, verdicts: judgeLexically(request), usage: null };
  },
};

/** Judges one request. Linear in its texts. */
export function judgeLexically(request: JudgmentRequest): Verdicts {
  switch (request.kind) {
    case 'rubric':
      return judgeRubric(request);
    case 'citations':
      return judgeCitations(request);
    case 'outcome':
      return judgeOutcome(request);
    case 'execution':
    case 'equivalence':
      throw new Error(`judgeLexically: ${request.kind} is for a sandbox`);
  }
}

/**
 * The answer says the reference if it holds all of its words, numbers and names in one place. A negation is seen where the
 * reference is a sentence; "not Paris" holds "Paris" (docs/lexical-judge.md).
 */
function judgeOutcome({ reference, answer }: OutcomeRequest): OutcomeVerdicts {
  const { coverage, missing_numbers, missing_names, negation_mismatch } = gatherEvidence(
    indexSources([{ text: answer }]),
    reference,
    [0],
  );
  const complete = coverage === 1 && missing_numbers.length === 0 && missing_names.length === 0;
  return { kind: 'outcome', correct: complete && !negation_mismatch };
}

function judgeCitations(request: CitationsRequest): CitationVerdicts {
  const index = indexSources(request.sources);
  return {
    kind: 'citations',
    claims: request.claims.map(({ claim, text, sources }) => {
      const evidence = gatherEvidence(index, text, sources);
      const relevant = new Set(evidence.sources.filter((one) => one.relevant).map((one) => one.source));
      return {
        claim,
        support: SUPPORT_OF_VERDICT[supportVerdict(evidence.support)],
        relevant: sources.map((source) => relevant.has(source)),
        quote: evidence.window === null ? 'absent' : evidence.window,
      };
    }),
    statements: request.statements.map(({ statement, text }) => ({ statement, needs_citation: needsCitation(text) })),
  };
}

function judgeRubric(request: RubricRequest): RubricVerdicts {
  const sources = sourcesFromList(request.sources);
  const parsed = parseResponse(request.answer, sources, { answer: 'whole' });
  const text = [...parsed.claims.map((claim) => claim.text), ...parsed.statements.map((statement) => statement.text)];
  // Duplicated text would not make a criterion more met; what is not even a statement may still name what it asks for.
  const plain = text.length === 0 ? request.answer : text.join('\n');
  const statics = new StaticVerdicts(request, parsed, sources);
  return {
    kind: 'rubric',
    criteria: request.criteria.map((criterion) => {
      const known = STATIC_V3.find((one) => one.title === criterion.title && one.description === criterion.description);
      return {
        key: criterion.key,
        score: known === undefined ? scoreCriterion(criterion, plain, request.question) : statics.score(known),
      };
    }),
  };
}

function isStatic(criterion: JudgedCriterion): boolean {
  return STATIC_V3.some((one) => one.description === criterion.description);
}

/** The static criteria from the citation facts of the answer. */
class StaticVerdicts {
  readonly #request: RubricRequest;
  readonly #parsed: ParsedResponse;
  readonly #sources: SourceSet;

  constructor(request: RubricRequest, parsed: ParsedResponse, sources: SourceSet) {
    this.#request = request;
    this.#parsed = parsed;
    this.#sources = sources;
  }

  score(criterion: StaticCriterion): CriterionScore {
    switch (criterion.title) {
      case 'Citation Discipline':
        return this.#discipline();
      case 'Off-Query Padding':
        return this.#padding();
      case 'Wrong-Entity Confabulation':
        return this.#confabulation();
    }
  }

  /** Share of the factual statements that stand in a citation of few and existing ids. */
  #discipline(): CriterionScore {
    const { claims, statements, format } = this.#parsed;
    const disciplined = claims.filter(
      ({ text, ids }) =>
        text !== '' && ids.length <= SHOTGUN_IDS_PER_CLAIM && ids.every(({ source }) => source !== null),
    ).length;
    const total = claims.length + statements.filter(({ text }) => needsCitation(text)).length;
    if (total === 0) return 2;
    const share = disciplined / total;
    if (share >= DISCIPLINED_SHARE && format.full === 1) return 2;
    return share >= PARTLY_DISCIPLINED_SHARE ? 1 : 0;
  }

  /** Share of claims and statements that share next to nothing with the question and the row's criteria, or repeat. */
  #padding(): CriterionScore {
    const { question, criteria } = this.#request;
    const own = criteria.filter((criterion) => !isStatic(criterion));
    const query = [question, ...own.flatMap(({ title, description }) => [title ?? '', description])].join('\n');
    const index = indexSources([{ text: query }]);
    const texts = [...this.#parsed.claims, ...this.#parsed.statements];
    if (texts.length === 0) return 0;
    const padding = texts.filter(
      (one) =>
        ('duplicate_of' in one && one.duplicate_of !== null) ||
        gatherEvidence(index, one.text, [0]).coverage < ON_QUERY_COVERAGE,
    ).length;
    const share = padding / texts.length;
    return share >= PADDED_SHARE ? 2 : share >= SOMEWHAT_PADDED_SHARE ? 1 : 0;
  }

  /** Claims that are not supported and name what their cited sources do not. */
  #confabulation(): CriterionScore {
    const index = indexSourceSet(this.#sources);
    const suspects = this.#parsed.claims.filter((claim) => {
      const evidence = evidenceOf(index, claim);
      return evidence !== null && evidence.missing_names.length > 0 && supportVerdict(evidence.support) === 'none';
    }).length;
    if (suspects === 0) return 0;
    return suspects / this.#parsed.claims.length >= CONFABULATED_SHARE ? 2 : 1;
  }
}

function evidenceOf(index: ReturnType<typeof indexSources>, claim: Claim): ClaimEvidence | null {
  const known = claim.ids.flatMap(({ source }) => (source === null ? [] : [source]));
  return known.length === 0 || claim.text === '' ? null : gatherEvidence(index, claim.text, known);
}
