/**
 * Batches under faults: messages lost, repeated or late; R2, D1 and KV failing; objects restarted; consumers that
 * vanish. After each, every custom_id occurs exactly once.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { BATCH_MESSAGE_VERSION, FINALISE, type TaskMessage, VALIDATE } from '../../functions/batches/batch-messages.ts';
import {
  BATCH_WATCH_MS,
  CHUNK_STORE_MS,
  CHUNK_WORK_MS,
  MAX_CHUNK_FAILURES,
  MAX_CHUNK_LOSSES,
  MAX_CHUNKS_IN_FLIGHT,
  MESSAGE_TRUST_MS,
  TASK_LEASE_MS,
} from '../../functions/batches/batch-timing.ts';
import { createPlatformFactory } from '../../functions/platform.ts';
import type { JudgmentRequest } from '../../src/judgments/kinds/registry.ts';
import { D1_FAILED, type Detour, failing, R2_FAILED, unacknowledged } from '../contract/detoured-binding.ts';
import { ORIGIN, problemOf, ROLLOUT } from '../functions/api.ts';
import { batchOf, batchRequest, inputFile, line, redrive, rewardsOf, submit } from '../functions/batch-api.ts';
import {
  begin,
  benchBackends,
  CHUNK_LINES,
  deliver,
  deliverAll,
  doctored,
  faults,
  finish,
  judged,
  judging,
  linesOnce,
  message,
  messages,
  objectOf,
  pass,
  planned,
  resetBench,
  restart,
  state,
  unjudged,
} from '../functions/batch-bench.ts';
import { replaceParts } from '../functions/worker.ts';

/** So that a batch of a few chunks takes several steps. */
const STEP_READS = 4;

replaceParts({
  backendsOf: benchBackends,
  finalStepReads: STEP_READS,
  environmentOf: (environment, place) => (place === 'Batch' ? doctored(environment) : environment),
});

beforeEach(resetBench);
afterEach(() => vi.useRealTimers());

/** Two whole chunks and a bit. */
const LINES = 2 * CHUNK_LINES + 2;
const HOUR_MS = 3_600_000;

