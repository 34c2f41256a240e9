/**
 * JudgeDesk: the Durable Object that makes the judge calls of all isolates. The class only connects the platform with
 * the classes of desk/, which decide about queueing, retries and storage. An AbortSignal cannot cross RPC, so a caller
 * passes its deadline, and a call outlives its caller: `ctx.waitUntil` keeps the object in memory until the call ends
 * (durable_object_io_tasks_prevent_eviction, the default since the compatibility date 2026-10-01).
 *
 * Calls in progress, slots, breakers and remembered failures are in memory. Losing them costs at most a second call;
 * finished judgments are in SQLite.
 */
import { DurableObject } from 'cloudflare:workers';
import type { KvJudgmentStore } from '../lib/kv-store.ts';
import {
  LIVE_RESERVE_SHARE,
  MAX_PROMPT_BYTES_IN_FLIGHT,
  PROMPT_LEASE_MS,
  PromptMemory,
} from '../service/desk/capacity.ts';
import { FAILURE_MEMORY_MS, FailureMemory, MAX_REMEMBERED_FAILURES } from '../service/desk/failure-memory.ts';
import { inTrace, receivedTrace } from '../service/trace-context.ts';
import { partitionOf } from '../src/judgments/key.ts';
import { DEFAULT_PROJECT } from '../src/wire/api-keys.ts';
import { BudgetLeases } from './desk/budget-leases.ts';
import { answerEach } from './desk/call-gatherer.ts';
import { ConnectionGate, MAX_CALLS_WITHOUT_HEADERS } from './desk/connection-gate.ts';
import { DeskCalls } from './desk/desk-calls.ts';
import { deskIn } from './desk/desk-client.ts';
import type { DeskFigures } from './desk/desk-figures.ts';
import {
  type AddFiguresMessage,
  DESK_MESSAGE_VERSION,
  type DeskPlace,
  type EarlierMessage,
  type EarlierReplyMessage,
  type FindMessage,
  type FindReplyMessage,
  type ImportMessage,
  type ImportReplyMessage,
  type JudgeMessage,
  type JudgeReplyMessage,
  VERSION_SKEW,
} from './desk/desk-messages.ts';
import { EarlierOwners, LayoutHistory, Succession } from './desk/earlier-layouts.ts';
import { BridgedJudgments } from './desk/finished-judgments.ts';
import { FinishedTables } from './desk/finished-tables.ts';
import { JudgeLanes } from './desk/judge-lanes.ts';
import { sendCounts } from './desk/send-counts.ts';
import { MAX_BACKLOG } from './desk/store-limits.ts';
import type { Environment } from './environment.ts';
import { type Increment, isolateCounts } from './metrics/counts.ts';
import { FigureTotals } from './metrics/figure-totals.ts';
import {
  createPlatformFactory,
  layoutIn,
  type PlatformFactory,
  type PlatformParts,
  uncachedJudgments,
  uncachedJudgmentsIn,
} from './platform.ts';
import { NO_BUDGETS } from './projects/budgets.ts';
import type { JudgmentScope } from './projects/judgment-scope.ts';
import { ProjectTable } from './projects/project-table.ts';
import { retainedKv } from './storage/judgment-retention.ts';

const now = (): number => Date.now();

type DeskPlatform = Partial<PlatformParts> & {
  /** Calls of the desk that may wait for response headers at a time. */
  readonly callsWithoutHeaders?: number;
  /** How often the desk tells D1 what projects have used, in milliseconds. */
  readonly budgetReportMs?: number;
};

/** The key of the desk's scope in its storage. */
const SCOPE = 'scope_v1';

/** One per isolate, which several desks may share. */
const prompts = new PromptMemory(
  { bytes: MAX_PROMPT_BYTES_IN_FLIGHT, liveReserve: LIVE_RESERVE_SHARE, leaseMs: PROMPT_LEASE_MS },
  now,
);

