import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  createKvJudgmentStore,
  createRecentJudgments,
  JUDGMENT_KV_PREFIX,
  type JudgmentKv,
} from '../../lib/kv-store.ts';
import { FaultyKv } from '../contract/faulty-kv.ts';
import { describeJudgmentStore, type StoreHarness, sampleJudgment } from '../contract/judgment-store.case.ts';

function harnessOf(kv: JudgmentKv): StoreHarness {
  const open = () => createKvJudgmentStore(kv, createRecentJudgments({ entries: 1_000, chars: 1_000_000 }));
  return { store: open(), reopen: open, plant: (key, text) => kv.put(JUDGMENT_KV_PREFIX + key, text) };
}

describeJudgmentStore('KV in workerd', async () => {
  const { keys } = await env.JUDGMENTS.list();
  await Promise.all(keys.map(({ name }) => env.JUDGMENTS.delete(name)));
  return harnessOf(env.JUDGMENTS);
});

describeJudgmentStore('the fault-injecting double, without a fault', async () => harnessOf(new FaultyKv()));

describe('KV store under faults', () => {
  it('says that a read failed instead of missing, and recovers', async () => {
    const kv = new FaultyKv();
    const { store, reopen } = harnessOf(kv);
    const judgment = await sampleJudgment(1);
    await store.put(judgment);
    kv.fault = 'reads_fail';
    const cold = await reopen();
    expect((await cold.get([judgment.key])).get(judgment.key)).toMatchObject({
      ok: false,
      failure: { reason: 'judgment_store_failed', retryable: true },
    });
    kv.fault = 'none';
    expect((await cold.get([judgment.key])).get(judgment.key)).toEqual({ ok: true, judgment });
  });

  it('does not remember what could not be written', async () => {
    const kv = new FaultyKv();
    const { store } = harnessOf(kv);
    const judgment = await sampleJudgment(2);
    kv.fault = 'writes_fail';
    expect(await store.put(judgment)).toMatchObject({ ok: false, failure: { reason: 'judgment_store_failed' } });
    expect((await store.get([judgment.key])).size).toBe(0);
  });

  it('is told of a lost acknowledgement as of a failed write, and finds the record later', async () => {
    const kv = new FaultyKv();
    const { store } = harnessOf(kv);
    const judgment = await sampleJudgment(3);
    kv.fault = 'lost_acknowledgement';
    expect((await store.put(judgment)).ok).toBe(false);
    kv.fault = 'none';
    expect((await store.get([judgment.key])).get(judgment.key)).toEqual({ ok: true, judgment });
  });

  it('serves what this isolate has seen although KV misses it', async () => {
    const kv = new FaultyKv();
    const { store, reopen } = harnessOf(kv);
    const judgment = await sampleJudgment(4);
    await store.put(judgment);
    kv.fault = 'stale_miss';
    expect((await store.get([judgment.key])).get(judgment.key)?.ok).toBe(true);
    expect((await (await reopen()).get([judgment.key])).size).toBe(0);
  });
});

describe('recent judgments', () => {
  it('drops the least recently used beyond its entries', async () => {
    const recent = createRecentJudgments({ entries: 2, chars: 1_000 });
    const [a, b, c] = await Promise.all([sampleJudgment(1), sampleJudgment(2), sampleJudgment(3)]);
    recent.add(a, 10);
    recent.add(b, 10);
    expect(recent.get(a.key)).toBe(a);
    recent.add(c, 10);
    expect(recent.get(b.key)).toBeUndefined();
    expect(recent.get(a.key)).toBe(a);
    expect(recent.get(c.key)).toBe(c);
  });

  it('has a judgment for an hour, as it may have expired from KV', async () => {
    let now = 0;
    const recent = createRecentJudgments({ entries: 2, chars: 1_000 }, () => now);
    const judgment = await sampleJudgment(1);
    recent.add(judgment, 10);
    now = 3_599_999;
    expect(recent.get(judgment.key)).toBe(judgment);
    now = 3_600_000;
    expect(recent.get(judgment.key)).toBeUndefined();
    recent.add(judgment, 10);
    expect(recent.get(judgment.key)).toBe(judgment);
  });

  it('stays within its size, counting a replaced entry once and keeping out what can never fit', async () => {
    const recent = createRecentJudgments({ entries: 10, chars: 100 });
    const [a, b, c] = await Promise.all([sampleJudgment(1), sampleJudgment(2), sampleJudgment(3)]);
    recent.add(a, 60);
    recent.add(a, 40);
    recent.add(b, 60);
    expect(recent.get(a.key)).toBe(a);
    recent.add(c, 101);
    expect(recent.get(c.key)).toBeUndefined();
    recent.add(c, 50);
    expect(recent.get(b.key)).toBeUndefined();
    expect(recent.get(a.key)).toBe(a);
  });
});