describe('messages', () => {
  it('that are lost are sent again', async () => {
    const { id, ids } = await begin(LINES);
    messages.length = 0;
    await pass(id, MESSAGE_TRUST_MS);
    expect(messages).toEqual([message(id, VALIDATE)]);
    for (let step = 0; step < 5; step++) {
      await deliverAll();
      messages.length = 0;
      await pass(id, MESSAGE_TRUST_MS);
    }
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(LINES);
  });

  it('that come twice, late, or out of order do nothing twice', async () => {
    const { id, ids } = await begin(LINES);
    const seen: TaskMessage[] = [];
    for (let next = messages.pop(); next !== undefined; next = messages.pop()) {
      seen.push(next);
      await Promise.all([deliver(next), deliver(next), deliver(next)]);
      for (const old of seen) await deliver(old);
    }
    const batch = await state(id);
    await linesOnce(batch, ids);
    const calls = judging.calls;
    for (const old of seen) await deliver(old);
    expect(judging.calls).toBe(calls);
    expect(await state(id)).toEqual(batch);
  });

  it('of another version or form are dropped, and the batch goes on', async () => {
    const { id, ids } = await planned(3);
    const [hint] = messages.splice(0);
    for (const odd of [
      { ...hint, v: BATCH_MESSAGE_VERSION + 1 },
      { ...hint, kind: 'other' },
      { ...hint, task: 'x' },
      'text',
      null,
    ])
      await deliver(odd);
    for (const queue of ['citeward-jobs-dead', 'citeward-jobs-dead-staging']) await deliver(hint, queue);
    await deliver(message(id, 7));
    await deliver(message('batch_unknown', 0));
    expect(await state(id)).toMatchObject({ status: 'in_progress', request_counts: { completed: 0 } });
    await pass(id, MESSAGE_TRUST_MS);
    await linesOnce(await finish(id), ids);
  });

  it('that the queue does not take, or takes without saying so, are sent again', async () => {
    faults.queue = failing('sendBatch', 1, 'Queue sendBatch failed');
    const { id, ids } = await begin(LINES);
    expect(messages).toEqual([]);
    await pass(id, BATCH_WATCH_MS);
    faults.queue = unacknowledged('sendBatch', 100, 'Queue sendBatch failed: 500');
    await linesOnce(await finish(id), ids);
  });

  it('that are claimed before the queue says that it did not take them stay claimed', async () => {
    let held = 0;
    faults.queue = async (_method, _args, proceed) => {
      await proceed();
      for (const { batch, task } of messages.splice(0)) {
        if ((await objectOf(batch).claim(BATCH_MESSAGE_VERSION, task)) !== null) held++;
      }
      throw new Error('Queue sendBatch failed: 500');
    };
    const { id, ids } = await begin(LINES);
    expect(held).toBe(1);
    expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, VALIDATE)).toBeNull();
    faults.queue = null;
    await linesOnce(await finish(id), ids);
  });

  it('are never sent for more chunks at once than may be under way', async () => {
    const many = (MAX_CHUNKS_IN_FLIGHT + 8) * CHUNK_LINES;
    const text = Array.from({ length: many }, (_, n) => line(`${n}`, { response: 'x', tool_output: '' }, '/v1/verify'));
    const { id } = await submit(text.join('\n'), '/v1/verify');
    await deliver(messages.shift());
    expect(messages).toHaveLength(MAX_CHUNKS_IN_FLIGHT);
    // All are lost, again and again.
    for (let round = 0; round < 3; round++) {
      messages.length = 0;
      await pass(id, MESSAGE_TRUST_MS);
      expect(messages).toHaveLength(MAX_CHUNKS_IN_FLIGHT);
    }
    // All come back at the same time, as after an hour without a judge.
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec("UPDATE tasks_v1 SET state = 'waiting', due_at = 0 WHERE n >= 0");
    });
    messages.length = 0;
    await pass(id, BATCH_WATCH_MS);
    expect(messages).toHaveLength(MAX_CHUNKS_IN_FLIGHT);
    expect((await finish(id)).request_counts).toEqual({ total: many, completed: many, failed: 0 });
  });
});

