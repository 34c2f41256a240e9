/** Batches through the OpenAI SDK, unmodified. */
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { expect } from 'vitest';
import * as z from 'zod';

export const OVER: readonly string[] = ['failed', 'completed', 'expired', 'cancelled'];

export function openAi(url: string, apiKey = 'none'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey });
}

/** The SDK's types know OpenAI's own endpoints only; what it sends is whatever it is given. */
export function endpointOf(path: string): OpenAI.BatchCreateParams['endpoint'] {
  return JSON.parse(JSON.stringify(path));
}

/** Uploads the lines and begins. */
export async function begin(client: OpenAI, lines: string, endpoint = '/v1/score'): Promise<OpenAI.Batch> {
  const file = await client.files.create({
    file: await OpenAI.toFile(Buffer.from(lines), 'in.jsonl'),
    purpose: 'batch',
  });
  return client.batches.create({
    input_file_id: file.id,
    endpoint: endpointOf(endpoint),
    completion_window: '24h',
  });
}

/** One request for each of the ids; `replicate` makes each a judgment of its own. */
export function requestLines(ids: readonly string[], body: object, replicate = 0): string {
  return ids
    .map((custom_id, n) => {
      const request = { ...body, replicate: replicate + n };
      return `${JSON.stringify({ custom_id, method: 'POST', url: '/v1/score', body: request })}\n`;
    })
    .join('');
}

/** Waits for the end. @throws Error with the batch if it does not come in time. */
export async function untilOver(client: OpenAI, id: string, deadline_ms: number, poll_ms = 100): Promise<OpenAI.Batch> {
  const deadline = performance.now() + deadline_ms;
  for (;;) {
    const batch = await client.batches.retrieve(id);
    if (OVER.includes(batch.status)) return batch;
    if (performance.now() > deadline) throw new Error(`the batch is not over: ${JSON.stringify(batch)}`);
    await pause(poll_ms);
  }
}

const lineSchema = z.object({
  custom_id: z.string(),
  response: z
    .object({ status_code: z.int(), body: z.looseObject({ reward: z.number().nullable().optional() }) })
    .nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type ResultLine = z.infer<typeof lineSchema>;

/** The lines of an output or error file; none where there is no file. */
export async function resultLines(client: OpenAI, file: string | null | undefined): Promise<ResultLine[]> {
  if (file === null || file === undefined) return [];
  const text = await (await client.files.content(file)).text();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
}

/**
 * Both files of a batch that is over: each id once, as many as the counts say. @returns the reward of each output line.
 */
export async function rewardsOnce(
  client: OpenAI,
  batch: OpenAI.Batch,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const output = await resultLines(client, batch.output_file_id);
  const error = await resultLines(client, batch.error_file_id);
  expect([...output, ...error].map(({ custom_id }) => custom_id).sort()).toEqual([...ids].sort());
  expect(batch.request_counts).toEqual({ total: ids.length, completed: output.length, failed: error.length });
  return new Map(
    output.map(({ custom_id, response }) => {
      const reward = response?.body.reward;
      if (typeof reward !== 'number') throw new Error(`${custom_id} has no reward`);
      return [custom_id, reward];
    }),
  );
}
