/**
 * The desk's policy without a desk: slots, breaker, failure memory, prompt memory. Plain classes under a test clock.
 */
import { describe, expect, it, vi } from 'vitest';
import { CallConnections, ConnectionGate } from '../../../functions/desk/connection-gate.ts';
import { layoutOf, ownerOf, ownersOf, possibleOwners } from '../../../functions/desk/desk-layout.ts';
import { CallSlots, PromptMemory, promptBytes, type SlotTicket, shareOfSlots } from '../../../service/desk/capacity.ts';
import { CircuitBreaker, evidenceOf } from '../../../service/desk/circuit-breaker.ts';
import { FailureMemory } from '../../../service/desk/failure-memory.ts';
import type { CallClass } from '../../../src/judgments/desk.ts';
import { JUDGE_FAILURE_REASONS, type JudgeFailure } from '../../../src/judgments/protocol/failure.ts';

/** Slots that note who was granted, in order. */
function slotsOf(slots: number, liveCallsPerBatchTurn = 1_000) {
  const granted: string[] = [];
  const calls = new CallSlots({ slots, liveReserve: 1 / 4, liveCallsPerBatchTurn });
  const enter = (name: string, callClass: CallClass): SlotTicket => {
    const ticket = { class: callClass, grant: () => granted.push(name) };
    calls.enter(ticket);
    return ticket;
  };
  return { calls, granted, enter };
}

describe('slots', () => {
  it('never give a batch the last quarter', () => {
    const { granted, enter } = slotsOf(8);
    for (let i = 0; i < 10; i++) enter(`b${i}`, 'batch');
    expect(granted).toHaveLength(6);
    enter('l0', 'live');
    enter('l1', 'live');
    expect(granted.slice(6)).toEqual(['l0', 'l1']);
    enter('l2', 'live');
    expect(granted).toHaveLength(8);
  });

  it('serve live calls first, and each class in its order', () => {
    const { calls, granted, enter } = slotsOf(1);
    const running = enter('first', 'live');
    for (const [name, callClass] of [
      ['b1', 'batch'],
      ['l1', 'live'],
      ['b2', 'batch'],
      ['l2', 'live'],
    ] as const) {
      enter(name, callClass);
    }
    expect(granted).toEqual(['first']);
    calls.leave(running);
    expect(granted).toEqual(['first', 'l1']);
  });

  it('give a batch its turn after enough live calls in a row, unless the quarter is all that is free', () => {
    const { calls, granted, enter } = slotsOf(1, 3);
    let running = enter('l0', 'live');
    enter('b', 'batch');
    for (let i = 1; i <= 5; i++) {
      const next = enter(`l${i}`, 'live');
      calls.leave(running);
      running = next;
    }
    expect(granted).toEqual(['l0', 'l1', 'l2', 'b']);

    const full = slotsOf(4, 1);
    const live = full.enter('l0', 'live');
    for (let i = 0; i < 4; i++) full.enter(`b${i}`, 'batch');
    full.enter('l1', 'live');
    expect(full.granted).toEqual(['l0', 'b0', 'b1', 'b2']);
    full.calls.leave(live);
    expect(full.granted.at(-1)).toBe('l1');
  });

  it('raise a waiting batch call that a live caller joins', () => {
    const { calls, granted, enter } = slotsOf(1);
    const running = enter('first', 'live');
    enter('b1', 'batch');
    const joined = enter('b2', 'batch');
    calls.raise(joined);
    calls.leave(running);
    expect(granted).toEqual(['first', 'b2']);
  });

  it('forget a call that leaves while it waits', () => {
    const { calls, granted, enter } = slotsOf(1);
    const running = enter('first', 'live');
    calls.leave(enter('gone', 'live'));
    calls.leave(running);
    expect(granted).toEqual(['first']);
    expect(calls.waiting).toBe(0);
  });

  it('of a judge are shared by the desks that own its judgments, never more than all of them together', () => {
    for (const [slots, shares] of [
      [8, [2, 2, 2, 2]],
      [10, [3, 3, 2, 2]],
      [64, [16, 16, 16, 16]],
      [2, [1, 1, 0, 0]],
    ] as const) {
      const layout = layoutOf(4, [{ judge: { model: 'm' }, slots }]);
      expect([0, 1, 2, 3].map((desk) => shareOfSlots(slots, desk, ownersOf(layout, 'm')))).toEqual(shares);
    }
  });

  it('of 15,000 are shared by 118 desks, at most 128 each', () => {
    const desks = 118;
    const shares = Array.from({ length: desks }, (_, desk) => shareOfSlots(15_000, desk, desks));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(15_000);
    expect([Math.min(...shares), Math.max(...shares)]).toEqual([127, 128]);
  });
});

