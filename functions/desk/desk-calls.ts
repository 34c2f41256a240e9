/**
 * The judge calls of one desk, single-flight per key: concurrent and retried requests join the call in progress, which
 * ends at the limit of its judge (`timeout_s`) even if all callers leave. A judgment is looked up in this order:
 *
 * in progress -> SQLite -> recent failures -> memory -> KV -> earlier owners -> budget, slot, breaker -> judge -> SQLite
 *
 * KV is not read again for a caller whose own read was a miss: a miss is stale by 60 s at most, and SQLite keeps a
 * judgment for ten minutes after KV has it.
 *
 * The judgments of a partition become one KV value, which must not replace another. So a judgment goes alone if KV has a
 * value of its partition, if KV cannot be read, or if another desk may write the partition.
 */
import canonicalize from 'canonicalize';
import type { KvJudgmentStore } from '../../lib/kv-store.ts';
import { CALL_GRACE_MS, MAX_SLOT_WAIT_MS } from '../../service/desk/call-limits.ts';
import { type PromptMemory, promptBytes } from '../../service/desk/capacity.ts';
import { type CallEvidence, evidenceOf } from '../../service/desk/circuit-breaker.ts';
import {
  CIRCUIT_OPEN,
  DESK_FULL,
  JUDGE_NOT_HERE,
  NO_SLOT,
  OTHER_JUDGE,
  STILL_RUNNING,
  STORE_BEHIND,
  TIMED_OUT,
} from '../../service/desk/desk-failures.ts';
import type { FailureMemory } from '../../service/desk/failure-memory.ts';
import { currentTrace } from '../../service/trace-context.ts';
import { withinMs } from '../../service/within-ms.ts';
import { type DeskJudgment, type JudgmentCall, withoutReasons } from '../../src/judgments/desk.ts';
import type { ImportOutcome } from '../../src/judgments/import-judgments.ts';
import type { Signing } from '../../src/judgments/issuer.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { partitionOf } from '../../src/judgments/key.ts';
import { type MadeJudgment, makeJudgment, usableFor } from '../../src/judgments/make-judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Missed } from '../../src/judgments/store.ts';
import { inSpan, judgeSpanEnd } from '../metrics/spans.ts';
import type { BudgetLeases } from './budget-leases.ts';
import { CallConnections, type ConnectionGate } from './connection-gate.ts';
import { countCall, countHeaders, countLookup, countSeconds, type LaneFigures } from './desk-figures.ts';
import type { DeskPlace, PaidCall } from './desk-messages.ts';
import type { AskedLayouts, EarlierOwners, Succession } from './earlier-layouts.ts';
import type { BridgedJudgments } from './finished-judgments.ts';
import { type JudgeLane, type JudgeLanes, Ticket } from './judge-lanes.ts';

/**
 * The longest time between a caller's miss and the end of its call in which SQLite knows all that this desk has written
 * meanwhile: below the ten minutes for which it keeps what KV has, less a minute for stale misses.
 */
const FRESH_MISS_MS = 8 * 60 * 1000;

/** Estimates the tokens of a call until they are known: texts have about four bytes for each. */
const BYTES_PER_TOKEN = 4;

type DeskParts = {
  readonly lanes: JudgeLanes;
  readonly failures: FailureMemory;
  readonly memory: PromptMemory;
  readonly gate: ConnectionGate;
  readonly bridged: BridgedJudgments;
  readonly earlier: EarlierOwners;
  readonly budgets: BudgetLeases;
  readonly kv: Pick<KvJudgmentStore, 'lookUp'>;
  readonly succession: Succession;
  readonly signing: Signing;
  /** The dataset for data points of calls; absent = none are written. */
  readonly analytics?: AnalyticsEngineDataset | undefined;
  readonly logsSpans?: boolean;
  /** Keeps the object in memory until the work has ended. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** A clock in milliseconds. */
  readonly now: () => number;
};

type RunningCall = {
  readonly result: Promise<DeskJudgment>;
  readonly ticket: Ticket;
  /** The project that the call is counted for; `null` = it is no call, but an import. */
  readonly project: string | null;
};

/** What the stores had when a judgment was looked up. */
type LookedUp = {
  /** Why KV's own record was not used; `null` = KV had none. */
  readonly storeProblem: JudgeFailure | null;
  /** What KV lacked; absent = KV could not be read, or had a record that cannot be used. */
  readonly missed: Missed | undefined;
  /** When KV was read, or before, in milliseconds. */
  readonly at_ms: number;
  readonly earlier: EarlierDesks;
};

