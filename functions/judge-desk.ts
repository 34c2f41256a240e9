/**
 * JudgeDesk: the Durable Object that makes the judge calls of all isolates. The class only connects the platform with
 * the classes of desk/, which decide about queueing, retries and storage. An AbortSignal cannot cross RPC, so a caller
 * passes its deadline, and a call outlives its caller.
 *
 * Calls in progress, slots, breakers and remembered failures are in memory. Losing them costs at most a second call;
 * finished judgments are in SQLite.
 */
import { DurableObject } from 'cloudflare:workers';
import type { DeskJudgment } from '../src/judgments/desk.ts';
import { LIVE_RESERVE_SHARE, MAX_PROMPT_BYTES_IN_FLIGHT, PromptMemory } from './desk/capacity.ts';
import { DeskCalls, lanesOf } from './desk/desk-calls.ts';
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
} from './desk/desk-messages.ts';
import { FAILURE_MEMORY_MS, FailureMemory, MAX_REMEMBERED_FAILURES } from './desk/failure-memory.ts';
import { BridgedJudgments, FinishedJudgments } from './desk/finished-judgments.ts';
import type { Environment } from './environment.ts';
import { createPlatformFactory, type PlatformFactory, type PlatformParts, uncachedJudgments } from './platform.ts';

const now = (): number => Date.now();

export class JudgeDesk extends DurableObject<Environment> {
  readonly #bridged: BridgedJudgments;
  readonly #platforms: PlatformFactory;
  #calls: DeskCalls | null = null;

  /** @param parts replaces parts of the platform, for tests. */
  constructor(state: DurableObjectState, environment: Environment, parts: Partial<PlatformParts> = {}) {
    super(state, environment);
    this.#platforms = createPlatformFactory({ ...parts, judgmentStoreOf: uncachedJudgments });
    const kv = uncachedJudgments(environment);
    this.#bridged = new BridgedJudgments(new FinishedJudgments(state.storage.sql), kv, state.storage, now);
  }

  async judge(message: JudgeMessage): Promise<JudgeReplyMessage> {
    if (message.v !== DESK_MESSAGE_VERSION) return { ok: false, failure: VERSION_SKEW } satisfies DeskJudgment;
    return (await this.#callsAt(message.place)).judge(message);
  }

  /** Finds the judgments of some keys that this desk has finished. */
  async find(message: FindMessage): Promise<FindReplyMessage> {
    if (message.v !== DESK_MESSAGE_VERSION) return { judgments: [] };
    const kept = await Promise.all(message.keys.map((key) => this.#bridged.find(key)));
    return { judgments: kept.flatMap((one) => (one === null ? [] : [one.judgment])) };
  }

  /** Stores judgments whose issuer the caller has verified. */
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
    const platform = await this.#platforms.createPlatform(this.env, 'live');
    if (!platform.ok) throw new Error(`JudgeDesk: the setting ${platform.error.setting} is malformed`);
    const { backends, judgments, signing } = platform.value;
    this.#calls ??= new DeskCalls({
      lanes: lanesOf(backends, place, now),
      failures: new FailureMemory({ ms: FAILURE_MEMORY_MS, entries: MAX_REMEMBERED_FAILURES }, now),
      memory: new PromptMemory({ bytes: MAX_PROMPT_BYTES_IN_FLIGHT, liveReserve: LIVE_RESERVE_SHARE }),
      bridged: this.#bridged,
      kv: judgments,
      signing,
      now,
    });
    return this.#calls;
  }
}