describe('two consumers with one chunk', () => {
  it('of 20 parallel claims one holds it', async () => {
    const { id, ids } = await planned(3);
    const claims = await Promise.all(Array.from({ length: 20 }, () => objectOf(id).claim(BATCH_MESSAGE_VERSION, 0)));
    const held = claims.filter((claim) => claim !== null);
    expect(held).toHaveLength(1);
    // Its holder is never heard of again.
    messages.length = 0;
    await pass(id, TASK_LEASE_MS);
    expect(messages).toEqual([message(id, 0)]);
    await linesOnce(await finish(id), ids);
  });

  it('write its results once, whoever comes first', async () => {
    const { id, ids } = await planned(3);
    const gate = Promise.withResolvers<void>();
    judging.answer = async (request) => {
      await gate.promise;
      return judged(request);
    };
    const slow = deliver(message(id, 0));
    await vi.waitFor(() => expect(judging.calls).toBeGreaterThan(0), 20_000);
    // The lease of the first runs out while it works; a second one does all the work.
    messages.length = 0;
    await pass(id, TASK_LEASE_MS);
    judging.answer = judged;
    const results = `batches/default/${id}/chunks/0`;
    await deliver(messages.shift());
    const written = await env.FILES.head(results);
    expect(written).not.toBeNull();
    expect(await state(id)).toMatchObject({ request_counts: { completed: 3, failed: 0 } });
    gate.resolve();
    await slow;
    expect((await env.FILES.head(results))?.version).toBe(written?.version);
    await linesOnce(await finish(id), ids);
  });

  it('finish different lines of it: each line is written once, in the order of the input', async () => {
    const { id, ids } = await planned(CHUNK_LINES, (n: number) => ({ question: `Which line is number ${n % 3}?` }));
    const down = (some: readonly number[]) => async (request: JudgmentRequest) =>
      request.kind === 'rubric' && some.some((n) => request.question.includes(`number ${n}`))
        ? unjudged('judge_unreachable')
        : judged(request);
    const gate = Promise.withResolvers<void>();
    judging.answer = async (request) => {
      await gate.promise;
      return down([0, 1])(request);
    };
    const slow = deliver(message(id, 0));
    await vi.waitFor(() => expect(judging.calls).toBeGreaterThan(0), 20_000);
    messages.length = 0;
    await pass(id, TASK_LEASE_MS);
    judging.answer = down([1, 2]);
    await deliver(messages.shift());
    const first = await state(id);
    expect(first).toMatchObject({ status: 'in_progress', request_counts: { failed: 0 } });
    gate.resolve();
    await slow;
    // Its report comes without the lease, but its lines are stored.
    expect(await state(id)).toEqual(first);
    expect((await env.FILES.list({ prefix: `batches/default/${id}/` })).objects).toHaveLength(2);
    judging.answer = judged;
    const { output } = await linesOnce(await finish(id), ids);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids);
  });

  it('a slow one keeps its chunk where nobody else wants it', async () => {
    const { id, ids } = await planned(3);
    const claim = await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0);
    if (claim === null) throw new Error('nothing to claim');
    messages.length = 0;
    // Its heartbeat comes too late, after a message was sent for another consumer.
    await pass(id, TASK_LEASE_MS);
    expect(await objectOf(id).extend(0, claim.token)).toBe(true);
    expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0)).toBeNull();
    await pass(id, TASK_LEASE_MS);
    expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0)).not.toBeNull();
    expect(await objectOf(id).extend(0, claim.token)).toBe(false);
    await linesOnce(await finish(id), ids);
  });

  it('two finalisers make the same files', async () => {
    const { id, ids } = await planned(3);
    await deliver(messages.shift());
    expect(messages).toEqual([message(id, FINALISE)]);
    let writes = 0;
    const gate = Promise.withResolvers<void>();
    faults.files = async (method, _args, proceed) => {
      if (method === 'put' && ++writes === 1) await gate.promise;
      return proceed();
    };
    const slow = deliver(messages.shift());
    await vi.waitFor(() => expect(writes).toBe(1), 20_000);
    await pass(id, TASK_LEASE_MS);
    await deliver(messages.shift());
    const batch = await state(id);
    await linesOnce(batch, ids);
    gate.resolve();
    await slow;
    expect(await state(id)).toEqual(batch);
    await linesOnce(batch, ids);
  });
});

describe('a chunk that takes long', () => {
  /** A judge that needs a time for each answer. */
  const slowly = (ms: number) => async (request: JudgmentRequest) => {
    vi.setSystemTime(Date.now() + ms);
    return judged(request);
  };

  it('hands the rest on before the platform ends its consumer, and no line is judged twice', async () => {
    const { id, ids } = await planned(CHUNK_LINES);
    judging.answer = slowly(CHUNK_WORK_MS / CHUNK_LINES);
    await deliver(messages.shift());
    const first = await state(id);
    expect(first.status).toBe('in_progress');
    expect(first.request_counts.completed).toBeGreaterThan(0);
    expect(first.request_counts.completed).toBeLessThan(CHUNK_LINES);
    // At once, not after a wait as for a judge that failed.
    expect(messages).toEqual([message(id, 0)]);
    await linesOnce(await finish(id), ids);
    expect(judging.calls).toBe(2 * CHUNK_LINES);
  });

  it('has stored what it finished when its consumer dies', async () => {
    const { id, ids } = await planned(CHUNK_LINES);
    const never = Promise.withResolvers<void>();
    let answers = 0;
    judging.answer = async (request) => {
      if (++answers > 12) await never.promise;
      return slowly(CHUNK_STORE_MS / 4)(request);
    };
    const dead = deliver(messages.shift());
    await vi.waitFor(async () => {
      const { objects } = await env.FILES.list({ prefix: `batches/default/${id}/` });
      expect(objects.length).toBeGreaterThan(0);
      expect(answers).toBeGreaterThan(12);
    }, 20_000);
    judging.answer = async (request) => judged(request);
    const judgedBefore = judging.calls;
    messages.length = 0;
    await pass(id, TASK_LEASE_MS);
    await linesOnce(await finish(id), ids);
    expect(judging.calls - judgedBefore).toBeLessThan(2 * CHUNK_LINES - 6);
    never.resolve();
    await dead;
  });

  it('goes on where R2 does not take results for a while', async () => {
    const { id, ids } = await planned(CHUNK_LINES);
    judging.answer = slowly(CHUNK_STORE_MS);
    faults.files = failing('put', 2, R2_FAILED);
    await deliver(messages.shift());
    faults.files = null;
    expect(await state(id)).toMatchObject({ request_counts: { completed: CHUNK_LINES } });
    await linesOnce(await finish(id), ids);
  });
});

