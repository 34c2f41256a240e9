/** A desk's way to each of its backends: the judge, its slots and its breaker. */
import type { Judge } from '../../src/judgments/judge.ts';
import type { Backends } from '../backends/configured.ts';
import { CallSlots, LIVE_CALLS_PER_BATCH_TURN, shareOfSlots } from './call-slots.ts';
import { BREAKER_FAILURES, BREAKER_MAX_REST_MS, BREAKER_REST_MS, CircuitBreaker } from './circuit-breaker.ts';
import type { DeskPlace } from './desk-messages.ts';
import { LIVE_RESERVE_SHARE } from './prompt-memory.ts';

export type Lane = { readonly judge: Judge; readonly slots: CallSlots; readonly breaker: CircuitBreaker };

/** @param now a clock in milliseconds. */
export function lanesOf(backends: Backends, { desk, desks }: DeskPlace, now: () => number): ReadonlyMap<string, Lane> {
  const breaker = { failures: BREAKER_FAILURES, rest_ms: BREAKER_REST_MS, max_rest_ms: BREAKER_MAX_REST_MS };
  const all = backends.sandbox === null ? backends.named : [...backends.named, backends.sandbox];
  return new Map(
    all.map(({ judge, slots }) => {
      const share = shareOfSlots(slots, desk, desks);
      const lane = {
        judge,
        slots: new CallSlots({
          slots: share,
          liveReserve: LIVE_RESERVE_SHARE,
          liveCallsPerBatchTurn: LIVE_CALLS_PER_BATCH_TURN,
        }),
        breaker: new CircuitBreaker(breaker, now),
      };
      return [judge.name, lane];
    }),
  );
}
