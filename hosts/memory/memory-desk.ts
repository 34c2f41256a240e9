/**
 * The desk of one process: it calls the judges with the single flight, slots, circuit breaker and failure memory of a
 * Worker's `JudgeDesk`, and stores each judgment before it replies. It keeps nothing itself.
 */

import type { JudgeBackend } from '../../service/backends/judge-backends.ts';
import { MAX_SLOT_WAIT_MS } from '../../service/desk/call-limits.ts';
import { CallSlots, LIVE_CALLS_PER_BATCH_TURN, LIVE_RESERVE_SHARE } from '../../service/desk/capacity.ts';
import {
  BREAKER_FAILURES,
  BREAKER_MAX_REST_MS,
  BREAKER_REST_MS,
  type CallEvidence,
  CircuitBreaker,
  evidenceOf,
} from '../../service/desk/circuit-breaker.ts';
import { CIRCUIT_OPEN, JUDGE_NOT_HERE, NO_SLOT, STILL_RUNNING } from '../../service/desk/desk-failures.ts';
import { FAILURE_MEMORY_MS, FailureMemory, MAX_REMEMBERED_FAILURES } from '../../service/desk/failure-memory.ts';
import { withinMs } from '../../service/within-ms.ts';
import type { Desk, DeskJudgment, JudgmentCall } from '../../src/judgments/desk.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import { makeJudgment } from '../../src/judgments/make-judgment.ts';
import type { StoredJudgment } from '../../src/judgments/record.ts';
import type { JudgmentStore } from '../../src/judgments/store.ts';

type Lane = {
  readonly judge: Judge;
  readonly timeout_ms: number;
  readonly slots: CallSlots;
  readonly breaker: CircuitBreaker;
};

const now = (): number => performance.now();

export class MemoryDesk implements Desk {
  readonly #store: JudgmentStore;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #failures = new FailureMemory({ ms: FAILURE_MEMORY_MS, entries: MAX_REMEMBERED_FAILURES }, now);
  readonly #running = new Map<string, Promise<DeskJudgment>>();
  readonly #onCall: () => () => void;
  #calls = 0;

  /** @param onCall is called when a call has its slot; the function that it returns, at the end of the call. */
  constructor(
    backends: readonly JudgeBackend[],
    store: JudgmentStore,
    onCall: () => () => void = () => () => undefined,
  ) {
    this.#store = store;
    this.#onCall = onCall;
    this.#lanes = new Map(backends.map((backend) => [backend.judge.name, laneOf(backend)]));
  }

  /** Questions that went to a judge, repeated attempts not counted. */
  get calls(): number {
    return this.#calls;
  }

  async judge(call: JudgmentCall): Promise<DeskJudgment> {
    const running = this.#running.get(call.key) ?? this.#begin(call);
    const outcome = await withinMs(running, call.deadline_ms);
    return outcome === 'late' ? { ok: false, failure: STILL_RUNNING } : outcome;
  }

  /** The store is this process's own, so what it lacks the desk lacks too. */
  async find(): Promise<ReadonlyMap<string, StoredJudgment>> {
    return new Map();
  }

  #begin(call: JudgmentCall): Promise<DeskJudgment> {
    const running = this.#make(call).finally(() => this.#running.delete(call.key));
    this.#running.set(call.key, running);
    return running;
  }

  async #make(call: JudgmentCall): Promise<DeskJudgment> {
    // Judges with one identity share their judgments, but not their failures.
    const attempt = `${call.judge}/${call.key}`;
    const failure = this.#failures.get(attempt);
    if (failure !== undefined) return { ok: false, failure };
    const lane = this.#lanes.get(call.judge);
    if (lane === undefined) return { ok: false, failure: JUDGE_NOT_HERE };
    const made = await this.#ask(call, lane);
    if (!made.ok) {
      this.#failures.add(attempt, made.failure);
      return made;
    }
    const { judgment, reasons } = made;
    const stored = await this.#store.put(judgment);
    const storeProblem = stored.ok ? null : stored.failure;
    const reply = { ok: true, judgment, cached: false, stored: stored.ok, storeProblem } as const;
    return reasons === undefined ? reply : { ...reply, reasons };
  }

  async #ask({ key, preimage, request, class: callClass }: JudgmentCall, { judge, timeout_ms, slots, breaker }: Lane) {
    const open = breaker.peek();
    if (!open.ok) return circuitOpen(open.retry_after_s);
    const { promise: granted, resolve } = Promise.withResolvers<'granted'>();
    const ticket = { class: callClass, grant: () => resolve('granted') };
    try {
      slots.enter(ticket);
      if ((await withinMs(granted, MAX_SLOT_WAIT_MS)) === 'late') return { ok: false, failure: NO_SLOT } as const;
      const admission = breaker.admit();
      if (!admission.ok) return circuitOpen(admission.retry_after_s);
      let evidence: CallEvidence = 'unknown';
      let retryAfter_s: number | undefined;
      const ended = this.#onCall();
      try {
        this.#calls++;
        const making = { key, preimage, request, deadline_ms: timeout_ms };
        const made = await makeJudgment(judge, making, null, () => new Date().toISOString());
        evidence = made.ok ? 'up' : evidenceOf(made.failure);
        retryAfter_s = made.ok ? undefined : made.failure.retry_after_s;
        return made;
      } finally {
        ended();
        breaker.settle(evidence, admission.probe, retryAfter_s);
      }
    } finally {
      slots.leave(ticket);
    }
  }
}

function laneOf({ judge, timeout_ms, slots }: JudgeBackend): Lane {
  const breaker = { failures: BREAKER_FAILURES, rest_ms: BREAKER_REST_MS, max_rest_ms: BREAKER_MAX_REST_MS };
  return {
    judge,
    timeout_ms,
    slots: new CallSlots({
      slots,
      liveReserve: LIVE_RESERVE_SHARE,
      liveCallsPerBatchTurn: LIVE_CALLS_PER_BATCH_TURN,
    }),
    breaker: new CircuitBreaker(breaker, now),
  };
}

function circuitOpen(retry_after_s: number) {
  return { ok: false, failure: { ...CIRCUIT_OPEN, retry_after_s } } as const;
}
