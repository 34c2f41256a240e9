/** The judges that a desk calls, each with its slots and circuit breaker, and the place of a call in their queues. */

import type { Backends } from '../../service/backends/configured.ts';
import {
  CallSlots,
  LIVE_CALLS_PER_BATCH_TURN,
  LIVE_RESERVE_SHARE,
  type SlotTicket,
  shareOfSlots,
} from '../../service/desk/capacity.ts';
import {
  BREAKER_FAILURES,
  BREAKER_MAX_REST_MS,
  BREAKER_REST_MS,
  CircuitBreaker,
} from '../../service/desk/circuit-breaker.ts';
import type { CallClass } from '../../src/judgments/desk.ts';
import type { Judge } from '../../src/judgments/judge.ts';
import { ownersOf } from './desk-layout.ts';
import type { DeskPlace } from './desk-messages.ts';

/** A call's place in the queue for a slot of its judge. The ticket is created before the judge's lane is known. */
export class Ticket implements SlotTicket {
  class: CallClass;
  /** Whether the call is asking the earlier owners of its key. */
  asks = false;
  readonly granted: Promise<'granted'>;
  readonly grant: () => void;
  #lane: JudgeLane | null = null;

  constructor(callClass: CallClass) {
    this.class = callClass;
    const { promise, resolve } = Promise.withResolvers<'granted'>();
    this.granted = promise;
    this.grant = () => resolve('granted');
  }

  enter(lane: JudgeLane): void {
    this.#lane = lane;
    lane.slots.enter(this);
  }

  leave(): void {
    this.#lane?.slots.leave(this);
  }

  raise(): void {
    if (this.#lane === null) this.class = 'live';
    else this.#lane.slots.raise(this);
  }
}

export type JudgeLane = { readonly judge: Judge; readonly slots: CallSlots; readonly breaker: CircuitBreaker };

/**
 * Creates the lanes of a desk by judge name, for the judges of which it owns judgments. A lane is a judge with its slots
 * and its circuit breaker.
 * @param now a clock in milliseconds.
 */
export function lanesOf(
  backends: Backends,
  { desk, layout }: DeskPlace,
  now: () => number,
): ReadonlyMap<string, JudgeLane> {
  const breaker = { failures: BREAKER_FAILURES, rest_ms: BREAKER_REST_MS, max_rest_ms: BREAKER_MAX_REST_MS };
  const all = backends.sandbox === null ? backends.named : [...backends.named, backends.sandbox];
  return new Map(
    all.flatMap(({ judge, slots }) => {
      const share = shareOfSlots(slots, desk, ownersOf(layout, judge.model));
      if (share === 0) return [];
      const lane = {
        judge,
        slots: new CallSlots({
          slots: share,
          liveReserve: LIVE_RESERVE_SHARE,
          liveCallsPerBatchTurn: LIVE_CALLS_PER_BATCH_TURN,
        }),
        breaker: new CircuitBreaker(breaker, now),
      };
      return [[judge.name, lane] as const];
    }),
  );
}
