/**
 * The contract of every judgment store. test/unit runs it against the memory store, test/functions against the KV store
 * in workerd.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { judgmentKey, judgmentPreimage } from '../../src/judgments/key.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';

export type StoreHarness = {
  readonly store: JudgmentStore;
  /** Opens the same data without a cache, like another isolate or process. */
  readonly reopen: () => JudgmentStore | Promise<JudgmentStore>;
  /** Writes raw text under a key, bypassing the store. */
  readonly plant: (key: string, text: string) => Promise<void>;
};

/** A judgment of one criterion. Different numbers give different keys. */
export async function sampleJudgment(number: number, score: 0 | 1 | 2 = 2): Promise<Judgment> {
  const preimage = judgmentPreimage(
    { kind: 'rubric', question: `question ${number}`, sources: [], criteria: [], answer: 'an answer' },
    { model: 'sample', template: 't1', sampling: { temperature: 0 } },
    0,
  );
  return {
    v: 2,
    key: judgmentKey(preimage),
    preimage,
    verdicts: { kind: 'rubric', criteria: [{ key: 'c1', score }] },
    usage: { prompt_tokens: 10, completion_tokens: 2 },
    judged_at: '2026-11-21T00:00:00.000Z',
    issuer: null,
  };
}

/** Defines the suite. `open` gives an empty store for each test; `plant` is needed where `plantable` is set. */
export function describeJudgmentStore(
  name: string,
  open: () => Promise<StoreHarness>,
  { plantable = true }: { readonly plantable?: boolean } = {},
): void {
  describe(`judgment store: ${name}`, () => {
    let harness: StoreHarness;
    beforeEach(async () => {
      harness = await open();
    });

    it('misses what was never put', async () => {
      const { key } = await sampleJudgment(1);
      expect((await harness.store.get([key])).size).toBe(0);
      expect((await harness.store.get([])).size).toBe(0);
    });

    it('returns what was put, also to another isolate', async () => {
      const judgment = await sampleJudgment(2);
      expect(await harness.store.put(judgment)).toEqual({ ok: true });
      for (const store of [harness.store, await harness.reopen()]) {
        expect((await store.get([judgment.key])).get(judgment.key)).toEqual({ ok: true, judgment });
      }
    });

    it('reads more keys at once than one platform call takes, hits and misses mixed, repeated ones once', async () => {
      const judgments = await Promise.all(Array.from({ length: 130 }, (_, number) => sampleJudgment(1_000 + number)));
      const put = judgments.filter((_, position) => position % 2 === 0);
      await Promise.all(put.map((judgment) => harness.store.put(judgment)));
      const keys = judgments.map(({ key }) => key);
      const found = await (await harness.reopen()).get([...keys, ...keys]);
      expect(found.size).toBe(put.length);
      for (const judgment of put) expect(found.get(judgment.key)).toEqual({ ok: true, judgment });
    });

    it('keeps the later of two judgments of one key', async () => {
      await harness.store.put(await sampleJudgment(3, 0));
      const later = await sampleJudgment(3, 2);
      await harness.store.put(later);
      for (const store of [harness.store, await harness.reopen()]) {
        expect((await store.get([later.key])).get(later.key)).toEqual({ ok: true, judgment: later });
      }
    });

    if (!plantable) return;
    it('never returns a record that is not what its key says, and serves its replacement', async () => {
      const judgment = await sampleJudgment(4);
      const other = await sampleJudgment(5);
      const planted: Record<string, string> = {
        'not JSON': '{"v":1,',
        'no judgment': '[]',
        'another version': JSON.stringify({ ...judgment, v: 3 }),
        'another field': JSON.stringify({ ...judgment, note: 'x' }),
        'a score off the scale': JSON.stringify({
          ...judgment,
          verdicts: { kind: 'rubric', criteria: [{ key: 'c1', score: 3 }] },
        }),
        'the record of another key': JSON.stringify(other),
        'a preimage that does not hash to the key': JSON.stringify({ ...judgment, preimage: other.preimage }),
        'verdicts of another kind': JSON.stringify({
          ...judgment,
          verdicts: { kind: 'citations', claims: [], statements: [] },
        }),
      };
      for (const [what, text] of Object.entries(planted)) {
        await harness.plant(judgment.key, text);
        const found = (await (await harness.reopen()).get([judgment.key])).get(judgment.key);
        expect(found, what).toMatchObject({ ok: false, failure: { reason: 'judgment_record_invalid' } });
      }
      await harness.store.put(judgment);
      expect((await (await harness.reopen()).get([judgment.key])).get(judgment.key)).toEqual({ ok: true, judgment });
    });
  });
}
