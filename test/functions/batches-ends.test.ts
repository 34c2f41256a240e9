/**
 * How batches end: judges that are down or return no judgment, expired windows, cancellations, a deleted input file. In
 * each case every custom_id occurs exactly once, and every number comes from a judge.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BatchList } from '../../functions/batches/batch-list.ts';
import { BATCH_MESSAGE_VERSION, FINALISE } from '../../functions/batches/batch-messages.ts';
import {
  BATCH_WATCH_MS,
  CHUNK_RESULTS_KEPT_MS,
  CHUNK_WORK_MS,
  MAX_LINE_TRIES,
  TASK_LEASE_MS,
} from '../../functions/batches/batch-timing.ts';
import { batchListSchema } from '../../src/wire/batches/batch.ts';
import { failing, R2_FAILED } from '../contract/detoured-binding.ts';
import { ORIGIN, problemOf, send } from './api.ts';
import { batchOf, cancel, files, get, outputLines, redrive, rewardsOf } from './batch-api.ts';
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
  state,
  unjudged,
} from './batch-bench.ts';
import { replaceParts } from './worker.ts';

replaceParts({
  backendsOf: benchBackends,
  environmentOf: (environment, place) => (place === 'Batch' ? doctored(environment) : environment),
});

beforeEach(resetBench);
afterEach(() => vi.useRealTimers());

/** Two whole chunks and a bit. */
const LINES = 2 * CHUNK_LINES + 2;
const HOUR_MS = 3_600_000;

it('a task whose object cannot be reached has a span with the error', async () => {
  const { id } = await planned(1);
  faults.batch = failing('claim', 1, 'as the test wants');
  const logged = vi.spyOn(console, 'log');
  for (let times = 0; times < 2; times++) {
    await deliver(message(id, 0), undefined, { ...env, LOG_SPANS: 'true' });
  }
  const spans = logged.mock.calls
    .map(([text]): { event?: unknown; name?: unknown } => JSON.parse(String(text)))
    .filter(({ event, name }) => event === 'span' && name === 'batch task');
  logged.mockRestore();
  expect(spans).toMatchObject([{ error: 'object_unreachable' }, { error: null }]);
});

