/** The form of keys and of the value of a partition: fixtures of what is stored stay readable. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JudgmentPreimage } from '../../../src/judgments/judgment.ts';
import { judgmentKey, judgmentPreimage, partitionOf } from '../../../src/judgments/key.ts';
import { readPartition } from '../../../src/judgments/record.ts';

const JUDGE = { model: 'm', template: 't', sampling: null };
const EVIDENCE = { question: 'How long is the Aare?', sources: [{ id: 'A1', text: 'The Aare is 288 km long.' }] };
const ANSWER = '<snippet id=A1>The Aare is 288 km long</snippet>.';

function rubricAbout(answer: string, replicate = 0, description = 'States the length'): JudgmentPreimage {
  return judgmentPreimage({ kind: 'rubric', ...EVIDENCE, criteria: [{ description }], answer }, JUDGE, replicate);
}

const partitionAbout = (...about: Parameters<typeof rubricAbout>): string =>
  partitionOf(judgmentKey(rubricAbout(...about)));

describe('a partition', () => {
  it('has all judgments of one model about one answer, whatever is asked', () => {
    const claims = [{ claim: 0, text: 'The Aare is 288 km long', sources: [0] }];
    const request = { kind: 'citations', ...EVIDENCE, claims, statements: [] } as const;
    const citations = judgmentKey(judgmentPreimage(request, JUDGE, 0, new Map(), ANSWER));
    expect(partitionOf(citations)).toBe(partitionAbout(ANSWER));
    expect(partitionAbout(ANSWER, 0, 'Names the source')).toBe(partitionAbout(ANSWER));
    expect(citations).not.toBe(judgmentKey(rubricAbout(ANSWER)));
  });

  it('has no judgments of another answer, replicate, question or model', () => {
    const preimage = rubricAbout(ANSWER);
    const others = [
      rubricAbout(`${ANSWER} `),
      rubricAbout(ANSWER, 1),
      { ...preimage, judge: { ...JUDGE, model: 'n' } },
      { ...preimage, inputs: { ...preimage.inputs, question: 'q'.repeat(64) } },
    ];
    const partitions = [preimage, ...others].map((one) => partitionOf(judgmentKey(one)));
    expect(new Set(partitions).size).toBe(partitions.length);
  });

  it('of a judgment without a question is its own, so equal short answers do not meet in one', () => {
    const partitions = ['1', '2'].map((reference) =>
      partitionOf(judgmentKey(judgmentPreimage({ kind: 'equivalence', answer: '0', reference }, JUDGE, 0))),
    );
    expect(new Set(partitions).size).toBe(2);
  });

  it('is read as it was first written, each record under its key', () => {
    const file = resolve(import.meta.dirname, '../../contract/judgment-records/partition-v1.jsonl');
    const text = readFileSync(file, 'utf8');
    const keys = [...text.matchAll(/"key":"([0-9a-f]{64})"/g)].map(([, key = '']) => key);
    const partition = readPartition(text);
    expect([partition.size, keys.length, new Set(keys.map(partitionOf)).size]).toEqual([2, 2, 1]);
    expect(keys.map((key) => partition.get(key))).toMatchObject(keys.map((key) => ({ ok: true, judgment: { key } })));
    expect(partition.get('0'.repeat(64))).toBeNull();
  });

  it('of an unknown form has no usable record', () => {
    for (const text of ['', '[]', '{"v":2,"judgments":[]}', '{"v":1,"judgments":[1]}']) {
      expect(readPartition(text).get('0'.repeat(64))).toMatchObject({
        ok: false,
        failure: { reason: 'judgment_record_invalid' },
      });
    }
  });
});
