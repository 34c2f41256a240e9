/**
 * A test bench for batches with the real object, R2, D1 and KV, each of which can be made to fail. The test controls
 * the clock, the judge's answers and the queue: which message is delivered when, how often, or never.
 */

import { createMessageBatch, evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { BATCH_MESSAGE_VERSION, type TaskMessage, VALIDATE } from '../../functions/batches/batch-messages.ts';
import { consumeJobs } from '../../functions/batches/consume-queue.ts';
import type { Environment } from '../../functions/environment.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import type { Backends } from '../../service/backends/configured.ts';
import { type JudgeBackend, lexicalBackend } from '../../service/backends/judge-backends.ts';
import type { Judge, JudgeReply } from '../../src/judgments/judge.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { judgeLexically } from '../../src/judgments/lexical-judge.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import type { BatchReply } from '../../src/wire/batches/batch.ts';
import { CHUNK_LIMITS, type ChunkLimits } from '../../src/wire/batches/chunk-plan.ts';
import { type Detour, detoured } from '../contract/detoured-binding.ts';
import { ROLLOUT } from './api.ts';
import { batchOf, get, line, type OutputLine, OVER, outputLines, submit } from './batch-api.ts';

type Faults = {
  files: Detour | null;
  db: Detour | null;
  kv: Detour | null;
  queue: Detour | null;
  batch: Detour | null;
};

export const faults: Faults = { files: null, db: null, kv: null, queue: null, batch: null };

/** Messages that the objects have sent and the test has not delivered yet, in order. */
export const messages: TaskMessage[] = [];

export function message(batch: string, task: number): TaskMessage {
  return { v: BATCH_MESSAGE_VERSION, kind: 'batch', project: DEFAULT_PROJECT, batch, task };
}

/** The scripted answers of the judge. */
export const judging: { calls: number; answer: (request: JudgmentRequest) => Promise<JudgeReply> } = {
  calls: 0,
  answer: judged,
};

export async function judged(request: JudgmentRequest): Promise<JudgeReply> {
  return { ok: true, verdicts: judgeLexically(request), usage: null };
}

export function unjudged(reason: JudgeFailure['reason'], more: Partial<JudgeFailure> = {}): JudgeReply {
  return { ok: false, failure: { reason, detail: 'as the test wants', retryable: true, ...more } };
}

const judge: Judge = {
  name: 'bench',
  model: 'bench-1',
  identityFor: () => ({ model: 'bench-1', template: 't1', sampling: null }),
  context_tokens: null,
  judge(request) {
    judging.calls++;
    return judging.answer(request);
  },
};

/** In the place of the configured backends. */
export function benchBackends(): Backends {
  const backend: JudgeBackend = { ...lexicalBackend, judge };
  return { named: [backend], default: backend, sandbox: null, generators: { named: [], default: null } };
}

const HOUR_MS = 3_600_000;

/** Resets the bench: no faults, no messages, and a clock one hour ahead, so that no alarm runs by itself. */
export function resetBench(): void {
  Object.assign(faults, { files: null, db: null, kv: null, queue: null, batch: null } satisfies Faults);
  messages.length = 0;
  judging.calls = 0;
  judging.answer = judged;
  vi.useFakeTimers({ toFake: ['Date'], now: Math.max(Date.now(), performance.timeOrigin) + HOUR_MS });
}

const doctoredOnes = new WeakMap<Environment, Environment>();

/**
 * Returns the environment with the bench's bindings in place of the Worker's; always the same object for one
 * environment.
 */
export function doctored(environment: Environment): Environment {
  const known = doctoredOnes.get(environment);
  if (known !== undefined) return known;
  const made: Environment = {
    ...environment,
    FILES: detoured(environment.FILES, () => faults.files),
    DB: detoured(environment.DB, () => faults.db),
    JUDGMENTS: detoured(environment.JUDGMENTS, () => faults.kv),
    JOBS: detoured(environment.JOBS, () => async (method, args, _proceed) => {
      const take = async (): Promise<void> => {
        for (const { body } of sentOf(method, args)) messages.push(body);
      };
      await (faults.queue === null ? take() : faults.queue(method, args, take));
    }),
    BATCH: detoured(environment.BATCH, () => faults.batch),
  };
  doctoredOnes.set(environment, made);
  return made;
}

function sentOf(method: string, [sent]: readonly unknown[]): Iterable<MessageSendRequest<TaskMessage>> {
  if (method !== 'sendBatch' || !Array.isArray(sent)) throw new Error(`the queue was asked for ${method}`);
  return sent;
}

const platforms = createPlatformFactory({ backendsOf: benchBackends });
/** Chunks of the tests are small, so that a batch of several is scored quickly. */
export const CHUNK_LINES = 10;
const CHUNKS: ChunkLimits = {
  ...CHUNK_LIMITS,
  requests: { ...CHUNK_LIMITS.requests, '/v1/score': CHUNK_LINES, '/v1/verify': CHUNK_LINES },
};
let delivered = 0;

/** Delivers one message to a consumer. */
export async function deliver(body: unknown, queue = 'citeward-jobs', environment: Environment = env): Promise<void> {
  const id = String(delivered++);
  const batch = createMessageBatch(queue, [{ id, timestamp: Date.now(), attempts: 1, body }]);
  await consumeJobs(batch, doctored(environment), platforms, CHUNKS);
}

/** Delivers all messages, and those that they cause, until none is left. */
export async function deliverAll(): Promise<void> {
  for (let message = messages.shift(); message !== undefined; message = messages.shift()) await deliver(message);
}

export function objectOf(id: string) {
  return env.BATCH.getByName(`${DEFAULT_PROJECT}/${id}`);
}

/** Advances the clock, and runs the object's alarm if it is due. */
export async function pass(id: string, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(objectOf(id));
}

/** Restarts the object, which loses its memory. */
export async function restart(id: string): Promise<void> {
  // One that is not running cannot be evicted.
  await objectOf(id).describe();
  await evictDurableObject(objectOf(id));
}

export async function state(id: string): Promise<BatchReply> {
  return batchOf(await get(id));
}

let replicate = 0;

/** Creates a batch of rollouts without stored judgments, and returns their ids. */
export async function begin(
  lines: number,
  more: object = {},
): Promise<{ readonly id: string; readonly ids: string[] }> {
  const ids = Array.from({ length: lines }, (_, n) => `line-${n}`);
  const text = ids.map((custom_id, n) =>
    line(custom_id, { ...ROLLOUT, replicate: ++replicate, ...(typeof more === 'function' ? more(n) : more) }),
  );
  const { id } = await submit(text.join('\n'));
  return { id, ids };
}

/** Begins a batch and validates it: its chunks are on their way. */
export async function planned(lines: number, more: Parameters<typeof begin>[1] = {}): ReturnType<typeof begin> {
  const batch = await begin(lines, more);
  const first = messages.splice(0);
  expect(first).toEqual([message(batch.id, VALIDATE)]);
  for (const one of first) await deliver(one);
  expect(await state(batch.id)).toMatchObject({ status: 'in_progress', request_counts: { total: lines } });
  return batch;
}

/** Goes on until the batch is over: messages are delivered, and time passes where there are none. */
export async function finish(id: string): Promise<BatchReply> {
  for (let round = 0; round < 200; round++) {
    await deliverAll();
    const batch = await state(id);
    if (OVER.includes(batch.status)) return batch;
    await pass(id, 30_000);
  }
  throw new Error(`finish: ${JSON.stringify(await state(id))}`);
}

/** The lines of a batch that is over: each id once, and as many as the counts say. */
export async function linesOnce(
  batch: BatchReply,
  ids: readonly string[],
): Promise<{ readonly output: OutputLine[]; readonly error: OutputLine[] }> {
  expect(OVER).toContain(batch.status);
  const [output, error] = [await outputLines(batch.output_file_id), await outputLines(batch.error_file_id)];
  expect([...output, ...error].map(({ custom_id }) => custom_id).sort()).toEqual([...ids].sort());
  expect(batch.request_counts).toEqual({ total: ids.length, completed: output.length, failed: error.length });
  for (const { response } of output) expect(response?.body['reward']).not.toBeUndefined();
  for (const { response } of error) expect(response?.body ?? {}).not.toHaveProperty('reward');
  return { output, error };
}
