/**
 * JudgeDesk: the Durable Object where all isolates meet for a judge call (ARCHITECTURE.md, State). It wires; the policy
 * stands in the classes beside it. No AbortSignal crosses RPC: a caller passes its deadline, and a call outlives it.
 *
 * What is under way, slots, breaker and remembered failures live in memory and are lost with the object, which costs at
 * most a second call; what is finished is in SQLite.
 */
import { DurableObject } from 'cloudflare:workers';
import type { DeskJudgment } from '../../src/judgments/desk.ts';
import { type Backends, configuredBackends } from '../backends/configured.ts';
import { type Environment, readSettings } from '../environment.ts';
import { issuerOf } from '../storage/issuer-settings.ts';
import { createKvJudgmentStore } from '../storage/judgments.ts';
import { createRecentJudgments } from '../storage/recent-judgments.ts';
import { BridgedJudgments } from './bridged-judgments.ts';
import { DeskCalls } from './desk-calls.ts';
import {
  DESK_MESSAGE_VERSION,
  type DeskPlace,
  type FindMessage,
  type FindReplyMessage,
  type ImportMessage,
  type ImportReplyMessage,
  type JudgeMessage,
  type JudgeReplyMessage,
  VERSION_SKEW,
} from './desk-messages.ts';
import { FAILURE_MEMORY_MS, FailureMemory, MAX_REMEMBERED_FAILURES } from './failure-memory.ts';
import { FinishedJudgments } from './finished-judgments.ts';
import { lanesOf } from './lanes.ts';
import { LIVE_RESERVE_SHARE, MAX_PROMPT_BYTES_IN_FLIGHT, PromptMemory } from './prompt-memory.ts';

const now = (): number => Date.now();

export class JudgeDesk extends DurableObject<Environment> {
  readonly #bridged: BridgedJudgments;
  readonly #kv;
  #calls: DeskCalls | null = null;

  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment);
    // Nothing is remembered beside SQLite: what KV says is asked anew each time.
    this.#kv = createKvJudgmentStore(environment.JUDGMENTS, createRecentJudgments({ entries: 0, chars: 0 }));
    this.#bridged = new BridgedJudgments(new FinishedJudgments(state.storage.sql), this.#kv, state.storage, now);
  }

  /** The backends of this deployment. A seam for tests, which subclass the desk in an entry module of their own. */
  protected backends(environment: Environment): Backends {
    const read = readSettings(environment);
    if (!read.ok) throw new Error(`JudgeDesk: the setting ${read.setting} is malformed`);
    return configuredBackends(read.settings, environment);
  }

  async judge(message: JudgeMessage): Promise<JudgeReplyMessage> {
    if (message.v !== DESK_MESSAGE_VERSION) return { ok: false, failure: VERSION_SKEW } satisfies DeskJudgment;
    return (await this.#callsAt(message.place)).judge(message);
  }

  /** What this desk has kept of some keys. */
  async find(message: FindMessage): Promise<FindReplyMessage> {
    if (message.v !== DESK_MESSAGE_VERSION) return { judgments: [] };
    const kept = await Promise.all(message.keys.map((key) => this.#bridged.find(key)));
    return { judgments: kept.flatMap((one) => (one === null ? [] : [one.judgment])) };
  }

  /** Takes in judgments whose issuer the caller has checked. */
  async import(message: ImportMessage): Promise<ImportReplyMessage> {
    const { v, place, judgments } = message;
    if (v !== DESK_MESSAGE_VERSION) return { outcomes: judgments.map(() => ({ failure: VERSION_SKEW })) };
    const calls = await this.#callsAt(place);
    return { outcomes: await Promise.all(judgments.map((judgment) => calls.import(judgment))) };
  }

  override async alarm(): Promise<void> {
    await this.#bridged.tidy();
  }

  async #callsAt(place: DeskPlace): Promise<DeskCalls> {
    const issuer = await issuerOf(this.env);
    if (!issuer.ok) throw new Error(`JudgeDesk: the setting ${issuer.setting} is malformed`);
    this.#calls ??= new DeskCalls({
      lanes: lanesOf(this.backends(this.env), place, now),
      failures: new FailureMemory({ ms: FAILURE_MEMORY_MS, entries: MAX_REMEMBERED_FAILURES }, now),
      memory: new PromptMemory({ bytes: MAX_PROMPT_BYTES_IN_FLIGHT, liveReserve: LIVE_RESERVE_SHARE }),
      bridged: this.#bridged,
      kv: this.#kv,
      signing: issuer.signing,
      now,
    });
    return this.#calls;
  }
}