describe('the layout of desks', () => {
  const judges = [
    { judge: { model: 'large' }, slots: 100 },
    { judge: { model: 'small' }, slots: 3 },
    { judge: { model: 'small' }, slots: 2 },
  ];
  const keys = Array.from({ length: 400 }, (_, number) => number.toString(16).padStart(8, '0') + '0'.repeat(56));

  it('gives a key one owner, spreads the keys evenly, and gives a judge no more owners than slots', () => {
    const layout = layoutOf(8, judges);
    expect(layout).toEqual({ desks: 8, few: { small: 2 } });
    for (const [model, owners] of [
      ['large', 8],
      ['small', 2],
      ['unknown', 8],
      ['constructor', 8],
    ] as const) {
      const counts = Map.groupBy(keys, (key) => ownerOf(layout, key, model));
      expect([...counts.keys()].sort()).toEqual(Array.from({ length: owners }, (_, desk) => desk));
      for (const some of counts.values()) expect(some).toHaveLength(keys.length / owners);
    }
  });

  it('names every possible owner of a key whose model is unknown, and is the same whatever the order', () => {
    const layout = layoutOf(8, judges);
    for (const key of keys) {
      expect([...possibleOwners(layout, key)].sort()).toEqual(
        [...new Set([ownerOf(layout, key, 'large'), ownerOf(layout, key, 'small')])].sort(),
      );
    }
    const both = [...judges, { judge: { model: 'a' }, slots: 1 }];
    expect(JSON.stringify(layoutOf(8, both))).toBe(JSON.stringify(layoutOf(8, both.toReversed())));
    expect(possibleOwners(layoutOf(4, judges.slice(0, 1)), keys[5] ?? '').size).toBe(1);
  });
});