describe('the assembly of the files', () => {
  /** Seven chunks, one of them in two parts, each line once. */
  const MANY = 6 * CHUNK_LINES + 3;

  async function scored(): ReturnType<typeof begin> {
    const { id, ids } = await planned(MANY, (n: number) => ({
      question: `How long is the Aare, ${n}?`,
      ...(n % CHUNK_LINES === 1 ? { recipe: 'none' } : {}),
    }));
    judging.answer = async (request) =>
      request.kind === 'rubric' && request.question.endsWith(', 5?') ? unjudged('judge_unreachable') : judged(request);
    await deliverAll();
    judging.answer = judged;
    for (let round = 0; round < 20 && messages.length === 0; round++) await pass(id, 30_000);
    while (messages[0]?.task !== FINALISE) await deliver(messages.shift());
    expect(await state(id)).toMatchObject({ status: 'finalizing' });
    return { id, ids };
  }

  /** Delivers the steps one by one. Returns the reads of R2 that each made. */
  async function steps(id: string): Promise<number[]> {
    const reads: number[] = [];
    while (messages.length > 0) {
      let made = 0;
      faults.files = async (method, _args, proceed) => {
        if (method === 'get') made++;
        return proceed();
      };
      const [step] = messages.splice(0);
      expect(step).toEqual(message(id, FINALISE));
      await deliver(step);
      reads.push(made);
    }
    faults.files = null;
    return reads;
  }

  it('is made in steps of bounded reads, and each line is there once, in order', async () => {
    const { id, ids } = await scored();
    const reads = await steps(id);
    expect(reads.length).toBeGreaterThan(2);
    for (const made of reads.slice(0, -1)) expect(made).toBeLessThanOrEqual(STEP_READS);
    const { output, error } = await linesOnce(await state(id), ids);
    const order = (lines: readonly { custom_id: string }[]) => lines.map(({ custom_id }) => ids.indexOf(custom_id));
    for (const file of [output, error]) expect(order(file)).toEqual(order(file).toSorted((a, b) => a - b));
    expect(error).toHaveLength(7);
  });

  it('goes on after a consumer that vanishes in any step, and after a restart of the object', async () => {
    const { id, ids } = await scored();
    let vanished = 0;
    while (!['completed', 'failed'].includes((await state(id)).status)) {
      expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, FINALISE)).not.toBeNull();
      vanished++;
      messages.length = 0;
      await restart(id);
      await pass(id, TASK_LEASE_MS);
      await deliver(messages.shift());
    }
    expect(vanished).toBeGreaterThan(2);
    await linesOnce(await state(id), ids);
  });

  it('is right if a step fails at any of its reads or writes', async () => {
    for (const method of ['get', 'put']) {
      for (const failure of [failing, unacknowledged]) {
        for (let calls = 1; calls < 4; calls++) {
          const { id, ids } = await scored();
          const fault = failure(method, 1, R2_FAILED);
          let seen = 0;
          faults.files = async (called, args, proceed) =>
            called === method && ++seen % calls === 0 ? fault(called, args, proceed) : proceed();
          await linesOnce(await finish(id), ids);
          faults.files = null;
        }
      }
    }
  });

  it('takes no report of a step that another consumer has taken over', async () => {
    const { id, ids } = await scored();
    const late = await objectOf(id).claim(BATCH_MESSAGE_VERSION, FINALISE);
    messages.length = 0;
    await pass(id, TASK_LEASE_MS);
    await deliver(messages.shift());
    expect(await state(id)).toMatchObject({ status: 'finalizing' });
    const merged = { name: late?.token ?? '', output: 1, error: 1 };
    await objectOf(id).report(FINALISE, merged.name, { kind: 'merged', merged, lost: 5 });
    const batch = await finish(id);
    expect(batch.errors).toBeNull();
    await linesOnce(batch, ids);
  });

  it('finds the tables of an earlier version, whose tasks do not say how many parts they have', async () => {
    const { id, ids } = await scored();
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec('ALTER TABLE tasks_v1 DROP COLUMN parts');
    });
    await restart(id);
    await linesOnce(await finish(id), ids);
  });
});

