/** Batches through the API: uploading an input file, creating the batch, reading its result lines. */

import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { FileStore, newFileId } from '../../functions/storage/files.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { type BatchReply, batchSchema } from '../../src/wire/batches/batch.ts';
import { ORIGIN, post, send } from './api.ts';

const encoder = new TextEncoder();
export const files = new FileStore(env.FILES, env.DB, DEFAULT_PROJECT);

export type OutputLine = {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: Record<string, unknown> } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

export async function inputFile(
  text: string | Uint8Array,
  purpose: 'batch' | 'batch_output' = 'batch',
): Promise<string> {
  const id = newFileId();
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const writer = files.writer(id);
  await writer.write(bytes);
  await writer.close();
  const created_at = Math.floor(Date.now() / 1000);
  await files.record({ id, purpose, filename: 'in.jsonl', bytes: bytes.byteLength, created_at, expires_at: null });
  return id;
}

export function line(custom_id: string, body: unknown, url = '/v1/score'): string {
  return JSON.stringify({ custom_id, method: 'POST', url, body });
}

export async function batchOf(reply: Response): Promise<BatchReply> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  return batchSchema.parse(JSON.parse(text));
}

export function batchRequest(input_file_id: string, endpoint = '/v1/score', more: object = {}): Request {
  return post('/v1/batches', { input_file_id, endpoint, completion_window: '24h', ...more });
}

export async function submit(
  text: string | Uint8Array,
  endpoint = '/v1/score',
  more: object = {},
): Promise<BatchReply> {
  return batchOf(await send(batchRequest(await inputFile(text), endpoint, more)));
}

export const get = (id: string) => send(new Request(`${ORIGIN}/v1/batches/${id}`));

const change = (id: string, path: string) =>
  send(new Request(`${ORIGIN}/v1/batches/${id}/${path}`, { method: 'POST' }));
export const cancel = (id: string) => change(id, 'cancel');
export const redrive = (id: string) => change(id, 'redrive');

export const OVER: readonly string[] = ['failed', 'completed', 'expired', 'cancelled'];

export async function ended(id: string): Promise<BatchReply> {
  return vi.waitFor(
    async () => {
      const batch = await batchOf(await get(id));
      expect(OVER).toContain(batch.status);
      return batch;
    },
    { timeout: 20_000, interval: 50 },
  );
}

export async function outputLines(id: string | null): Promise<OutputLine[]> {
  if (id === null) return [];
  const object = await files.open(id);
  if (object === null) throw new Error('the file is not there');
  const text = await object.text();
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((one): OutputLine => JSON.parse(one));
}

export async function rewardsOf(id: string | null): Promise<unknown[]> {
  return (await outputLines(id)).map(({ response }) => response?.body['reward']);
}
