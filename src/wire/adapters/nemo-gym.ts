/**
 * NeMo Gym's `POST /verify`: a row with the policy's response in, the row with its reward out. Source: NVIDIA-NeMo/Gym
 * 07d6b0d0, `nemo_gym/base_resources_server.py`, `BaseVerifyRequest` and `BaseMultiRewardVerifyResponse`.
 *
 * Agent servers validate the reply against `BaseVerifyResponse`, whose `reward` is a required number. So a failure is
 * answered with an error status: `_ng_failure_class` beside a placeholder 0 would train on the 0.
 */
import * as z from 'zod';
import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Result } from '../../result.ts';
import { endOf } from '../../trajectory/final-turns.ts';
import { readConversation } from '../../trajectory/rollout-messages.ts';
import { contributionNumbers, type RunReport, runReportSchema, type TrainedScore, type TrainerReply } from './reply.ts';
import { type PolicyOutput, promptSchema } from './request.ts';
import type { KnownPlace } from './run-place.ts';

export const nemoGymRequestSchema = z.looseObject({
  responses_create_params: z.looseObject({ input: promptSchema, tools: z.array(z.unknown()).nullish() }),
  response: z
    .looseObject({ output: z.array(z.record(z.string(), z.unknown())) })
    .describe("An object of OpenAI's Responses API."),
  citeward: z.unknown().optional().describe("The label. If absent, the label's fields are read from the top level."),
});

export type NemoGymRequest = z.infer<typeof nemoGymRequestSchema>;

export const nemoGymReplySchema = z.looseObject({
  reward: z.number(),
  reward_components: z
    .record(z.string(), z.number())
    .describe("Contributions by name; they add up to the reward. Also members of the row itself, for Gym's metrics."),
  run: runReportSchema.exactOptional(),
});

/**
 * What the policy wrote: the items of the output if it has tools, else the text of its last messages. A row without
 * tools gets its sources from its label, so without a label it must be refused rather than read as one without sources.
 */
export function policyOutput({
  responses_create_params,
  response: { output },
}: NemoGymRequest): Result<PolicyOutput, readonly InputProblem[]> {
  if (output.length === 0) return { ok: true, value: { response: '' } };
  const read = readConversation({ messages: output });
  if (!read.ok) return read;
  const { turns } = read.value;
  const isAgent = turns.some(({ calls, results }) => calls.length + results.length > 0);
  const hasTools = isAgent || (responses_create_params.tools ?? []).length > 0;
  const isPolicys = turns.some(({ by_policy }) => by_policy);
  return {
    ok: true,
    value: hasTools && isPolicys ? { messages: output } : { response: endOf(read.value).answer.text },
  };
}

/**
 * Marks of an earlier verification whose judge failed. They are dropped, because they would file or mask the row as
 * failed again; and so are the contributions of an earlier verification. Source: nemo-gym 0.7.0, `nemo_gym/judge.py`,
 * `judge_failsafe`.
 */
const STALE = new Set(['_ng_failure_class', '_ng_failure_judge_error']);
const STALE_MASK = new Set(['mask_sample', 'failure_kind', 'failure_reason']);
const JUDGE_FAILED = 'judge_failed';

/**
 * Adds the reward and its contributions to the row. NeMo RL stops unless the contributions add up to the reward, and
 * Gym's metrics read only numbers of the row itself. A field of the row that has the name of a contribution and is not
 * a number, such as a text, stays as it is.
 */
export function nemoGymReply(
  request: NemoGymRequest,
  member: TrainedScore,
  reward: number,
  run: RunReport | null,
): TrainerReply {
  const contributions = contributionNumbers(member);
  const free = Object.entries(contributions).filter(([name]) => isFree(request[name]));
  const floats = { ...Object.fromEntries(free), reward, reward_components: contributions };
  const { reward_components: earlier } = request;
  // A mask with another cause, such as a lost session, is not the judge's to lift.
  const isUnmasked = request['failure_kind'] === JUDGE_FAILED;
  const isStale = (name: string, value: unknown): boolean =>
    STALE.has(name) ||
    (isUnmasked && STALE_MASK.has(name)) ||
    (typeof value === 'number' && isJsonObject(earlier) && Object.hasOwn(earlier, name));
  const row = Object.entries(request)
    .filter(([name, value]) => !Object.hasOwn(floats, name) && !isStale(name, value))
    .map(([name, value]) => (isUnmasked && name === 'instance_config' ? [name, withoutMask(value)] : [name, value]));
  return { floats, others: { ...Object.fromEntries(row), ...(run === null ? {} : { run }) } };
}

/** Gym repeats the mask here for older versions of NeMo RL. */
function withoutMask(config: unknown): unknown {
  if (!isJsonObject(config)) return config;
  return Object.fromEntries(Object.entries(config).filter(([name]) => name !== 'mask_sample'));
}

/** Whether a member of the row can be replaced: it is absent, or a number of an earlier verification. */
function isFree(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number';
}

/**
 * What Gym tells of a sample's place: the number of its prompt in the dispatch, which restarts with the next dispatch,
 * and the number of the rollout among those of the prompt.
 */
export function gymPlace(request: NemoGymRequest): KnownPlace {
  const { _ng_task_index: task, _ng_rollout_index: rollout } = request;
  const prompt = { input: request.responses_create_params.input, ...(isIndex(task) ? { task } : {}) };
  return { prompt, ...(isIndex(rollout) ? { sample: rollout } : {}) };
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