describe('a judge', () => {
  it('that is down for some lines: the others are written, and no line waits for another', async () => {
    const undisturbed = await planned(LINES);
    const right = await rewardsOf((await finish(undisturbed.id)).output_file_id);
    expect(new Set(right).size).toBe(1);

    const { id, ids } = await planned(LINES);
    judging.answer = async (request) => (judging.calls % 3 === 1 ? unjudged('judge_unreachable') : judged(request));
    await deliverAll();
    const early = await state(id);
    const { completed } = early.request_counts;
    expect(early).toMatchObject({
      status: 'in_progress',
      output_file_id: null,
      request_counts: { failed: 0 },
      progress: { chunks: { waiting: 3, done: 0 } },
    });
    expect(completed).toBeGreaterThan(0);
    expect(completed).toBeLessThan(LINES);
    judging.answer = async () => unjudged('judge_timeout');
    // Hours pass: while the judge is down, only the window ends the retries.
    for (let round = 0; round < 12; round++) {
      await pass(id, HOUR_MS / 4);
      await deliverAll();
    }
    expect(await state(id)).toMatchObject({ status: 'in_progress', request_counts: { completed, failed: 0 } });
    judging.answer = judged;
    const batch = await finish(id);
    const { output } = await linesOnce(batch, ids);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids);
    expect(await rewardsOf(batch.output_file_id)).toEqual(right);
  });

  it('that throws on one line: that line is an error, the others are scored', async () => {
    const { id, ids } = await planned(LINES, (n: number) => (n === 3 ? { question: 'What is odd here?' } : {}));
    judging.answer = async (request) => {
      if (request.kind === 'rubric' && request.question.includes('odd')) throw new TypeError('secret text of the line');
      return judged(request);
    };
    const logged = vi.spyOn(console, 'error');
    const batch = await finish(id);
    expect(batch).toMatchObject({ status: 'completed', dead_letters: [] });
    const { output, error } = await linesOnce(batch, ids);
    expect(output).toHaveLength(LINES - 1);
    expect(error).toMatchObject([
      {
        custom_id: 'line-3',
        response: { status_code: 500, body: { reason: 'internal' } },
        error: { code: 'internal' },
      },
    ]);
    const log = logged.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('batch_line_failed'));
    logged.mockRestore();
    expect(log.map((text): unknown => JSON.parse(text))).toMatchObject([
      { event: 'batch_line_failed', batch: id, line: 4, error: 'TypeError' },
    ]);
    expect(log.join()).not.toContain('secret');
  });

  it('is asked when it said to be', async () => {
    const { id } = await planned(1);
    judging.answer = async () => unjudged('judge_rate_limited', { retry_after_s: 300 });
    await deliverAll();
    await pass(id, 290_000);
    expect(messages).toEqual([]);
    await pass(id, 10_000);
    expect(messages).toEqual([message(id, 0)]);
  });

  it('that is still running is joined by the next round at once, and costs the line no try', async () => {
    const { id, ids } = await planned(3);
    let running = 2 * MAX_LINE_TRIES;
    judging.answer = async (request) =>
      running-- > 0 ? unjudged('judge_running', { retry_after_s: 1 }) : judged(request);
    for (let round = 0; round < 12; round++) {
      await deliverAll();
      await pass(id, 1_000);
    }
    expect((await state(id)).request_counts).toMatchObject({ completed: 3, failed: 0 });
    const { output } = await linesOnce(await finish(id), ids);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids);
  });

  it(`that gives no judgment of one line ${MAX_LINE_TRIES} times: an error line with the reason`, async () => {
    const { id, ids } = await planned(5, (n: number) => (n === 3 ? { question: 'What is odd here?' } : {}));
    judging.answer = async (request) =>
      request.kind === 'rubric' && request.question.includes('odd') ? unjudged('judge_reply_invalid') : judged(request);
    await deliverAll();
    let rounds = 1;
    while ((await state(id)).progress.chunks.done === 0) {
      await pass(id, HOUR_MS / 4);
      await deliverAll();
      rounds++;
    }
    expect(rounds).toBe(MAX_LINE_TRIES);
    const { output, error } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(4);
    expect(error[0]).toMatchObject({
      response: { status_code: 503, body: { reason: 'judge_reply_invalid' } },
      error: { code: 'judge_reply_invalid' },
    });
  });

  it('that was down before gives no judgment once: the line has all its tries left', async () => {
    const { id, ids } = await planned(1);
    for (let round = 0; round < MAX_LINE_TRIES + 1; round++) {
      judging.answer = async () => unjudged(round < MAX_LINE_TRIES ? 'judge_unreachable' : 'judge_reply_invalid');
      await deliverAll();
      await pass(id, HOUR_MS / 4);
    }
    judging.answer = judged;
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(1);
  });

  it.each([
    ['after all tries', 'judge_reply_invalid', true],
    ['at once where another try makes no sense', 'judge_prompt_too_long', false],
  ] as const)('lost with on_judge_failure "null": reward null %s', async (_when, reason, retryable) => {
    const { id, ids } = await planned(2, { on_judge_failure: 'null' });
    judging.answer = async () => unjudged(reason, { retryable });
    const batch = await finish(id);
    const { output } = await linesOnce(batch, ids);
    expect(output.map(({ response }) => [response?.status_code, response?.body['reward']])).toEqual([
      [200, null],
      [200, null],
    ]);
  });

  it('that stays away to the end of the window: the last round says so, line by line', async () => {
    const { id, ids } = await planned(2);
    judging.answer = async () => unjudged('judge_unreachable', { retry_after_s: 100 * 3600 });
    await deliverAll();
    await pass(id, 24 * HOUR_MS - 100_000);
    const { error } = await linesOnce(await finish(id), ids);
    expect(error.map((one) => one.error?.code)).toEqual(['judge_unreachable', 'judge_unreachable']);
  });
});

