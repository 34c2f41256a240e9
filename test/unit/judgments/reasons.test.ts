/** The reasons of a judge's reply: read with the verdicts, bounded, and no part of the record. */
import { describe, expect, it } from 'vitest';
import { createModelJudge, readReply } from '../../../src/judgments/model-judge.ts';
import { obtainJudgments } from '../../../src/judgments/obtain.ts';
import { boundedReasons, MAX_JUDGMENT_REASON_CHARS, type ReasonStore } from '../../../src/judgments/reasons.ts';
import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';

const EVIDENCE = { question: 'How long?', sources: [{ id: 'S1', text: 'The Aare is 288 kilometres long.' }] };

describe('a reply has the reason of', () => {
  it.each([
    [
      'each criterion',
      { kind: 'rubric', ...EVIDENCE, criteria: [{ description: 'a' }, { description: 'b' }], answer: 'x' } as const,
      { c1: { reason: 'one', score: 2 }, c2: { reason: 'two', score: 0 } },
      ['one', 'two'],
    ],
    [
      'each claim, then each statement',
      {
        kind: 'citations',
        ...EVIDENCE,
        claims: [{ claim: 3, text: 'c', sources: [0] }],
        statements: [{ statement: 1, text: 's' }],
      } as const,
      {
        u1: { reason: 'two', needs_citation: true },
        k1: { reason: 'one', quote: '', support: 'full', relevant: [true] },
      },
      ['one', 'two'],
    ],
    [
      'the outcome',
      { kind: 'outcome', question: 'q', reference: 'r', answer: 'a' } as const,
      { reason: 'one', correct: true },
      ['one'],
    ],
    [
      'each statement',
      { kind: 'statements', ...EVIDENCE, statements: ['a', 'b'] } as const,
      { s2: { reason: 'two', supported: true }, s1: { reason: 'one', supported: false } },
      ['one', 'two'],
    ],
  ])('%s', (_name, request, reply, reasons) => {
    expect(readReply(request, JSON.stringify(reply))).toMatchObject({ ok: true, reasons });
  });
});

it('bounds each reason and all of a judgment', () => {
  expect(boundedReasons(['x'.repeat(1_000)])).toEqual(['x'.repeat(400)]);
  expect(boundedReasons([`${'x'.repeat(399)}😀`])).toEqual([`${'x'.repeat(399)}\ufffd`]);
  expect(boundedReasons(Array(100).fill('x'.repeat(400)))).toHaveLength(MAX_JUDGMENT_REASON_CHARS / 400);
});

/** A store that keeps the reasons of new judgments in a map. */
function storeIn(kept: Map<string, readonly string[]>): ReasonStore {
  return {
    get: async () => new Map(),
    put: async (made) => {
      for (const [key, reasons] of made) kept.set(key, reasons);
    },
  };
}

it('a judgment has the same record whether or not its reasons are kept', async () => {
  const request = { kind: 'outcome', question: 'q', reference: 'r', answer: 'a' } as const;
  const text = JSON.stringify({ reason: 'it agrees', correct: true });
  const backend = {
    name: 'b',
    model: 'm',
    context_tokens: null,
    complete: async () => ({ ok: true, completion: { text, model: 'm', usage: null } }) as const,
  };
  const judge = createModelJudge(backend, () => 0);
  const kept = new Map<string, readonly string[]>();
  const obtain = async (reasons: boolean) => {
    const records = new Map<string, string>();
    const { judgments } = await obtainJudgments([{ request, cited: new Set<number>() }], {
      judge: { ok: true, judge },
      store: createMemoryJudgmentStore(records),
      mode: 'use',
      replicate: 0,
      deadline_ms: 1_000,
      now: () => '2026-11-23T12:00:00.000Z',
      elapsed: () => 0,
      ...(reasons ? { reasons: storeIn(kept) } : {}),
    });
    return { records: [...records], judgment: judgments[0] };
  };
  const [plain, withReasons] = [await obtain(false), await obtain(true)];
  expect(withReasons.records).toEqual(plain.records);
  expect(plain.judgment).not.toHaveProperty('reasons');
  expect(withReasons.judgment?.reasons).toEqual({
    status: 'kept',
    entries: [{ of: 'answer', index: 0, reason: 'it agrees' }],
    left_out: 0,
  });
  expect([...kept.values()]).toEqual([['it agrees']]);
});