export class JudgeDesk extends DurableObject<Environment> {
  /** The project whose judgments the desk makes; `null` = those that all projects share. */
  #scope: JudgmentScope;
  readonly #kv: KvJudgmentStore;
  readonly #gate: ConnectionGate;
  readonly #bridged: BridgedJudgments;
  readonly #platforms: PlatformFactory;
  readonly #earlier: EarlierOwners;
  #totals: FigureTotals | null = null;
  readonly #succession: Succession;
  readonly #budgets: BudgetLeases;
  #calls: DeskCalls | null = null;
  #history: LayoutHistory | null = null;

  /** @param parts replaces parts of the platform: in tests, and on one machine (serve/). */
  constructor(state: DurableObjectState, environment: Environment, parts: DeskPlatform = {}) {
    super(state, environment);
    this.#gate = new ConnectionGate(parts.callsWithoutHeaders ?? MAX_CALLS_WITHOUT_HEADERS);
    this.#platforms = createPlatformFactory({ ...parts, judgmentStoreOf: uncachedJudgments });
    this.#scope = state.storage.kv.get<string>(SCOPE) ?? null;
    const retained = retainedKv(environment.JUDGMENTS, () => {
      const settings = this.#platforms.settingsOf(environment);
      return settings.ok ? settings.value.judgmentRetentionDays : null;
    });
    this.#kv = uncachedJudgmentsIn(retained, () => this.#scope);
    this.#earlier = new EarlierOwners({ deskOf: (desk) => deskIn(environment.JUDGE_DESK, desk, this.#scope), now });
    this.#succession = new Succession(state.storage.kv);
    this.#budgets = new BudgetLeases({ table: new ProjectTable(environment.DB), now, reportMs: parts.budgetReportMs });
    const tables = new FinishedTables(state.storage.sql);
    const { storage: alarms } = state;
    this.#bridged = new BridgedJudgments({
      tables,
      kv: this.#kv,
      gate: this.#gate,
      alarms,
      now,
      maxBacklog: MAX_BACKLOG,
      isRunning: (partition) => this.#calls?.isRunning(partition) === true,
    });
  }

  async judge(message: JudgeMessage): Promise<JudgeReplyMessage> {
    try {
      return await this.#judge(message);
    } finally {
      // The object counts as busy while it holds a function of its caller.
      message.answer?.[Symbol.dispose]?.();
    }
  }

  async #judge(message: JudgeMessage): Promise<JudgeReplyMessage> {
    if (message.v !== DESK_MESSAGE_VERSION) return { ok: false, failure: VERSION_SKEW };
    const { answer, calls, payer, place, trace } = message;
    const desk = await this.#callsAt(place);
    return inTrace(receivedTrace(trace?.traceparent, trace?.tracestate), () =>
      answerEach(
        calls.map((call) => desk.judge({ ...call, payer }, place)),
        answer,
      ),
    );
  }

  /** Finds the judgments of some keys that this desk, or their earlier owner, has finished. */
  async find({ v, keys, place, wait, successor }: FindMessage): Promise<FindReplyMessage> {
    if (v !== DESK_MESSAGE_VERSION) return { judgments: [], held: [], failure: VERSION_SKEW };
    if (place !== null) this.#noteScope(place);
    // Noted before anything is awaited: what ends from now on leaves the partitions to the successor.
    if (successor !== undefined) this.#succession.note(successor, now());
    const partitions = successor === undefined ? [] : [...new Set(keys.map(partitionOf))];
    const held = partitions.filter((partition) => this.#bridged.hasTogether(partition));
    const running = wait ? await Promise.all(keys.map((key) => this.#calls?.running(key) ?? null)) : [];
    const judgments = keys.flatMap((key, position) => running[position] ?? this.#bridged.find(key) ?? []);
    const has = new Set(judgments.map(({ key }) => key));
    const open = keys.filter((key) => !has.has(key));
    if (place === null || open.length === 0) return { judgments, held, failure: null };
    const earlier = await this.#earlier.find(place, open, null, { wait: false });
    if (!earlier.ok) return { judgments, held, failure: earlier.error };
    return { judgments: [...judgments, ...earlier.value.judgments], held, failure: null };
  }

  /** Returns the layouts of the last minutes other than this one. Only desk 0 is asked. */
  async earlierLayouts({ v, layout }: EarlierMessage): Promise<EarlierReplyMessage> {
    if (v !== DESK_MESSAGE_VERSION) return { earlier: [], failure: VERSION_SKEW };
    this.#history ??= new LayoutHistory(this.ctx.storage.sql);
    return { earlier: this.#history.earlierThan(layout, now()), failure: null };
  }

  /** Stores judgments whose issuer the caller has verified. */
  async import(message: ImportMessage): Promise<ImportReplyMessage> {
    const { v, place, judgments } = message;
    if (v !== DESK_MESSAGE_VERSION) return { outcomes: judgments.map(() => ({ failure: VERSION_SKEW })) };
    const calls = await this.#callsAt(place);
    return { outcomes: await Promise.all(judgments.map((judgment) => calls.import(judgment, place))) };
  }

  /** Returns `null` for a caller of another version. */
  async figures(v: number): Promise<DeskFigures | null> {
    if (v !== DESK_MESSAGE_VERSION) return null;
    return {
      lanes: this.#calls?.figures ?? [],
      connections_waiting: this.#gate.waiting,
      prompt_bytes: prompts.held,
      kv_backlog: this.#bridged.backlog,
      storage_bytes: this.ctx.storage.sql.databaseSize,
      increments: isolateCounts.drain(),
    };
  }

  /** Returns `null`, and adds nothing, for a caller of another version. */
  async addFigures({ v, increments, read }: AddFiguresMessage): Promise<readonly Increment[] | null> {
    if (v !== DESK_MESSAGE_VERSION) return null;
    this.#totals ??= new FigureTotals(this.ctx.storage.sql);
    this.#totals.add(increments);
    return read ? this.#totals.read() : [];
  }

  override async alarm(): Promise<void> {
    try {
      await this.#bridged.tidy();
    } catch (error) {
      isolateCounts.count('citeward_alarm_failures', ['JudgeDesk']);
      throw error;
    } finally {
      // A scrape asks only the shared desks, and takes their counts.
      if (this.#scope !== null) await sendCounts(this.env);
    }
  }

  /** Notes the scope that the first message names: the alarm has no message, and needs it. */
  #noteScope({ scope }: DeskPlace): void {
    if (scope === undefined || this.#scope !== null) return;
    this.#scope = scope;
    this.ctx.storage.kv.put(SCOPE, scope);
  }

  async #callsAt(place: DeskPlace): Promise<DeskCalls> {
    this.#noteScope(place);
    const platform = await this.#platforms.createPlatform(this.env, {
      callClass: 'live',
      payer: { project: DEFAULT_PROJECT, budgets: NO_BUDGETS },
    });
    if (!platform.ok) throw new Error(`JudgeDesk: the setting ${platform.error.setting} is malformed`);
    const { backends, signing, settings } = platform.value;
    this.#calls ??= new DeskCalls({
      lanes: new JudgeLanes(backends, { desk: place.desk, layout: layoutIn(backends, settings) }, now),
      failures: new FailureMemory({ ms: FAILURE_MEMORY_MS, entries: MAX_REMEMBERED_FAILURES }, now),
      memory: prompts,
      gate: this.#gate,
      bridged: this.#bridged,
      earlier: this.#earlier,
      succession: this.#succession,
      budgets: this.#budgets,
      kv: this.#kv,
      signing,
      analytics: this.env.ANALYTICS,
      logsSpans: this.env.LOG_SPANS === 'true',
      keepAlive: (work) => this.ctx.waitUntil(work),
      now,
    });
    return this.#calls;
  }
}