/** What the desks have that owned a key under earlier layouts. */
type EarlierDesks = {
  /** Their judgment of the key, or why one did not answer; `null` = they have none. */
  readonly made: DeskJudgment | null;
  /** Whether one of them writes other judgments of the partition to KV. */
  readonly isHeld: boolean;
  readonly asked: AskedLayouts;
};

export class DeskCalls {
  readonly #parts: DeskParts;
  readonly #running = new Map<string, RunningCall>();
  /** Running calls by the partition of their keys. */
  readonly #partitions = new Map<string, number>();

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Returns the judgment of a key. The caller waits until its deadline at most; the call continues. */
  async judge(call: PaidCall, place: DeskPlace): Promise<DeskJudgment> {
    const at_ms = this.#parts.now();
    const end = at_ms + call.deadline_ms;
    for (;;) {
      const joined = this.#running.get(call.key);
      if (call.class === 'live') joined?.ticket.raise();
      if (joined !== undefined) countLookup('running');
      const { result, project } = joined ?? this.#begin(call, place, at_ms);
      const outcome = await withinMs(result, end - this.#parts.now());
      if (outcome === 'late') return { ok: false, failure: STILL_RUNNING };
      const isOthersBudget = !outcome.ok && outcome.failure.budget !== undefined && project !== call.payer.project;
      if (!isOthersBudget) return call.reasons === true ? outcome : withoutReasons(outcome);
    }
  }

  /**
   * Waits for the running call of a key and returns its judgment; `null` if there is none. A call that asks earlier
   * owners counts as none: two desks would wait for each other.
   */
  async running(key: string): Promise<Judgment | null> {
    const call = this.#running.get(key);
    if (call === undefined || call.ticket.asks) return null;
    const outcome = await call.result;
    return outcome.ok ? outcome.judgment : null;
  }

  /** Whether a call of a key of the partition is running. */
  isRunning(partition: string): boolean {
    return this.#partitions.has(partition);
  }

  /** The state of each judge. */
  get figures(): LaneFigures[] {
    return [...this.#parts.lanes.all].map(({ judge, slots, breaker }) => {
      return { judge: judge.name, ...slots.figures, breaker_open: breaker.isOpen };
    });
  }