describe('consumers that vanish', () => {
  it(`make a chunk a dead letter after ${MAX_CHUNK_LOSSES} times, and a redrive tries it anew`, async () => {
    const { id, ids } = await planned(3);
    for (let loss = 0; loss < MAX_CHUNK_LOSSES; loss++) {
      expect(await state(id)).toMatchObject({ dead_letters: [] });
      expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0)).not.toBeNull();
      messages.length = 0;
      await pass(id, TASK_LEASE_MS);
    }
    expect(await state(id)).toMatchObject({
      status: 'in_progress',
      progress: { chunks: { dead: 1 } },
      dead_letters: [{ chunk: 0, requests: 3, attempts: MAX_CHUNK_LOSSES, reason: 'consumer_lost' }],
    });
    expect(messages).toEqual([]);
    expect(await (await redrive(id)).json()).toMatchObject({ redriven: 1, batch: { dead_letters: [] } });
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(3);
  });
});

describe('R2', () => {
  const cases: [string, () => Detour][] = [
    ['puts fail', () => failing('put', 6, R2_FAILED)],
    ['puts are not acknowledged', () => unacknowledged('put', 6, R2_FAILED)],
    ['gets fail', () => failing('get', 6, R2_FAILED)],
    ['heads fail', () => failing('head', 4, R2_FAILED)],
  ];
  it.each(cases)('%s for a while: the batch takes longer', async (_name, fault) => {
    const { id, ids } = await begin(LINES);
    faults.files = fault();
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(LINES);
    expect(await rewardsOf((await state(id)).output_file_id)).not.toContain(null);
  });

  it('fails for long: dead letters, and a redrive', async () => {
    const { id, ids } = await planned(LINES);
    faults.files = failing('put', Number.POSITIVE_INFINITY, R2_FAILED);
    for (let round = 0; round < 3 * MAX_CHUNK_FAILURES; round++) {
      await deliverAll();
      await pass(id, HOUR_MS / 4);
    }
    const stuck = await state(id);
    expect(stuck).toMatchObject({ status: 'in_progress', request_counts: { completed: 0, failed: 0 } });
    expect(stuck.dead_letters).toHaveLength(3);
    expect(stuck.dead_letters[1]).toEqual({
      chunk: 1,
      first_line: CHUNK_LINES + 1,
      requests: CHUNK_LINES,
      attempts: MAX_CHUNK_FAILURES,
      reason: 'internal',
    });
    faults.files = null;
    expect(await (await redrive(id)).json()).toMatchObject({ redriven: 3 });
    const calls = judging.calls;
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(LINES);
    // Nothing is judged twice: judgments are stored as they are made.
    expect(judging.calls).toBe(calls);
  });

  it('gives dead letters up when the window ends', async () => {
    const { id, ids } = await planned(3);
    faults.files = failing('put', Number.POSITIVE_INFINITY, R2_FAILED);
    for (let round = 0; round < 2 * MAX_CHUNK_FAILURES; round++) {
      await deliverAll();
      await pass(id, HOUR_MS / 4);
    }
    faults.files = null;
    await pass(id, 24 * HOUR_MS);
    const batch = await finish(id);
    expect(batch).toMatchObject({ status: 'expired', dead_letters: [] });
    const { error } = await linesOnce(batch, ids);
    expect(error.map((one) => one.error?.code)).toEqual(['batch_expired', 'batch_expired', 'batch_expired']);
  });

  it('loses the end of a chunk on the way to the finaliser: nothing is missing in the files', async () => {
    const text = [line('good', ROLLOUT), line('bad', { ...ROLLOUT, recipe: 'none' })].join('\n');
    const { id } = await submit(text);
    let cut = false;
    faults.files = async (method, [key], proceed) => {
      const object = await proceed();
      if (cut || method !== 'get' || typeof key !== 'string' || !key.startsWith('batches/')) return object;
      cut = true;
      return cutShort(object);
    };
    await linesOnce(await finish(id), ['good', 'bad']);
    expect(cut).toBe(true);
  });
});

