/** Reads the output file of a batch: rewards, why some are missing, and the results with the lowest rewards. */
import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import type { ScoreResponse } from '../../../src/wire/score.ts';
import type { Reply } from '../api/call.ts';
import { textLines } from '../api/text-lines.ts';
import type { DetailedRollout } from '../runs/load-rollout.ts';

export type ScoredResult = {
  readonly custom_id: string;
  /** Index of the member of a group; `null` = the request was one score. */
  readonly member: number | null;
  readonly reward: number;
  readonly report: ScoreResponse;
};

export type ResultFigures = {
  readonly rewards: readonly number[];
  /** Results without a reward, by reason. */
  readonly unscored: ReadonlyMap<string, number>;
  /** At most ten, the lowest reward first. */
  readonly worst: readonly ScoredResult[];
};

const WORST_SHOWN = 10;

/** Whether a body is a reply of the scorer, as far as this page reads it: a file of this machine may hold anything. */
function isReport(body: unknown): body is ScoreResponse {
  return isJsonObject(body) && (typeof body['reward'] === 'number' || body['reward'] === null);
}

/** Opens a file of the Worker or of this machine. @throws DOMException (AbortError) when `signal` aborts. */
export type OpenFile = (signal: AbortSignal) => Promise<Reply<ReadableStream<Uint8Array<ArrayBuffer>>>>;

/** @throws DOMException (AbortError) when `signal` aborts. */
export async function loadResults(open: OpenFile, signal: AbortSignal): Promise<Reply<ResultFigures>> {
  const file = await open(signal);
  if (!file.ok) return file;
  const rewards: number[] = [];
  const unscored = new Map<string, number>();
  let worst: ScoredResult[] = [];
  const addUnscored = (reason: string): void => {
    unscored.set(reason, (unscored.get(reason) ?? 0) + 1);
  };
  const add = (custom_id: string, member: number | null, report: unknown): void => {
    if (!isReport(report)) {
      addUnscored('unknown');
      return;
    }
    const { reward, reason } = report;
    if (reward === null) {
      addUnscored(reason ?? 'unknown');
      return;
    }
    rewards.push(reward);
    const last = worst[WORST_SHOWN - 1];
    if (last !== undefined && last.reward <= reward) return;
    worst = [...worst, { custom_id, member, reward, report }].sort((one, other) => one.reward - other.reward);
    worst.splice(WORST_SHOWN);
  };
  for await (const line of textLines(file.value)) {
    const value = parsedJson(line);
    const response = isJsonObject(value) ? value['response'] : null;
    const body = isJsonObject(response) ? response['body'] : null;
    // A file with the errors among the results has lines without a response.
    if (!isJsonObject(value) || !isJsonObject(body)) {
      addUnscored('unknown');
      continue;
    }
    const custom_id = String(value['custom_id']);
    const members: unknown = body['members'];
    if (Array.isArray(members)) for (const [n, member] of members.entries()) add(custom_id, n, member);
    else if (body['reward'] !== undefined) add(custom_id, null, body);
  }
  return { ...file, value: { rewards, unscored, worst } };
}

/** Results by their place in the list, with the rollout that was sent; those that the input file lacks are absent. */
export type Answers = ReadonlyMap<ScoredResult, Pick<DetailedRollout, 'detail'>>;

/** Ids that each writer of JSON writes as they are. Others may be escaped in a line, such as é as \\u00e9 by Python. */
const WRITTEN_AS_IT_IS = /^[\w .,:;=@#+-]*$/;

/** Reads the rollouts of some results from the input file. @throws DOMException (AbortError) when `signal` aborts. */
export async function loadAnswers(
  open: OpenFile,
  results: readonly ScoredResult[],
  signal: AbortSignal,
): Promise<Reply<Answers>> {
  const file = await open(signal);
  if (!file.ok) return file;
  const answers = new Map<ScoredResult, Pick<DetailedRollout, 'detail'>>();
  const ids = results.map(({ custom_id }) => (WRITTEN_AS_IT_IS.test(custom_id) ? `"${custom_id}"` : null));
  for await (const line of textLines(file.value)) {
    // Most lines are of other results: their id is compared before the line is parsed.
    if (!ids.some((id) => id === null || line.includes(id))) continue;
    const request = parsedJson(line);
    if (!isJsonObject(request) || !isJsonObject(request['body'])) continue;
    for (const result of results) {
      if (result.custom_id !== request['custom_id']) continue;
      const rollout = rolloutOf(request['body'], result.member);
      answers.set(result, { detail: { report: result.report, rollout } });
    }
    if (answers.size === results.length) break;
  }
  return { ...file, value: answers };
}

/** The rollout of a request: its body, or the shared fields of a group with those of one of its responses. */
function rolloutOf(body: JsonObject, member: number | null): JsonObject {
  const { responses, ...shared } = body;
  if (member === null || !Array.isArray(responses)) return body;
  const response: unknown = responses[member];
  return typeof response === 'object' && response !== null ? { ...shared, ...response } : { ...shared, response };
}
