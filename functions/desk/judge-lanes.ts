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
import { type DeskLayout, ownersOf } from './desk-layout.ts';
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

export type JudgeLane = {
  readonly judge: Judge;
  /** How long a call may take once it has its slot. */
  readonly timeout_ms: number;
  readonly slots: CallSlots;
  readonly breaker: CircuitBreaker;
};

/**
 * The lanes of a desk by judge name. Its share of a judge's slots follows from the layout of the desk's own deployment,
 * not from that of a caller: during a deployment, messages of isolates with an older layout arrive before and after
 * messages with the newer one.
 */
export class JudgeLanes {
  readonly #desk: number;
  readonly #backends: ReadonlyMap<string, LaneBackend>;
  readonly #lanes = new Map<string, JudgeLane>();
  readonly #now: () => number;

  /** @param own the desk's number, and the layout of its deployment. @param now a clock in milliseconds. */
  constructor(backends: Backends, own: DeskPlace, now: () => number) {
    const all = backends.sandbox === null ? backends.named : [...backends.named, backends.sandbox];
    this.#desk = own.desk;
    this.#backends = new Map(all.map((backend) => [backend.judge.name, backend]));
    this.#now = now;
    for (const name of this.#backends.keys()) this.of(name, own.layout);
  }

  get all(): Iterable<JudgeLane> {
    return this.#lanes.values();
  }

  /**
   * The lane of a judge; `undefined` = the desk's deployment has no such judge, or the desk is no owner of its judgments.
   * Under another layout the desk may be an owner: then it gets a lane with the share of that layout.
   */
  of(name: string, layout: DeskLayout): JudgeLane | undefined {
    const known = this.#lanes.get(name);
    const backend = this.#backends.get(name);
    if (known !== undefined || backend === undefined) return known;
    const { judge, slots, timeout_ms } = backend;
    const share = shareOfSlots(slots, this.#desk, ownersOf(layout, judge.model));
    if (share === 0) return undefined;
    const lane = {
      judge,
      timeout_ms,
      slots: new CallSlots({
        slots: share,
        liveReserve: LIVE_RESERVE_SHARE,
        liveCallsPerBatchTurn: LIVE_CALLS_PER_BATCH_TURN,
      }),
      breaker: new CircuitBreaker(BREAKER, this.#now),
    };
    this.#lanes.set(name, lane);
    return lane;
  }
}

type LaneBackend = Pick<Backends['named'][number], 'judge' | 'slots' | 'timeout_ms'>;

const BREAKER = { failures: BREAKER_FAILURES, rest_ms: BREAKER_REST_MS, max_rest_ms: BREAKER_MAX_REST_MS };
