/**
 * The desks of a deployment under a steady load, on a virtual clock. Slots, prompt memory, connection gate and circuit
 * breaker are the classes that the desks use, with the constants of the desks; a judgment takes the same steps in the
 * same order as in functions/desk/desk-calls.ts. Simulated are the arrivals, the judge, KV, and the processor of a desk.
 */

import { ConnectionGate, MAX_CALLS_WITHOUT_HEADERS } from '../../functions/desk/connection-gate.ts';
import { layoutOf, ownerOf, ownersOf } from '../../functions/desk/desk-layout.ts';
import {
  GATHER_MS,
  KvPace,
  MAX_BACKLOG,
  MAX_KV_PUTS_OF_A_TURN,
  TURN_MS,
  WAIT_FOR_OTHERS_MS,
} from '../../functions/desk/store-limits.ts';
import { DEFAULT_TIMEOUT_S } from '../../service/desk/call-limits.ts';
import {
  CallSlots,
  LIVE_CALLS_PER_BATCH_TURN,
  LIVE_RESERVE_SHARE,
  MAX_PROMPT_BYTES_IN_FLIGHT,
  PROMPT_LEASE_MS,
  PromptMemory,
  type SlotTicket,
  shareOfSlots,
} from '../../service/desk/capacity.ts';
import {
  BREAKER_FAILURES,
  BREAKER_MAX_REST_MS,
  BREAKER_REST_MS,
  CircuitBreaker,
} from '../../service/desk/circuit-breaker.ts';
import { CIRCUIT_OPEN, DESK_FULL, NO_SLOT, STILL_RUNNING, STORE_BEHIND } from '../../service/desk/desk-failures.ts';
import { CALLER_DEADLINE_MS } from '../../src/judgments/obtain.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Load } from './load.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Judgments per second of one thread, which the desks of an isolate share; measured with replies of 300 events. */
export const JUDGMENTS_PER_CPU_SECOND = 135;

const MODEL = 'judge';
/** The share of a judge call that every call takes; the rest is exponential, so that some calls take much longer. */
const FIXED_SHARE_OF_CALL = 0.7;
const UNREACHABLE_AFTER_MS = 50;

export type Simulated = {
  /** Rollouts scored per second in the measured time: the second half, or all of it if there is an outage. */
  readonly scored_per_s: number;
  /** What each judge call waited beside its own work, in milliseconds. */
  readonly waits_ms: readonly number[];
  /** Times of whole groups, in milliseconds. */
  readonly groups_ms: readonly number[];
  /** Unscored judgments by reason, with the limit that they met. */
  readonly failures: ReadonlyMap<string, number>;
  /** Judgments that were asked for in the measured time and not stored. */
  readonly judgments: number;
  /** The most judgments that waited for KV at one desk. */
  readonly backlog: number;
  /** The judge calls that waited for a slot at the end, of all desks together. */
  readonly waiting: number;
  /** Turns of the desks' alarms per second, of all desks together. */
  readonly turns_per_s: number;
};

/** A failure's reason, and which limit it met. */
const CAUSES = new Map<JudgeFailure, string>([
  [CIRCUIT_OPEN, 'judge_circuit_open'],
  [DESK_FULL, 'judge_capacity (prompts)'],
  [NO_SLOT, 'judge_capacity (slots)'],
  [STORE_BEHIND, 'judge_capacity (judgment store)'],
  [STILL_RUNNING, 'judge_running'],
]);

const UNREACHABLE = 'judge_unreachable';

