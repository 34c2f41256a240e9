/**
 * NeMo Gym's `POST /verify`: a row with the policy's response in, the row with its reward out. Source: NVIDIA-NeMo/Gym
 * 07d6b0d0, `nemo_gym/base_resources_server.py`, `BaseVerifyRequest` and `BaseMultiRewardVerifyResponse`.
 *
 * Agent servers validate the reply against `BaseVerifyResponse`, whose `reward` is a required number. So a failure is
 * answered with an error status: `_ng_failure_class` beside a placeholder 0 would train on the 0.
 */
import * as z from 'zod';
import { textSchema } from '../../family/rollout-schema.ts';
import type { ScoreResponse } from '../score.ts';
import { contributionNumbers, type RunReport, runReportSchema, type TrainerReply } from './reply.ts';
import { promptSchema } from './request.ts';

/** Schema of one part of a message's content. Only text is read; refusals, images and other parts pass unread. */
const contentPartSchema = z
  .looseObject({ type: z.string().nullish(), text: textSchema.nullish() })
  .refine(({ type, text }) => type !== 'output_text' || typeof text === 'string', {
    path: ['text'],
    error: 'required in an output_text',
  });

const outputItemSchema = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: z.union([textSchema, z.array(contentPartSchema)]).nullish(),
});

type OutputItem = z.infer<typeof outputItemSchema>;

export const nemoGymRequestSchema = z.looseObject({
  responses_create_params: z.looseObject({ input: promptSchema }),
  response: z.looseObject({ output: z.array(outputItemSchema) }).describe("An object of OpenAI's Responses API."),
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

/** The text of the last assistant messages: the output after the last tool call. Empty if there is none. */
export function outputText({ response }: NemoGymRequest): string {
  const { output } = response;
  const isMessage = ({ type, role }: OutputItem): boolean => (type ?? 'message') === 'message' && role === 'assistant';
  const last = output.findLastIndex(isMessage);
  const before = output.findLastIndex((item, n) => n < last && !isMessage(item));
  return output
    .slice(before + 1, last + 1)
    .map(({ content }) => textOf(content))
    .join('\n');
}

function textOf(content: OutputItem['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ type, text }) => (type === 'output_text' ? (text ?? []) : [])).join('');
}

/**
 * Marks of an earlier, failed verification. They are dropped, because they would file the row as failed again; and so
 * are the contributions of an earlier verification.
 */
const STALE = new Set(['_ng_failure_class', '_ng_failure_judge_error']);

/**
 * Adds the reward and its contributions to the row. NeMo RL stops unless the contributions add up to the reward, and
 * Gym's metrics read only numbers of the row itself. A field of the row that has the name of a contribution and is not
 * a number, such as a text, stays as it is.
 */
export function nemoGymReply(
  request: NemoGymRequest,
  reply: ScoreResponse,
  reward: number,
  run: RunReport | null,
): TrainerReply {
  const contributions = contributionNumbers(reply);
  const free = Object.entries(contributions).filter(([name]) => isFree(request[name]));
  const floats = { ...Object.fromEntries(free), reward, reward_components: contributions };
  const { reward_components: earlier } = request;
  const isStale = (name: string, value: unknown): boolean =>
    STALE.has(name) || (typeof value === 'number' && isObject(earlier) && Object.hasOwn(earlier, name));
  const row = Object.entries(request).filter(([name, value]) => !Object.hasOwn(floats, name) && !isStale(name, value));
  return { floats, others: { ...Object.fromEntries(row), ...(run === null ? {} : { run }) } };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a member of the row can be replaced: it is absent, or a number of an earlier verification. */
function isFree(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number';
}
