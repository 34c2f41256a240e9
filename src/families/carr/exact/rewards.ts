/**
 * The rewards of the public server from recorded judge replies, with its defects. Source: THUDM/CaRR c97e7e89,
 * `deepsearch_rm_with_rubrics/launch_server.py`. A judge that fails is 0 here, as there; everywhere else in this
 * project a failed judgment gives no number.
 */
import { readOutcomeFields } from '../../../judgments/kinds/free-text/outcome-fields.ts';
import { stripPythonSpace } from '../../../text/python-text.ts';
import { connectedCriteria } from './connection.ts';
import { evidenceText } from './evidence.ts';
import { exactLabels, type FilledCriterion, fillExactly, labelsInOrder } from './labels.ts';
import { CarrError, type CarrMessage, seenPages } from './pages.ts';
import { exactNames, exactVerdicts, fencedJson } from './replies.ts';

/** One API call to the judge: its text, `null` if the call failed, or a reply without text. */
type RecordedCall = string | null | { readonly content: null };
type Question = 'outcome' | 'identify' | 'rubric';

/** The calls of each question, in order; the last one repeats. */
export type RecordedCalls = Readonly<Partial<Record<Question, readonly RecordedCall[]>>>;

const ATTEMPTS = 3;
const OUTCOME_TRIES = 3;
const TRIES = 5;
const REFERENCES = '## References';

/** Answers the server's questions from a record, and counts the calls. */
export class RecordedJudge {
  readonly #calls: RecordedCalls;
  readonly #counts = new Map<Question, number>();

  constructor(calls: RecordedCalls) {
    this.#calls = calls;
  }

  /** API calls by question; a question that was never asked is left out. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /**
   * The text of the first of three calls that does not fail; empty if all do.
   * @throws CarrError for a reply without text.
   * @throws RangeError without a recorded call.
   */
  ask(question: Question): string {
    const calls = this.#calls[question] ?? [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const count = this.#counts.get(question) ?? 0;
      this.#counts.set(question, count + 1);
      const call = calls[Math.min(count, calls.length - 1)];
      if (call === undefined) throw new RangeError(`RecordedJudge: no recorded call for the ${question} question`);
      if (call === null) continue;
      if (typeof call === 'string') return call;
      throw new CarrError('TypeError', 'the judge replied without text');
    }
    return '';
  }
}

export type ExactOutcome = { readonly reward: 0 | 1; readonly extracted_final_answer: string | null };

/** `get_outcome_reward`. Defect kept: after the third try a reply without an extracted answer counts if it says `yes`. */
export function exactOutcome(judge: RecordedJudge): ExactOutcome {
  for (let tries = 1; ; tries++) {
    const { verdict, answer } = readOutcomeFields(judge.ask('outcome'));
    const complete = verdict !== null && answer !== null;
    if (!complete && tries < OUTCOME_TRIES) continue;
    const yes = complete ? verdict.toLowerCase() === 'yes' : verdict === 'yes';
    return { reward: yes ? 1 : 0, extracted_final_answer: answer };
  }
}

/** A criterion in the server's reply. */
type ExactCriterionScore = {
  readonly raw_rubric: string;
  readonly filled_rubric: string;
  readonly entity_values: FilledCriterion['entity_values'];
  readonly all_entity_identified: boolean;
  readonly is_supported: boolean;
  readonly connected_to_answer: boolean;
  readonly score: 0 | 1;
};

export type ExactRubric = {
  readonly reward: number;
  readonly failure: 'no_rubrics' | 'identify_failed' | 'judge_failed' | null;
  /** `null` = not reached. */
  readonly rubric_scores: Readonly<Record<string, ExactCriterionScore>> | null;
  /** The criteria as the judge sees them; `null` = not asked. */
  readonly constraints: string | null;
  /** The filled criteria as the judge sees them; `null` = not asked. */
  readonly statements: string | null;
};

type RubricInput = {
  readonly response: string;
  readonly history: readonly CarrMessage[];
  readonly rubrics: readonly string[];
};

/** `get_rubric_reward`. @throws CarrError where the reference raises. */
export function exactRubric({ response, history, rubrics }: RubricInput, judge: RecordedJudge): ExactRubric {
  if (rubrics.length === 0) {
    return { reward: 0, failure: 'no_rubrics', rubric_scores: null, constraints: null, statements: null };
  }
  const constraints = numbered('C', rubrics);
  const labels = exactLabels(constraints);
  const names = firstUsable(() => exactNames(fencedJson(judge.ask('identify')), labels));
  if (names === null) {
    return { reward: 0, failure: 'identify_failed', rubric_scores: null, constraints, statements: null };
  }
  const filled = rubrics.map((rubric) => fillExactly(rubric, names));
  const asked = filled.flatMap(({ all_filled }, index) => (all_filled ? [index] : []));
  const evidence = asked.length === 0 ? '' : evidenceText(response, seenPages(history));
  const supported = rubrics.map(() => false);
  let statements: string | null = null;
  let failure: ExactRubric['failure'] = null;
  if (evidence !== '') {
    statements = numbered(
      'S',
      asked.map((index) => filled[index]?.filled_rubric ?? ''),
    );
    const keys = asked.map((_, position) => `S${position + 1}`);
    const verdicts = firstUsable(() => exactVerdicts(fencedJson(judge.ask('rubric')), keys));
    if (verdicts === null) failure = 'judge_failed';
    else for (const [n, key] of keys.entries()) supported[asked[n] ?? 0] = verdicts.get(key) === true;
  }
  const connected = connectedCriteria(rubrics.map(labelsInOrder), supported);
  const scores = rubrics.map((raw_rubric, index): ExactCriterionScore => {
    const one = filled[index] ?? fillExactly(raw_rubric, names);
    const counts = connected[index] === true;
    return {
      raw_rubric,
      filled_rubric: one.filled_rubric,
      entity_values: one.entity_values,
      all_entity_identified: one.all_filled,
      is_supported: supported[index] === true,
      connected_to_answer: counts,
      score: counts ? 1 : 0,
    };
  });
  return {
    reward: scores.filter(({ score }) => score === 1).length / rubrics.length,
    failure,
    rubric_scores: Object.fromEntries(scores.map((score, index) => [`${index}`, score])),
    constraints,
    statements,
  };
}