/** @param random uniform numbers from 0 to 1; seeded, so that a simulation can be repeated. */
export async function simulate(load: Load, clock: VirtualClock, random: () => number): Promise<Simulated> {
  const end_ms = load.seconds * 1000;
  const measuredFrom_ms = load.outage_s > 0 ? 0 : end_ms / 2;
  const judge = { judge: { model: MODEL }, slots: load.slots };
  const layout = layoutOf(load.desks, [judge]);
  const owners = ownersOf(layout, MODEL);
  const outage = { from_ms: end_ms / 2, to_ms: end_ms / 2 + load.outage_s * 1000 };
  const isAway = (): boolean => clock.now_ms >= outage.from_ms && clock.now_ms < outage.to_ms;
  const isolates = Array.from({ length: Math.ceil(owners / load.desks_per_isolate) }, () => new Isolate(clock));
  const desks = Array.from({ length: owners }, (_, desk) => {
    const isolate = isolates[desk % isolates.length];
    if (isolate === undefined) throw new Error('there is no isolate');
    return new SimulatedDesk(load, shareOfSlots(load.slots, desk, owners), { clock, random, isAway, isolate });
  });
  const outcomes = { waits_ms: [] as number[], groups_ms: [] as number[], failures: new Map<string, number>() };
  let scoredRollouts = 0;
  let judgments = 0;

  const judged = async (desk: SimulatedDesk, partition: Partition, measured: boolean): Promise<boolean> => {
    if (random() < load.stored) return true;
    const call = desk.judge(partition);
    const result = await clock.within(call, CALLER_DEADLINE_MS);
    if (measured) judgments++;
    const outcome = result === 'late' ? refused(STILL_RUNNING) : result;
    if (measured && outcome.ok) outcomes.waits_ms.push(outcome.waited_ms);
    if (measured && !outcome.ok) outcomes.failures.set(outcome.cause, (outcomes.failures.get(outcome.cause) ?? 0) + 1);
    return outcome.ok;
  };

  const scored = async (measured: boolean): Promise<void> => {
    const desk = desks[ownerOf(layout, hexOf(random()), MODEL)];
    if (desk === undefined) throw new Error('the layout names a desk that is not there');
    const partition: Partition = { running: 0, waiting: 0, since_ms: clock.now_ms };
    const all = await Promise.all(Array.from({ length: load.judgments }, () => judged(desk, partition, measured)));
    if (clock.now_ms >= measuredFrom_ms && clock.now_ms < end_ms && all.every((one) => one)) scoredRollouts++;
  };

  const arrivals = async (): Promise<void> => {
    const groups_per_ms = load.rollouts_per_s / load.group / 1000;
    let next_ms = 0;
    while (next_ms < end_ms) {
      next_ms += -Math.log(1 - random()) / groups_per_ms;
      await clock.sleep(next_ms - clock.now_ms);
      const [began_ms, measured] = [clock.now_ms, clock.now_ms >= measuredFrom_ms];
      const members = Array.from({ length: load.group }, () => scored(measured));
      const ended = Promise.all(members).then(() => {
        if (measured) outcomes.groups_ms.push(clock.now_ms - began_ms);
      });
      ended.catch(rethrow);
    }
  };
  arrivals().catch(rethrow);
  await clock.runUntil(end_ms);
  const waiting = desks.reduce((sum, desk) => sum + desk.waiting, 0);
  // Lets the calls of the measured time end, so that each is a judgment or a failure.
  await clock.runUntil(end_ms + CALLER_DEADLINE_MS + 1000);
  return {
    ...outcomes,
    scored_per_s: (scoredRollouts * 1000) / (end_ms - measuredFrom_ms),
    judgments,
    backlog: Math.max(...desks.map(({ mostBacklog }) => mostBacklog)),
    waiting,
    turns_per_s: desks.reduce((sum, { turns }) => sum + turns, 0) / load.seconds,
  };
}

type World = {
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly isAway: () => boolean;
  readonly isolate: Isolate;
};
type Outcome = { readonly ok: true; readonly waited_ms: number } | { readonly ok: false; readonly cause: string };

/** The judgments of one rollout: those that are being made, and those that KV lacks, since when. */
type Partition = { running: number; waiting: number; since_ms: number };

/** What desks of one isolate share: the memory of prompts, and one thread. */
class Isolate {
  readonly prompts: PromptMemory;
  readonly #clock: VirtualClock;
  #free_ms = 0;

  constructor(clock: VirtualClock) {
    const limits = { bytes: MAX_PROMPT_BYTES_IN_FLIGHT, liveReserve: LIVE_RESERVE_SHARE, leaseMs: PROMPT_LEASE_MS };
    this.prompts = new PromptMemory(limits, () => clock.now_ms);
    this.#clock = clock;
  }

  /** Waits for the thread, and uses it for one judgment. */
  compute(): Promise<void> {
    this.#free_ms = Math.max(this.#free_ms, this.#clock.now_ms) + 1000 / JUDGMENTS_PER_CPU_SECOND;
    return this.#clock.sleep(this.#free_ms - this.#clock.now_ms);
  }
}

class SimulatedDesk {
  readonly #load: Load;
  readonly #world: World;
  readonly #slots: CallSlots;
  readonly #gate = new ConnectionGate(MAX_CALLS_WITHOUT_HEADERS);
  readonly #breaker: CircuitBreaker;
  readonly #pace = new KvPace();
  #backlog = 0;
  /** What KV lacks, oldest first. */
  readonly #waiting = new Set<Partition>();
  #drains = false;
  mostBacklog = 0;
  /** Turns of the alarm so far. */
  turns = 0;