  /** Stores a judgment that was made elsewhere, unless the key has one. Holds the key meanwhile, like a call. */
  async import(judgment: Judgment, place: DeskPlace): Promise<ImportOutcome> {
    const { key } = judgment;
    for (let before = this.#running.get(key); before !== undefined; before = this.#running.get(key)) {
      if ((await before.result).ok) return 'present';
    }
    let outcome: ImportOutcome = 'present';
    const ticket = new Ticket('batch');
    const { result } = this.#hold(key, ticket, null, async () => {
      const had = this.#parts.bridged.find(key);
      if (had !== null) return found(had);
      const at_ms = this.#parts.now();
      const { found: records, missed } = await this.#parts.kv.lookUp([key]);
      const stored = records.get(key);
      if (stored?.ok === true) return found(stored.judgment);
      if (stored !== undefined) return stored;
      const earlier = await this.#earlier(judgment, place, ticket);
      if (earlier.made !== null) return earlier.made;
      if (this.#parts.bridged.isFull) return { ok: false, failure: STORE_BEHIND };
      outcome = 'imported';
      return this.#keep(judgment, { storeProblem: null, missed: missed.get(key), at_ms, earlier }, place);
    });
    const had = await result;
    return had.ok ? outcome : { failure: had.failure };
  }

  #begin(call: PaidCall, place: DeskPlace, at_ms: number): RunningCall {
    const ticket = new Ticket(call.class);
    return this.#hold(call.key, ticket, call.payer.project, () => this.#obtain(call, place, ticket, at_ms));
  }

  /** Registers a call under its key while its work runs, so that no second call for the key starts. */
  #hold(key: string, ticket: Ticket, project: string | null, work: () => Promise<DeskJudgment>): RunningCall {
    const partition = partitionOf(key);
    const run = async (): Promise<DeskJudgment> => {
      try {
        return await work();
      } finally {
        if (this.#running.get(key) === held) this.#running.delete(key);
        const others = (this.#partitions.get(partition) ?? 1) - 1;
        if (others === 0) this.#partitions.delete(partition);
        else this.#partitions.set(partition, others);
      }
    };
    // `work` starts a microtask later, when `held` is in the map.
    const held: RunningCall = { result: Promise.resolve().then(run), ticket, project };
    this.#running.set(key, held);
    // A call may outlive its callers; the object would be evicted without them.
    this.#parts.keepAlive(held.result.catch(() => undefined));
    this.#partitions.set(partition, (this.#partitions.get(partition) ?? 0) + 1);
    return held;
  }

  async #obtain(call: PaidCall, place: DeskPlace, ticket: Ticket, at_ms: number): Promise<DeskJudgment> {
    const kept = this.#parts.bridged.find(call.key);
    if (kept !== null) return foundIn('desk', kept);
    // Judges with the same identity share their judgments, but not their failures: a failure is remembered by judge and
    // key.
    const attempt = `${call.judge}/${call.key}`;
    const failed = this.#parts.failures.get(attempt);
    if (failed !== undefined) {
      countLookup('recent_failure');
      return { ok: false, failure: failed };
    }
    // Counted before KV is read: the prompt is in memory while that takes its time, too.
    const release = this.#parts.memory.take(promptBytes(call.request), ticket.class);
    if (release === null) {
      const full = { ok: false, failure: DESK_FULL } as const;
      countCall(call.judge, full, 0, this.#parts.analytics);
      return full;
    }
    try {
      return await this.#lookUp(call, attempt, place, ticket, at_ms);
    } finally {
      release();
    }
  }

  async #lookUp(
    call: PaidCall,
    attempt: string,
    place: DeskPlace,
    ticket: Ticket,
    at_ms: number,
  ): Promise<DeskJudgment> {
    const { kv, signing, lanes } = this.#parts;
    // What KV has taken since the caller's miss is still in SQLite.
    const read = call.missed === undefined ? await kv.lookUp([call.key]) : null;
    const missed = call.missed ?? read?.missed.get(call.key);
    const record = read?.found.get(call.key);
    const stored = record === undefined ? undefined : await usableFor(call.request, record, signing.known);
    if (stored?.ok === true) return foundIn('kv', stored.judgment);
    const earlier = await this.#earlier(call, place, ticket);
    if (earlier.made !== null) {
      countLookup('earlier_desk');
      return earlier.made;
    }

    const lane = lanes.of(call.judge, place.layout);
    if (lane === undefined) return { ok: false, failure: JUDGE_NOT_HERE };
    if (
      canonicalize(lane.judge.identityFor(call.preimage.kind, call.request.asking)) !==
      canonicalize(call.preimage.judge)
    ) {
      return { ok: false, failure: OTHER_JUDGE };
    }
    countLookup('judge');
    const began = this.#parts.now();
    const made = await this.#call(call, lane, ticket, place.layout.desks);
    countCall(lane.judge.name, made, this.#parts.now() - began, this.#parts.analytics);
    if (made.ok) {
      const storeProblem = stored?.failure ?? null;
      const kept = await this.#keep(made.judgment, { storeProblem, missed, at_ms, earlier }, place);
      return made.reasons === undefined || !kept.ok ? kept : { ...kept, reasons: made.reasons };
    }
    this.#parts.failures.add(attempt, made.failure);
    return made;
  }

  /** Asks the desks that owned the key under earlier layouts. */
  async #earlier(
    { key, preimage }: Pick<Judgment, 'key' | 'preimage'>,
    place: DeskPlace,
    ticket: Ticket,
  ): Promise<EarlierDesks> {
    ticket.asks = true;
    const asked = await this.#parts.earlier.find(place, [key], preimage.judge.model, { wait: true });
    ticket.asks = false;
    if (!asked.ok) return { made: { ok: false, failure: asked.error }, isHeld: true, asked: NO_LAYOUTS };
    const { judgments, held, asked: layouts } = asked.value;
    const [judgment] = judgments;
    return { made: judgment === undefined ? null : found(judgment), isHeld: held.length > 0, asked: layouts };
  }

  /** Acquires budget, slot and breaker, calls the judge, and releases them. @param desks number of all desks. */
  async #call(call: PaidCall, lane: JudgeLane, ticket: Ticket, desks: number): Promise<MadeJudgment> {
    if (this.#parts.bridged.isFull) return { ok: false, failure: STORE_BEHIND };
    // Callers that leave meanwhile come back and join: the call keeps its place in the queue for them.
    const waits_ms = Math.min(Math.max(call.deadline_ms, lane.timeout_ms), MAX_SLOT_WAIT_MS);
    const open = lane.breaker.peek();
    if (!open.ok) return { ok: false, failure: { ...CIRCUIT_OPEN, retry_after_s: open.retry_after_s } };
    const estimate = Math.ceil(promptBytes(call.request) / BYTES_PER_TOKEN);
    const admitted = await this.#parts.budgets.admit(call.payer, estimate, desks);
    if (!admitted.ok) return admitted;
    let made: MadeJudgment | null = null;
    try {
      const asked = this.#parts.now();
      ticket.enter(lane);
      if ((await withinMs(ticket.granted, waits_ms)) === 'late') return { ok: false, failure: NO_SLOT };
      countSeconds('citeward_judge_slot_wait_seconds', lane.judge.name, this.#parts.now() - asked);
      const admission = lane.breaker.admit();
      if (!admission.ok) return { ok: false, failure: { ...CIRCUIT_OPEN, retry_after_s: admission.retry_after_s } };
      made = await this.#ask(call, lane, admission.probe);
      return made;
    } finally {
      ticket.leave();
      if (made === null) admitted.allowance.cancel();
      else admitted.allowance.spend(tokensOf(made));
    }
  }

  /**
   * Calls the judge with the judge's whole time, however long the call has waited for a slot or for connections: a
   * shortened time would look like an outage of the judge.
   */
  async #ask(call: JudgmentCall, lane: JudgeLane, probe: boolean): Promise<MadeJudgment> {
    let evidence: CallEvidence = 'unknown';
    let retryAfter_s: number | undefined;
    const { timeout_ms } = lane;
    const { name } = lane.judge;
    const started = this.#parts.now();
    try {
      const { key, preimage, request } = call;
      const connections = new CallConnections(this.#parts.gate, this.#parts.now, (times) => countHeaders(name, times));
      const making = (): Promise<MadeJudgment> =>
        makeJudgment(
          lane.judge,
          { key, preimage, request, deadline_ms: timeout_ms, connections },
          this.#parts.signing.issuer,
          () => new Date(this.#parts.now()).toISOString(),
        );
      const made = await inSpan(
        this.#parts.logsSpans === true,
        currentTrace(),
        () => unlessStuck(making(), connections, timeout_ms + CALL_GRACE_MS),
        (ended) => judgeSpanEnd(lane.judge, preimage.kind, ended),
      );
      evidence = made.ok ? 'up' : evidenceOf(made.failure);
      retryAfter_s = made.ok ? undefined : made.failure.retry_after_s;
      return made;
    } finally {
      countSeconds('citeward_judge_call_seconds', name, this.#parts.now() - started);
      lane.breaker.settle(evidence, probe, retryAfter_s);
    }
  }

  /** Whether KV may have a value of the partition that this desk did not write. Reads KV again if the miss is old. */
  async #isWritten(key: string, { missed, at_ms }: LookedUp): Promise<boolean> {
    if (missed !== undefined && this.#parts.now() - at_ms <= FRESH_MISS_MS) return missed === 'key';
    return (await this.#parts.kv.lookUp([key])).missed.get(key) !== 'partition';
  }

  async #keep(judgment: Judgment, lookedUp: LookedUp, { layout }: DeskPlace): Promise<DeskJudgment> {
    const { bridged, now, succession } = this.#parts;
    const { storeProblem, earlier } = lookedUp;
    const isWritten = earlier.isHeld || (await this.#isWritten(judgment.key, lookedUp));
    // Asked when the row is written: from when an owner under another layout asks, this desk keeps alone.
    await bridged.keep(judgment, () => isWritten || succession.isSucceeded(layout, earlier.asked, now()));
    return { ok: true, judgment, cached: false, stored: true, storeProblem };
  }
}

const NO_LAYOUTS: AskedLayouts = { layouts: [], at_ms: 0 };

/**
 * Waits for a judgment. A judge returns by its deadline, counted from its last connection; a stuck one occupies its slot
 * for the grace period at most.
 */
async function unlessStuck(
  making: Promise<MadeJudgment>,
  connections: CallConnections,
  limit_ms: number,
): Promise<MadeJudgment> {
  for (let left_ms = limit_ms; left_ms > 0; left_ms = limit_ms - connections.quiet_ms) {
    const made = await withinMs(making, left_ms);
    if (made !== 'late') return made;
  }
  return { ok: false, failure: TIMED_OUT };
}

/** The tokens that a call used; 0 if it failed or its server does not count them. */
function tokensOf(made: MadeJudgment): number {
  const usage = made.ok ? made.judgment.usage : null;
  return usage === null ? 0 : usage.prompt_tokens + usage.completion_tokens;
}

function found(judgment: Judgment): DeskJudgment {
  return { ok: true, judgment, cached: true, stored: true, storeProblem: null };
}

function foundIn(source: 'desk' | 'kv', judgment: Judgment): DeskJudgment {
  countLookup(source);
  return found(judgment);
}