describe('the window ends', () => {
  it('with some chunks done: what is left is batch_expired, each once', async () => {
    const { id, ids } = await planned(LINES);
    await deliver(messages.shift());
    messages.length = 0;
    await pass(id, 24 * HOUR_MS);
    const batch = await finish(id);
    expect(batch).toMatchObject({ status: 'expired', expired_at: expect.any(Number), errors: null });
    const { output, error } = await linesOnce(batch, ids);
    expect(output).toHaveLength(CHUNK_LINES);
    expect(new Set(error.map((one) => one.error?.code))).toEqual(new Set(['batch_expired']));
  });

  it('during validation', async () => {
    const { id } = await begin(3);
    const late = messages.splice(0);
    await pass(id, 24 * HOUR_MS);
    for (const one of late) await deliver(one);
    expect(await finish(id)).toMatchObject({ status: 'expired', request_counts: { total: 0 }, output_file_id: null });
  });

  it('while chunks are held, which end well', async () => {
    const { id, ids } = await planned(LINES);
    const gate = Promise.withResolvers<void>();
    judging.answer = async (request) => {
      await gate.promise;
      return judged(request);
    };
    vi.setSystemTime(Date.now() + 24 * HOUR_MS - CHUNK_WORK_MS / 2);
    const held = deliver(message(id, 1));
    await vi.waitFor(() => expect(judging.calls).toBeGreaterThan(0), 20_000);
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      // As if the lease had just been extended.
      storage.sql.exec("UPDATE tasks_v1 SET due_at = ? WHERE state = 'held'", Date.now() + 25 * HOUR_MS);
    });
    await pass(id, CHUNK_WORK_MS / 2);
    expect(await state(id)).toMatchObject({ status: 'in_progress' });
    expect(await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0)).toBeNull();
    gate.resolve();
    await held;
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(CHUNK_LINES);
  });

  it('during finalizing: the batch is completed', async () => {
    const { id, ids } = await planned(3);
    await deliver(messages.shift());
    expect(await state(id)).toMatchObject({ status: 'finalizing' });
    messages.length = 0;
    await pass(id, 25 * HOUR_MS);
    const batch = await finish(id);
    expect(batch.status).toBe('completed');
    await linesOnce(batch, ids);
  });
});

describe('a cancellation', () => {
  it('during validation ends the batch', async () => {
    const { id } = await begin(3);
    expect(await batchOf(await cancel(id))).toMatchObject({ status: 'cancelled', cancelled_at: expect.any(Number) });
    await deliverAll();
    expect(await state(id)).toMatchObject({
      status: 'cancelled',
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    // A repeated call, whose first answer was lost, gets the same answer.
    expect(await batchOf(await cancel(id))).toMatchObject({ status: 'cancelled' });
  });

  it('keeps what is done, waits for what is held, and names the rest', async () => {
    const { id, ids } = await planned(LINES);
    await deliver(messages.shift());
    const gate = Promise.withResolvers<void>();
    judging.answer = async (request) => {
      await gate.promise;
      return judged(request);
    };
    const held = deliver(messages.shift());
    await vi.waitFor(() => expect(judging.calls).toBeGreaterThan(CHUNK_LINES), 20_000);
    expect(await batchOf(await cancel(id))).toMatchObject({ status: 'cancelling', cancelling_at: expect.any(Number) });
    expect(await batchOf(await cancel(id))).toMatchObject({ status: 'cancelling' });
    await deliverAll();
    gate.resolve();
    await held;
    const batch = await finish(id);
    expect(batch).toMatchObject({ status: 'cancelled', finalizing_at: expect.any(Number) });
    const { output, error } = await linesOnce(batch, ids);
    expect(output).toHaveLength(2 * CHUNK_LINES);
    expect(new Set(error.map((one) => one.error?.code))).toEqual(new Set(['batch_cancelled']));
  });

  it.each([
    ['a cancellation', 'batch_cancelled', (id: string) => cancel(id)],
    ['the end of the window', 'batch_expired', (id: string) => pass(id, 24 * HOUR_MS)],
  ])('keeps the finished lines of a chunk whose other lines wait for their judge: %s', async (_end, code, end) => {
    const odd = (n: number) => n % 4 === 1;
    const { id, ids } = await planned(LINES, (n: number) => (odd(n) ? { question: 'What is odd here?' } : {}));
    judging.answer = async (request) =>
      request.kind === 'rubric' && request.question.includes('odd') ? unjudged('judge_unreachable') : judged(request);
    await deliverAll();
    messages.length = 0;
    await end(id);
    const { output, error } = await linesOnce(await finish(id), ids);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids.filter((_, n) => !odd(n)));
    expect(error.map(({ custom_id }) => custom_id)).toEqual(ids.filter((_, n) => odd(n)));
    expect(new Set(error.map((one) => one.error?.code))).toEqual(new Set([code]));
  });

  it.each(['again', 'broke', 'scored'] as const)('is over before a lost consumer reports "%s"', async (kind) => {
    const { id, ids } = await planned(LINES);
    const claim = await objectOf(id).claim(BATCH_MESSAGE_VERSION, 0);
    if (claim === null) throw new Error('nothing to claim');
    messages.length = 0;
    await cancel(id);
    await pass(id, TASK_LEASE_MS);
    expect(await state(id)).toMatchObject({ status: 'finalizing' });
    const reports = {
      again: { kind: 'again', retry_after_s: null, tries: {}, completed: 0, failed: 0 },
      broke: { kind: 'broke', reason: 'internal' },
      scored: { kind: 'scored', completed: CHUNK_LINES, failed: 0 },
    } as const;
    await objectOf(id).report(0, claim.token, reports[kind]);
    expect(messages).toEqual([message(id, FINALISE)]);
    const { error } = await linesOnce(await finish(id), ids);
    expect(error).toHaveLength(LINES);
    // And after the end.
    await objectOf(id).report(0, claim.token, reports[kind]);
    await linesOnce(await state(id), ids);
  });

  it('comes too late for a batch that is finalizing', async () => {
    const { id, ids } = await planned(3);
    await deliver(messages.shift());
    await problemOf(await cancel(id), 409, 'batch_is_over');
    await linesOnce(await finish(id), ids);
  });

  it('ends dead letters', async () => {
    const { id, ids } = await planned(3);
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec("UPDATE tasks_v1 SET state = 'dead' WHERE n >= 0");
    });
    await cancel(id);
    expect(await (await redrive(id)).json()).toMatchObject({ redriven: 0 });
    const { error } = await linesOnce(await finish(id), ids);
    expect(error).toHaveLength(3);
  });
});