/** The object, whose body ends three bytes early without an error. */
function cutShort(object: unknown): unknown {
  if (typeof object !== 'object' || object === null || !('body' in object) || !('size' in object)) return object;
  const { body, size } = object;
  if (!(body instanceof ReadableStream) || typeof size !== 'number') return object;
  let left = size - 3;
  const cutter = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (left > 0) controller.enqueue(bytes.subarray(0, left));
      left -= bytes.byteLength;
    },
  });
  const short = body.pipeThrough(cutter);
  return new Proxy(object, {
    get: (target, name) => (name === 'body' ? short : Reflect.get(target, name, target)),
  });
}

describe('D1', () => {
  const app = createApp(createPlatformFactory({ backendsOf: benchBackends }));
  const ask = async (request: Request) => app.request(request, undefined, doctored(env));
  const list = async () => {
    const reply = await ask(new Request(`${ORIGIN}/v1/batches?limit=100`));
    const { data }: { data: { id: string; status: string }[] } = await reply.json();
    return data;
  };

  it('fails at the creation: a retryable 503, and there is no batch', async () => {
    const before = (await list()).length;
    const input = await inputFile(line('a', ROLLOUT));
    faults.db = failing('first', 1, D1_FAILED);
    const problem = await problemOf(await ask(batchRequest(input)), 503, 'storage_failed');
    expect(problem.retryable).toBe(true);
    expect(messages).toEqual([]);
    expect(await list()).toHaveLength(before);
    const { id } = await batchOf(await ask(batchRequest(input)));
    await linesOnce(await finish(id), ['a']);
    expect(await list()).toHaveLength(before + 1);
  });

  it('the object answers its creation with an error: it is asked again, and there is one batch', async () => {
    const before = (await list()).length;
    const input = await inputFile(line('a', ROLLOUT));
    faults.batch = unacknowledged('create', 2, 'Network connection lost.');
    const { id } = await batchOf(await ask(batchRequest(input)));
    expect(messages).toEqual([message(id, VALIDATE)]);
    faults.batch = failing('create', 99, 'Network connection lost.');
    await problemOf(await ask(batchRequest(input)), 503, 'storage_failed');
    expect(await list()).toHaveLength(before + 1);
    faults.batch = null;
    await linesOnce(await finish(id), ['a']);
  });

  it('the object restarts while it is asked: it is asked again, and otherwise the failure is retryable', async () => {
    const RESET = 'Durable Object reset because its code was updated.';
    const change = (path: string) => ask(new Request(`${ORIGIN}/v1/batches/${path}`, { method: 'POST' }));
    const { id } = await planned(LINES);
    faults.batch = failing('describe', 2, RESET);
    expect(await batchOf(await ask(new Request(`${ORIGIN}/v1/batches/${id}`)))).toMatchObject({ id });
    faults.batch = failing('describe', 99, RESET);
    const problem = await problemOf(await ask(new Request(`${ORIGIN}/v1/batches/${id}`)), 503, 'storage_failed');
    expect(problem.retryable).toBe(true);
    faults.batch = unacknowledged('redrive', 1, RESET);
    expect((await change(`${id}/redrive`)).status).toBe(200);
    faults.batch = unacknowledged('cancel', 2, RESET);
    expect((await batchOf(await change(`${id}/cancel`))).status).toMatch(/^cancell(ing|ed)$|^finalizing$/);
    faults.batch = null;
    expect((await finish(id)).status).toBe('cancelled');
  });

  it('fails to list: a retryable 503', async () => {
    faults.db = failing('all', 1, D1_FAILED);
    await problemOf(await ask(new Request(`${ORIGIN}/v1/batches`)), 503, 'storage_failed');
  });

  it('is away: the batch is scored all the same, ends as soon as its files can be noted, and the list catches up', async () => {
    const { id, ids } = await planned(LINES);
    const listed = async () => (await list()).find((one) => one.id === id)?.status;
    const down: Detour = async (method, _args, proceed) => {
      if (method === 'run' || method === 'batch') throw new Error(D1_FAILED);
      return proceed();
    };
    faults.db = down;
    await deliverAll();
    await pass(id, HOUR_MS / 4);
    await deliverAll();
    expect(await state(id)).toMatchObject({ status: 'finalizing', request_counts: { completed: LINES } });
    faults.db = async (method, args, proceed) => (method === 'batch' ? proceed() : down(method, args, proceed));
    await linesOnce(await finish(id), ids);
    expect(await listed()).not.toBe('completed');
    await restart(id);
    await pass(id, BATCH_WATCH_MS);
    faults.db = null;
    await pass(id, BATCH_WATCH_MS);
    expect(await listed()).toBe('completed');
  });

  it('takes an old snapshot after the last one: the list keeps the last', async () => {
    const { id } = await planned(3);
    const gate = Promise.withResolvers<void>();
    let held = 0;
    faults.db = async (method, _args, proceed) => {
      if (method === 'run' && held++ === 0) await gate.promise;
      return proceed();
    };
    const early = pass(id, HOUR_MS / 4);
    await vi.waitFor(() => expect(held).toBe(1), 20_000);
    await finish(id);
    gate.resolve();
    await early;
    expect((await list()).find((one) => one.id === id)?.status).toBe('completed');
  });
});