describe('the gate of connections', () => {
  it('admits so many, in their order, and lets one in for each that leaves, once', async () => {
    const gate = new ConnectionGate(2);
    const entered: string[] = [];
    const enter = async (name: string, ahead = false) => {
      const leave = await (ahead ? gate.enterAhead() : gate.enter());
      entered.push(name);
      return leave;
    };
    const first = await enter('a');
    await enter('b');
    void enter('c');
    void enter('d');
    void enter('put', true);
    await Promise.resolve();
    expect(entered).toEqual(['a', 'b']);
    first();
    first();
    await vi.waitFor(() => expect(entered).toEqual(['a', 'b', 'put']), { timeout: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(entered).toEqual(['a', 'b', 'put']);
  });

  it('knows whether a call works or waits', async () => {
    const clock = { ms: 0 };
    const headers: { waited_ms: number; headers_ms: number }[] = [];
    const gate = new ConnectionGate(1);
    const leave = await gate.enter();
    const call = new CallConnections(
      gate,
      () => clock.ms,
      (times) => headers.push(times),
    );
    clock.ms = 40;
    expect(call.quiet_ms).toBe(40);
    const waits = call.enter();
    clock.ms = 90;
    expect(call.quiet_ms).toBe(0);
    leave();
    (await waits)();
    clock.ms = 100;
    expect(call.quiet_ms).toBe(10);
    expect(headers).toEqual([{ waited_ms: 50, headers_ms: 0 }]);
  });
});

describe('the circuit breaker', () => {
  function breakerAt() {
    const clock = { ms: 0 };
    const breaker = new CircuitBreaker({ failures: 3, rest_ms: 1_000, max_rest_ms: 3_000 }, () => clock.ms);
    return { clock, breaker };
  }

  it('opens after failures in a row, tries one probe, and closes on its success', () => {
    const { clock, breaker } = breakerAt();
    for (const evidence of ['down', 'down', 'up', 'down', 'unknown', 'down'] as const) breaker.settle(evidence, false);
    expect(breaker.admit()).toEqual({ ok: true, probe: false });
    breaker.settle('down', false);
    clock.ms = 400;
    expect(breaker.admit()).toEqual({ ok: false, retry_after_s: 1 });
    clock.ms = 1_000;
    expect(breaker.peek()).toEqual({ ok: true, probe: true });
    expect(breaker.admit()).toEqual({ ok: true, probe: true });
    expect(breaker.admit()).toMatchObject({ ok: false });
    breaker.settle('up', true);
    expect(breaker.admit()).toEqual({ ok: true, probe: false });
  });

  it('rests twice as long after each failed probe, up to a limit, and as long as the backend asks', () => {
    const { clock, breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.settle('down', false, 2);
    expect(breaker.peek()).toEqual({ ok: false, retry_after_s: 2 });
    for (const rest_s of [2, 3, 3]) {
      clock.ms += 10_000;
      expect(breaker.admit()).toEqual({ ok: true, probe: true });
      // News of a call from before the circuit opened.
      breaker.settle('down', false);
      breaker.settle('down', true);
      expect(breaker.peek()).toEqual({ ok: false, retry_after_s: rest_s });
    }
  });

  it('lets another probe go where one came to nothing', () => {
    const { clock, breaker } = breakerAt();
    for (let i = 0; i < 3; i++) breaker.settle('down', false);
    clock.ms = 1_000;
    breaker.admit();
    breaker.settle('unknown', true);
    expect(breaker.admit()).toEqual({ ok: true, probe: true });
  });

  it('takes a wrong reply for a sign of life, an outage for none, and says nothing of its own refusals', () => {
    const evidence = (reason: JudgeFailure['reason']) => evidenceOf({ reason, detail: '', retryable: true });
    expect(evidence('judge_reply_invalid')).toBe('up');
    expect(evidence('judge_unreachable')).toBe('down');
    expect(evidence('judge_capacity')).toBe('unknown');
    for (const reason of JUDGE_FAILURE_REASONS) expect(['up', 'down', 'unknown']).toContain(evidence(reason));
  });
});

describe('failure memory', () => {
  const FAILURE: JudgeFailure = { reason: 'judge_error', detail: 'x', retryable: true };

  it('lasts its time, and says how long still', () => {
    let now = 0;
    const memory = new FailureMemory({ ms: 5_000, entries: 10 }, () => now);
    memory.add('k', FAILURE);
    now = 1_500;
    expect(memory.get('k')).toEqual({ ...FAILURE, retry_after_s: 4 });
    expect(memory.get('other')).toBeUndefined();
    now = 5_000;
    expect(memory.get('k')).toBeUndefined();
  });

  it('keeps what the backend asked for, holds so many, and nothing that is the caller’s own', () => {
    const memory = new FailureMemory({ ms: 5_000, entries: 2 }, () => 0);
    memory.add('a', { ...FAILURE, retry_after_s: 30 });
    expect(memory.get('a')?.retry_after_s).toBe(30);
    memory.add('b', FAILURE);
    memory.add('c', FAILURE);
    expect(memory.get('a')).toBeUndefined();
    for (const reason of ['judge_capacity', 'judge_circuit_open', 'judge_prompt_too_long', 'judge_unknown'] as const) {
      memory.add(reason, { ...FAILURE, reason });
      expect(memory.get(reason)).toBeUndefined();
    }
  });
});

describe('prompt memory', () => {
  it('counts the texts of a request in bytes, and leaves a quarter to live calls', () => {
    const request = {
      kind: 'rubric',
      question: 'ab',
      sources: [{ id: 'S', text: 'äö' }],
      criteria: [{ description: '水' }],
      answer: '',
    } as const;
    expect(promptBytes(request)).toBe('rubric'.length + 2 + 1 + 4 + 3);
    const memory = new PromptMemory({ bytes: 100, liveReserve: 1 / 4, leaseMs: 1_000 }, () => 0);
    const release = memory.take(75, 'batch');
    expect(memory.take(1, 'batch')).toBeNull();
    expect(memory.take(25, 'live')).not.toBeNull();
    expect(memory.take(1, 'live')).toBeNull();
    release?.();
    release?.();
    expect(memory.take(50, 'batch')).not.toBeNull();
    expect(memory.take(1, 'batch')).toBeNull();
  });

  it('counts the prompt of a desk that was reset until its lease ends', () => {
    let now = 0;
    const memory = new PromptMemory({ bytes: 100, liveReserve: 1 / 4, leaseMs: 1_000 }, () => now);
    const late = memory.take(100, 'live');
    now = 999;
    expect(memory.take(1, 'live')).toBeNull();
    now = 1_000;
    expect(memory.take(100, 'live')).not.toBeNull();
    late?.();
    expect(memory.take(1, 'live')).toBeNull();
  });
});
