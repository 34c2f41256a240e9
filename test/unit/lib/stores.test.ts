/** The stores of the front door: bounded memory, and a file that survives the process. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryStore } from '../../../lib/memory-store.ts';
import { fileStore } from '../../../lib/node.ts';
import { describeJudgmentStore, sampleJudgment } from '../../contract/judgment-store.case.ts';

const folder = mkdtempSync(join(tmpdir(), 'citeward-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = (): string => join(folder, `${files++}.jsonl`);

describe('memoryStore', () => {
  it('forgets the oldest record beyond its limit', async () => {
    const store = memoryStore({ maxRecords: 2 });
    const judgments = await Promise.all([1, 2, 3].map((number) => sampleJudgment(number)));
    for (const judgment of judgments) await store.put(judgment);
    const found = await store.get(judgments.map(({ key }) => key));
    expect([...found.keys()]).toEqual(judgments.slice(1).map(({ key }) => key));
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a limit of %s', (maxRecords) => {
    expect(() => memoryStore({ maxRecords })).toThrow(/maxRecords: expected a positive integer/);
  });
});

describe('fileStore', () => {
  it('returns what an earlier process wrote', async () => {
    const path = newFile();
    const judgment = await sampleJudgment(1);
    await (await fileStore(path)).put(judgment);
    const found = await (await fileStore(path)).get([judgment.key]);
    expect(found.get(judgment.key)).toEqual({ ok: true, judgment });
  });

  it('reads what `citeward judgments export` writes, and says which line is no record', async () => {
    const path = newFile();
    const judgment = await sampleJudgment(1);
    writeFileSync(path, `${JSON.stringify(judgment)}\n{"end":{"v":1,"judgments":1,"missing":0}}\n`);
    expect((await (await fileStore(path)).get([judgment.key])).size).toBe(1);
    writeFileSync(path, `${JSON.stringify(judgment)}\n{"key":"x"}\n${JSON.stringify(judgment)}\n`);
    await expect(fileStore(path)).rejects.toThrow(/line 2: .*not a judgment/);
  });

  it('drops a last line that a crash cut off, and goes on after it', async () => {
    const path = newFile();
    const [first, second] = await Promise.all([sampleJudgment(1), sampleJudgment(2)]);
    await (await fileStore(path)).put(first);
    appendFileSync(path, JSON.stringify(second).slice(0, 40));
    const store = await fileStore(path);
    expect((await store.get([first.key, second.key])).size).toBe(1);
    await store.put(second);
    expect((await (await fileStore(path)).get([first.key, second.key])).size).toBe(2);
  });

  it('writes concurrent puts as whole lines', async () => {
    const path = newFile();
    const store = await fileStore(path);
    const judgments = await Promise.all(Array.from({ length: 20 }, (_, number) => sampleJudgment(number)));
    await Promise.all(judgments.map((judgment) => store.put(judgment)));
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(20);
  });

  it('reports a failed write as a failure', async () => {
    const store = await fileStore(join(folder, 'missing', 'file.jsonl'));
    const receipt = await store.put(await sampleJudgment(1));
    expect(receipt).toMatchObject({ ok: false, failure: { reason: 'judgment_store_failed' } });
  });
});

// A file holds records by their own key, so nothing can be planted under another one.
const notPlantable = async (): Promise<void> => {
  throw new Error('a file cannot hold a record under another key');
};
describeJudgmentStore(
  'file',
  async () => {
    const path = newFile();
    return { store: await fileStore(path), reopen: () => fileStore(path), plant: notPlantable };
  },
  { plantable: false },
);