describe('KV', () => {
  it.each(['get', 'put'])('fails to %s: judgments that cannot be remembered are made, and count', async (method) => {
    faults.kv = failing(method, Number.POSITIVE_INFINITY, 'KV failed: 500');
    const { id, ids } = await begin(3);
    const { output } = await linesOnce(await finish(id), ids);
    for (const { response } of output) expect(response?.body['reward']).toEqual(expect.any(Number));
  });
});

describe('the object is restarted', () => {
  it('between any two steps', async () => {
    const { id, ids } = await begin(LINES);
    for (let step = 0; step < 40 && (await state(id)).status !== 'completed'; step++) {
      await restart(id);
      const [next] = messages.splice(0);
      await restart(id);
      if (next !== undefined) await deliver(next);
      await restart(id);
      // Messages that were under way are not known after a start: all are sent again, without waiting for their time.
      await pass(id, BATCH_WATCH_MS);
    }
    const { output } = await linesOnce(await state(id), ids);
    expect(output).toHaveLength(LINES);
  });

  it('while a consumer works: its report arrives all the same', async () => {
    const { id, ids } = await planned(3);
    let failed = 0;
    faults.batch = async (method, _args, proceed) => {
      if (method === 'report' && failed++ === 0) throw new Error('The Durable Object was reset.');
      return proceed();
    };
    await deliver(messages.shift());
    expect(await state(id)).toMatchObject({ request_counts: { completed: 3 } });
    await linesOnce(await finish(id), ids);
  });
});
