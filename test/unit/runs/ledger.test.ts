/** The content digest of a rollout, the rank of incomplete recordings, and the lines of a run file. */
import { describe, expect, it } from 'vitest';
import type { RefinerFacts } from '../../../src/families/refiner/facts.ts';
import { contentDigests } from '../../../src/runs/content-digest.ts';
import { incompletenessOf } from '../../../src/runs/recorded-score.ts';
import { readRunLine, writeRunLine } from '../../../src/runs/run-file.ts';

const ROLLOUT = { question: 'q', response: 'r', sources: [] };
const WISHES = { recipe: 'a'.repeat(64), judge: undefined, replicate: 0 };

async function contentOf(changes: object = {}, wishes: object = {}): Promise<string | undefined> {
  return contentDigests([{ ...ROLLOUT, ...changes }], { ...WISHES, ...wishes })[0];
}

describe('the content digest', () => {
  it('changes with the rollout, its recipe, its judge and its replicate', async () => {
    const digests = await Promise.all([
      contentOf(),
      contentOf({ response: 'other' }),
      contentOf({}, { recipe: 'b'.repeat(64) }),
      contentOf({}, { judge: 'one' }),
      contentOf({}, { judge: ['one', 'two'] }),
      contentOf({}, { judge: ['two', 'one'] }),
      contentOf({}, { replicate: 1 }),
    ]);
    expect(new Set(digests).size).toBe(digests.length);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await contentOf()).toBe(digests[0]);
    expect(await contentOf({}, { judge: ['one'] })).toBe(digests[3]);
  });
});

describe('the rank of a recording', () => {
  const facts = (rubric: boolean, citation: boolean): RefinerFacts => ({
    v: 1,
    family: 'refiner',
    has_answer: true,
    format: { answer_only: 1, full: 1 },
    finish_reason: null,
    rubric: rubric ? { status: 'scored', observed: [] } : { status: 'unscored', reason: 'judge_timeout' },
    citation: citation ? { status: 'scored', observed: [] } : { status: 'unscored', reason: 'judge_timeout' },
  });

  it('falls with each judged value, and most with a reward', () => {
    const order = [
      incompletenessOf(facts(true, true), 1),
      incompletenessOf(facts(true, false), 0),
      incompletenessOf(facts(false, false), 0),
      incompletenessOf(facts(true, true), null),
      incompletenessOf(facts(false, false), null),
    ];
    expect(order[0]).toBe(0);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(new Set(order).size).toBe(order.length);
  });
});

describe('a line of a run file', () => {
  it('is read back as written, and other lines are refused', () => {
    const line = { kind: 'recipe', digest: 'a'.repeat(64), name: null, recipe: { family: 'refiner' } } as const;
    expect(readRunLine(writeRunLine(line))).toEqual({ ok: true, value: line });
    expect(readRunLine(writeRunLine({ kind: 'end', rollouts: 3 }))).toEqual({
      ok: true,
      value: { kind: 'end', rollouts: 3 },
    });
    expect(readRunLine('{')).toEqual({ ok: false, error: 'line_not_json' });
    for (const text of ['{}', '[]', '{"end":{"v":2,"rollouts":0}}', '{"end":{"v":1,"rollouts":0},"run":{}}']) {
      expect(readRunLine(text), text).toEqual({ ok: false, error: 'line_invalid' });
    }
  });
});