describe('the input file is removed', () => {
  it('before validation: the batch fails and says why', async () => {
    const { id } = await begin(3);
    await files.remove((await state(id)).input_file_id);
    expect(await finish(id)).toMatchObject({ status: 'failed', errors: { data: [{ code: 'file_not_found' }] } });
  });

  it('while it is scored: what was scored is kept, the batch ends by itself and says how many are lost', async () => {
    const { id, ids } = await planned(LINES);
    await deliver(messages.shift());
    await files.remove((await state(id)).input_file_id);
    const batch = await finish(id);
    expect(batch).toMatchObject({
      status: 'failed',
      request_counts: { total: LINES, completed: CHUNK_LINES, failed: LINES - CHUNK_LINES },
      errors: { data: [{ code: 'file_not_found', param: 'input_file_id' }] },
      dead_letters: [],
    });
    const output = await outputLines(batch.output_file_id);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids.slice(0, CHUNK_LINES));
  });

  it('after a cancellation', async () => {
    const { id } = await planned(LINES);
    await deliver(messages.shift());
    await cancel(id);
    await files.remove((await state(id)).input_file_id);
    expect(await finish(id)).toMatchObject({ status: 'cancelled', errors: { data: [{ code: 'file_not_found' }] } });
  });
});

describe('after the end', () => {
  it('the results of the chunks are removed, the files stay', async () => {
    const { id, ids } = await planned(LINES);
    const batch = await finish(id);
    const left = async () => (await env.FILES.list({ prefix: `batches/default/${id}/` })).objects.length;
    expect(await left()).toBe(3);
    faults.files = failing('delete', 1, R2_FAILED);
    await pass(id, CHUNK_RESULTS_KEPT_MS);
    expect(await left()).toBe(3);
    await pass(id, BATCH_WATCH_MS);
    expect(await left()).toBe(0);
    await linesOnce(batch, ids);
    // Nothing is left to wake up for.
    const alarm = await runInDurableObject(objectOf(id), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeNull();
  });

  it('of a batch that never was, nothing is kept', async () => {
    const unknown = 'batch_00000000000000000000000000000000';
    await problemOf(await get(unknown), 404, 'batch_not_found');
    await problemOf(await cancel(unknown), 404, 'batch_not_found');
    await problemOf(await redrive(unknown), 404, 'batch_not_found');
    await deliver(message(unknown, 0));
    const left = await runInDurableObject(objectOf(unknown), async (_, { storage }) => ({
      alarm: await storage.getAlarm(),
      tables: storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE '%_v1'").toArray(),
    }));
    expect(left).toEqual({ alarm: null, tables: [] });
  });

  it('the results of a chunk that the previous version stored are used', async () => {
    const { id, ids } = await planned(2);
    const texts = ids.map((custom_id) => `${JSON.stringify({ custom_id, response: { body: { reward: 7 } } })}\n`);
    await env.FILES.put(`batches/default/${id}/chunks/0`, texts.join(''), {
      customMetadata: { v: '1', output_bytes: String(texts.join('').length), completed: '2', failed: '0' },
    });
    const batch = await finish(id);
    await linesOnce(batch, ids);
    expect(await rewardsOf(batch.output_file_id)).toEqual([7, 7]);
    expect(judging.calls).toBe(0);
  });

  it('a batch that the previous version created goes on', async () => {
    const { id, ids } = await planned(1);
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec("UPDATE batch_v1 SET record = json_remove(json_set(record, '$.batch.v', 1), '$.batch.scopes')");
    });
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(1);
  });

  it('a batch of a later version is left alone while the deployment is rolled back, and goes on afterwards', async () => {
    const { id, ids } = await planned(1);
    const setVersion = (v: number) =>
      runInDurableObject(objectOf(id), (_, { storage }) => {
        storage.sql.exec("UPDATE batch_v1 SET record = json_set(record, '$.v', ?)", v);
      });
    await setVersion(9);
    expect(await problemOf(await get(id), 503, 'storage_failed')).toMatchObject({ retryable: true });
    await problemOf(await cancel(id), 503, 'storage_failed');
    for (let wakes = 0; wakes < 3; wakes++) {
      await runInDurableObject(objectOf(id), (batch) => batch.alarm());
      expect(await runInDurableObject(objectOf(id), (_, { storage }) => storage.getAlarm())).not.toBeNull();
    }
    await setVersion(1);
    const { output } = await linesOnce(await finish(id), ids);
    expect(output).toHaveLength(1);
  });

  it('the list leaves out what a later version wrote in a form of its own, and ignores fields that it added', async () => {
    const made = await state((await planned(1)).id);
    const [known, added, unknown] = ['batch_k', 'batch_l', 'batch_m'].map((id, n) => {
      return { ...made, id, created_at: made.created_at + 60 + n };
    });
    if (known === undefined || added === undefined || unknown === undefined) throw new Error('three are made');
    for (const one of [known, added, unknown]) await new BatchList(env.DB, 'default').put(one);
    const change = (id: string, to: string) =>
      env.DB.prepare(`UPDATE batches SET snapshot = ${to} WHERE id = ?`).bind(id).run();
    await change(added.id, "json_set(snapshot, '$.region', 'p', '$.batch.region', 'p')");
    await change(unknown.id, "json_set(snapshot, '$.v', 2)");
    const page = batchListSchema.parse(await (await send(new Request(`${ORIGIN}/v1/batches?limit=2`))).json());
    expect(page.data.map(({ id }) => id).slice(0, 2)).toEqual([added.id, known.id]);
    await change(added.id, "json_set(snapshot, '$.batch.status', 'dreaming')");
    const again = batchListSchema.parse(await (await send(new Request(`${ORIGIN}/v1/batches?limit=100`))).json());
    const ids = again.data.map(({ id }) => id);
    expect([ids.includes(known.id), ids.includes(added.id), ids.includes(unknown.id)]).toEqual([true, false, false]);
  });

  it('fields that a later version added to a batch are kept', async () => {
    const { id, ids } = await planned(1);
    await runInDurableObject(objectOf(id), (_, { storage }) => {
      storage.sql.exec("UPDATE batch_v1 SET record = json_set(record, '$.priority', 'high', '$.batch.region', 'p')");
    });
    await linesOnce(await finish(id), ids);
    const kept = await runInDurableObject(objectOf(id), (_, { storage }) =>
      storage.sql
        .exec("SELECT record ->> '$.priority' AS priority, record ->> '$.batch.region' AS region FROM batch_v1")
        .one(),
    );
    expect(kept).toEqual({ priority: 'high', region: 'p' });
  });
});
