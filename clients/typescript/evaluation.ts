/** What the evaluators for evaluation tools share: the row of an example, its score, and what is no score. */
import type { RewardResponse } from '../../src/wire/score-detail.ts';
import type { Client, ScoreInput } from './client.ts';
import type { ClientFailure } from './reply.ts';

/** How answers are scored. */
export type EvaluationOptions = {
  readonly client: Pick<Client, 'score'>;
  readonly recipe: ScoreInput['recipe'];
  /** Default: that of the deployment. */
  readonly judge?: NonNullable<ScoreInput['judge']>;
  /** The name of the score. Default `citeward`. */
  readonly name?: string;
};

/** A score between 0 and 1, or why there is none. */
export type Evaluated =
  | { readonly score: number; readonly report: RewardResponse }
  | { readonly score: null; readonly reason: string };

/** Thrown where a tool has no value for "not scored". */
export class UnscoredError extends Error {
  /** Machine-readable, as in the HTTP API; `unreachable` = the Worker was not reached. */
  readonly reason: string;

  constructor(reason: string) {
    super(`not scored: ${reason}. This is no score of 0`);
    this.name = 'UnscoredError';
    this.reason = reason;
  }
}

export const DEFAULT_NAME = 'citeward';

/** Fields of a rollout that a row of a data set can have, with the names of `POST /v1/score`. */
export const ROW_FIELDS: readonly string[] = [
  ...['question', 'tool_output', 'sources', 'positive_rubrics', 'negative_rubrics'],
  ...['reference', 'entities', 'tests'],
];

/** The fields of a rollout in the objects; a later object wins. Values that are no object are passed over. */
export function rowOf(objects: readonly unknown[]): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (const object of objects) {
    if (typeof object !== 'object' || object === null) continue;
    for (const name of ROW_FIELDS) {
      const value: unknown = Reflect.get(object, name);
      if (value !== undefined && value !== null) row[name] = value;
    }
  }
  return row;
}

/** An answer as text or messages; `undefined` = neither. */
function answerOf(output: unknown): Pick<ScoreInput, 'response' | 'messages'> | undefined {
  if (typeof output === 'string') return { response: output };
  if (Array.isArray(output)) return { messages: output };
  if (typeof output !== 'object' || output === null) return undefined;
  const messages: unknown = Reflect.get(output, 'messages');
  if (Array.isArray(messages)) return { messages };
  const [text] = ['response', 'answer', 'output', 'content']
    .map((name): unknown => Reflect.get(output, name))
    .filter((value) => typeof value === 'string');
  return typeof text === 'string' ? { response: text } : undefined;
}

/**
 * Scores an answer in the range of its recipe, from 0 (the least reward) to 1 (the most).
 * @throws Error if the request is wrong, so that an evaluation does not end unscored because of a typo.
 */
export async function evaluated(
  output: unknown,
  row: Readonly<Record<string, unknown>>,
  { client, recipe, judge }: EvaluationOptions,
): Promise<Evaluated> {
  const answer = answerOf(output);
  if (answer === undefined) throw new TypeError('citeward: expected the output to be a text or to have messages');
  const how = { recipe, on_judge_failure: 'null', ...(judge === undefined ? {} : { judge }) } as const;
  const scored = await client.score({ ...row, ...answer, ...how, detail: 'reward' });
  if (!scored.ok) return { score: null, reason: retryableReason(scored.failure) };
  const { reward, reason } = scored.body;
  if (reward === null) return { score: null, reason: reason ?? 'nothing_to_score' };
  const [least, most] = scored.body.recipe.reward_range;
  if (least === null || most === null) {
    throw new TypeError('citeward: the rewards of this recipe have no bounds, so they have no share from 0 to 1');
  }
  return { score: (reward - least) / (most - least), report: scored.body };
}

/** The reason of a failure that passes. @throws Error for any other. */
function retryableReason(failure: ClientFailure): string {
  switch (failure.kind) {
    case 'unreachable':
      return 'unreachable';
    case 'problem': {
      const { status, problem } = failure;
      if (status === 429 || status >= 500) return problem.reason;
      const fields = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
      throw new TypeError(`citeward: ${[problem.detail, ...fields].join(' ')}`);
    }
    case 'unexpected_reply':
      throw new TypeError(`citeward: not a reply of Citeward: ${failure.detail}`);
  }
}
