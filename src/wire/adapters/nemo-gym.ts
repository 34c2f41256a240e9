/**
 * NeMo Gym's `POST /verify`: the row with the policy's response in, the same with a reward out. Source: NVIDIA-NeMo/Gym
 * 07d6b0d0, `nemo_gym/base_resources_server.py`, `BaseVerifyRequest` and `BaseMultiRewardVerifyResponse`.
 *
 * `BaseVerifyResponse.reward` is a number there, neither absent nor null: agent servers validate the reply against it. So
 * a failure cannot be answered with 200; and `_ng_failure_class` beside a placeholder 0 would train on the 0.
 */
import * as z from 'zod';
import { textSchema } from '../../family/rollout-schema.ts';
import type { ScoreResponse } from '../score.ts';
import { componentNumbers, type RunReport, runReportSchema } from './reply.ts';
import { promptSchema } from './request.ts';

/** Only text is read; refusals, images and other parts pass. */
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
  citeward: z.unknown().optional().describe("Label. Absent: a label's fields are read from the top level."),
});

export type NemoGymRequest = z.infer<typeof nemoGymRequestSchema>;

export const nemoGymReplySchema = z.looseObject({
  reward: z.number(),
  reward_components: z.record(z.string(), z.number()),
  run: runReportSchema.exactOptional(),
});

/** The texts of the assistant's last messages: what it says after its last tool call. Empty where it says nothing. */
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

/** Marks of an earlier, failed verification: rows are verified again with them, and they would file the row as failed. */
const STALE = new Set(['_ng_failure_class', '_ng_failure_judge_error']);

/** The row with its reward. */
export function nemoGymReply(
  request: NemoGymRequest,
  reply: ScoreResponse,
  reward: number,
  run: RunReport | null,
): Record<string, unknown> {
  const row = Object.fromEntries(Object.entries(request).filter(([name]) => !STALE.has(name)));
  return {
    ...row,
    reward,
    reward_components: componentNumbers(reply),
    ...(run === null ? {} : { run }),
  };
}