/** The first of five replies that can be used. */
function firstUsable<T>(ask: () => T | null): T | null {
  for (let tries = 1; tries <= TRIES; tries++) {
    const reply = ask();
    if (reply !== null) return reply;
  }
  return null;
}

function numbered(letter: string, texts: readonly string[]): string {
  return texts.map((text, index) => `${letter}${index + 1}. ${text}`).join('\n');
}

/**
 * The part of a response that the server judges. Defect kept: the last references section is dropped with its
 * citations, and a deeper heading leaves a `#`.
 */
export function withoutReferences(response: string): string {
  const at = response.lastIndexOf(REFERENCES);
  return at === -1 ? response : stripPythonSpace(response.slice(0, at));
}

type ExactReward = {
  readonly reward: number;
  /** `null` = not judged, because the weight of the criteria is at least 1. */
  readonly outcome_reward: number | null;
  /** `null` = not judged, because the weight of the criteria is not above 0. */
  readonly rubric_reward: number | null;
  readonly rubric_scores: ExactRubric['rubric_scores'];
  readonly response_text_judge: string;
};

/** `get_reward`. Defect kept: the weight is not checked. @throws CarrError where the reference raises. */
export function exactReward(
  { response, ...input }: RubricInput & { readonly rubric_reward_ratio: number },
  judge: RecordedJudge,
): ExactReward {
  const eta = input.rubric_reward_ratio;
  const response_text_judge = withoutReferences(response);
  const outcome = eta < 1 ? exactOutcome(judge).reward : null;
  const rubric = eta > 0 ? exactRubric({ ...input, response: response_text_judge }, judge) : null;
  return {
    reward: (1 - eta) * (outcome ?? 0) + eta * (rubric?.reward ?? 0),
    outcome_reward: outcome,
    rubric_reward: rubric?.reward ?? null,
    rubric_scores: rubric?.rubric_scores ?? null,
    response_text_judge,
  };
}

/** The body of `POST /evaluate`. */
export type CarrRequest = {
  readonly history?: readonly CarrMessage[];
  readonly label?: unknown;
  readonly task_unfinished?: unknown;
  readonly remote_env_info?: {
    readonly search_forbidden_strs?: readonly string[];
    readonly rubrics?: readonly string[];
    readonly rubric_reward_ratio?: number;
  };
};

type CarrReply =
  | {
      readonly status: 200;
      readonly body: {
        readonly reward: number;
        readonly outcome_reward: number;
        readonly rubric_reward: number;
        readonly rubric_scores: Readonly<Record<string, ExactCriterionScore>>;
      };
    }
  | { readonly status: 500; readonly body: null };

/**
 * `POST /evaluate` of CaRR's public server, from recorded judge replies. Defects kept: every error is a 500, and a judge
 * that is down gives zeros.
 */
export function carrEvaluate(request: CarrRequest, calls: RecordedCalls): CarrReply {
  return evaluateWith(request, new RecordedJudge(calls));
}

export function evaluateWith(request: CarrRequest, judge: RecordedJudge): CarrReply {
  const { history, label, task_unfinished, remote_env_info: info } = request;
  if (history === undefined || label === undefined || task_unfinished === undefined || info === undefined) return ERROR;
  if (isTruthy(task_unfinished)) return ZEROS;
  const last = history.at(-1);
  if (last === undefined) return ERROR;
  if (last.role !== 'assistant' || last.content === undefined) return ZEROS;
  const question = info.search_forbidden_strs?.[0];
  if (question === undefined || typeof last.content !== 'string') return ERROR;
  const { rubrics = [], rubric_reward_ratio = 0 } = info;
  try {
    const scored = exactReward({ response: last.content, history, rubrics, rubric_reward_ratio }, judge);
    const { reward, outcome_reward, rubric_reward, rubric_scores } = scored;
    return {
      status: 200,
      body: {
        reward,
        outcome_reward: outcome_reward ?? 0,
        rubric_reward: rubric_reward ?? 0,
        rubric_scores: rubric_scores ?? {},
      },
    };
  } catch (error) {
    if (error instanceof CarrError) return ERROR;
    throw error;
  }
}

const ERROR: CarrReply = { status: 500, body: null };
const ZEROS: CarrReply = {
  status: 200,
  body: { reward: 0, outcome_reward: 0, rubric_reward: 0, rubric_scores: {} },
};

/** Python's truth of a JSON value. */
function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}