  constructor(load: Load, slots: number, world: World) {
    this.#load = load;
    this.#world = world;
    this.#slots = new CallSlots({
      slots,
      liveReserve: LIVE_RESERVE_SHARE,
      liveCallsPerBatchTurn: LIVE_CALLS_PER_BATCH_TURN,
    });
    const options = { failures: BREAKER_FAILURES, rest_ms: BREAKER_REST_MS, max_rest_ms: BREAKER_MAX_REST_MS };
    this.#breaker = new CircuitBreaker(options, () => world.clock.now_ms);
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  async judge(partition: Partition): Promise<Outcome> {
    partition.running++;
    try {
      return await this.#judge(partition);
    } finally {
      partition.running--;
    }
  }

  async #judge(partition: Partition): Promise<Outcome> {
    const { clock } = this.#world;
    const { prompt_bytes } = this.#load;
    const began_ms = clock.now_ms;
    if (this.#backlog >= MAX_BACKLOG) return refused(STORE_BEHIND);
    if (!this.#breaker.peek().ok) return refused(CIRCUIT_OPEN);
    const release = this.#world.isolate.prompts.take(prompt_bytes, 'live');
    if (release === null) return refused(DESK_FULL);
    const ticket = new Waiting();
    try {
      this.#slots.enter(ticket);
      if ((await clock.within(ticket.granted, DEFAULT_TIMEOUT_S * 1000)) === 'late') return refused(NO_SLOT);
      const admission = this.#breaker.admit();
      if (!admission.ok) return refused(CIRCUIT_OPEN);
      const worked_ms = await this.#ask(admission.probe);
      if (worked_ms === null) return { ok: false, cause: UNREACHABLE };
      this.#keep(partition);
      return { ok: true, waited_ms: clock.now_ms - began_ms - worked_ms };
    } finally {
      this.#slots.leave(ticket);
      release();
    }
  }

  /** Calls the judge. @returns the time of the judge's own work in milliseconds; `null` = the judge is away. */
  async #ask(probe: boolean): Promise<number | null> {
    const { clock, random, isAway, isolate } = this.#world;
    const { judge_s, header_s } = this.#load;
    const leave = await this.#gate.enter();
    if (isAway()) {
      await clock.sleep(UNREACHABLE_AFTER_MS);
      leave();
      this.#breaker.settle('down', probe);
      return null;
    }
    const work_ms = 1000 * judge_s * (FIXED_SHARE_OF_CALL - (1 - FIXED_SHARE_OF_CALL) * Math.log(1 - random()));
    const header_ms = Math.min(header_s * 1000, work_ms);
    await clock.sleep(header_ms);
    leave();
    await clock.sleep(work_ms - header_ms);
    await isolate.compute();
    this.#breaker.settle('up', probe);
    return work_ms;
  }

  #keep(partition: Partition): void {
    this.#backlog++;
    if (partition.waiting++ === 0) partition.since_ms = this.#world.clock.now_ms;
    this.#waiting.add(partition);
    this.mostBacklog = Math.max(this.mostBacklog, this.#backlog);
    if (!this.#drains) this.#drain().catch(rethrow);
  }

  /** What can be written now, with what is added meanwhile. */
  *#ended(): Generator<Partition> {
    const { clock } = this.#world;
    for (const one of this.#waiting) {
      if (one.running === 0 || clock.now_ms - one.since_ms >= WAIT_FOR_OTHERS_MS) yield one;
    }
  }

  /** The alarm: it gathers judgments for a moment, then puts the backlog into KV, one value for each partition. */
  async #drain(gather_ms = GATHER_MS): Promise<void> {
    const { clock } = this.#world;
    this.#drains = true;
    this.turns++;
    await clock.sleep(gather_ms);
    const end_ms = clock.now_ms + TURN_MS;
    const put = async (one: Partition): Promise<void> => {
      const written = one.waiting;
      one.waiting = 0;
      this.#waiting.delete(one);
      const leave = await this.#gate.enterAhead();
      const began_ms = clock.now_ms;
      await clock.sleep(this.#load.kv_put_ms);
      leave();
      this.#pace.measured(clock.now_ms - began_ms);
      this.#backlog -= written;
    };
    const writes = this.#ended();
    const running = new Set<Promise<void>>();
    let begun = 0;
    const next = (): Partition | null => {
      if (clock.now_ms >= end_ms || begun === MAX_KV_PUTS_OF_A_TURN) return null;
      if (running.size >= this.#pace.putsAtOnce(this.#backlog)) return null;
      const { value } = writes.next();
      if (value === undefined) return null;
      begun++;
      return value;
    };
    for (;;) {
      for (let one = next(); one !== null; one = next()) {
        const putting = put(one).then(() => {
          running.delete(putting);
        });
        running.add(putting);
      }
      if (running.size === 0) break;
      await Promise.race(running);
    }
    this.#drains = false;
    if (this.#backlog > 0) await this.#drain(begun === MAX_KV_PUTS_OF_A_TURN ? 0 : GATHER_MS);
  }
}

class Waiting implements SlotTicket {
  readonly class = 'live';
  readonly granted: Promise<'granted'>;
  readonly grant: () => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<'granted'>();
    this.granted = promise;
    this.grant = () => resolve('granted');
  }
}

function refused(failure: JudgeFailure): Outcome {
  return { ok: false, cause: CAUSES.get(failure) ?? failure.reason };
}

function hexOf(random: number): string {
  return Math.floor(random * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/** An error of the simulation ends the program: its figures would be wrong. */
function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
