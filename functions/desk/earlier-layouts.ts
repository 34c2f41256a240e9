/**
 * The layouts of desks that came before the present one. After a change of DESKS or BACKENDS a judgment may have another
 * owner. The earlier owner may have made it, or be making it, before KV shows it; so the new owner asks there first.
 * Desk 0 is in every layout and keeps their order.
 */
import * as z from 'zod';
import { LONGEST_CALL_MS } from '../../service/desk/call-limits.ts';
import type { Judgment } from '../../src/judgments/judgment.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Result } from '../../src/result.ts';
import { logEvent } from '../log-event.ts';
import { send } from './desk-client.ts';
import { type DeskLayout, ownerOf, possibleOwners } from './desk-layout.ts';
import {
  DESK_MESSAGE_VERSION,
  type DeskMethods,
  type DeskPlace,
  type EarlierLayout,
  type FindReplyMessage,
  VERSION_SKEW,
} from './desk-messages.ts';
import { TOGETHER_MS } from './finished-tables.ts';

/**
 * How long earlier owners are asked. In this time, one after the other:
 * - isolates may still have the old layout: two minutes;
 * - their calls end: `LONGEST_CALL_MS`;
 * - the earlier owner writes their judgments together: `TOGETHER_MS`;
 * - a caller may miss them in KV: a minute; the rest is reserve.
 */
export const EARLIER_OWNERS_MS = LONGEST_CALL_MS + TOGETHER_MS + 7 * 60 * 1000;

const layoutSchema = z.object({ desks: z.int().min(1), few: z.record(z.string(), z.int().min(1)) });

type Row = { n: number; layout: string; since_ms: number };

/** The order of the layouts, in the SQLite of desk 0. */
export class LayoutHistory {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(
      'CREATE TABLE IF NOT EXISTS layouts_v1 (n INTEGER PRIMARY KEY, layout TEXT NOT NULL, since_ms INTEGER NOT NULL)',
    );
  }

  /** Notes that a layout is in use, and returns the others that were in use in the last minutes. */
  earlierThan(layout: DeskLayout, now: number): EarlierLayout[] {
    const present = JSON.stringify(layout);
    const rows = this.#sql.exec<Row>('SELECT n, layout, since_ms FROM layouts_v1 ORDER BY n DESC').toArray();
    if (rows[0]?.layout !== present) {
      const row = { n: (rows[0]?.n ?? 0) + 1, layout: present, since_ms: now };
      this.#sql.exec('INSERT INTO layouts_v1 (n, layout, since_ms) VALUES (?, ?, ?)', row.n, row.layout, row.since_ms);
      rows.unshift(row);
    }
    const earlier = new Map<string, EarlierLayout>();
    rows.forEach((row, position) => {
      const next = rows[position - 1];
      if (next === undefined) return;
      const until_ms = next.since_ms + EARLIER_OWNERS_MS;
      if (until_ms <= now) this.#sql.exec('DELETE FROM layouts_v1 WHERE n = ?', row.n);
      else if (row.layout !== present && !earlier.has(row.layout)) {
        const read = layoutSchema.safeParse(JSON.parse(row.layout));
        if (read.success) earlier.set(row.layout, { layout: read.data, until_ms });
        else logEvent('error', { event: 'stored_form_unknown', object: 'JudgeDesk', detail: 'a layout' });
      }
    });
    return [...earlier.values()];
  }
}

/** Where an object keeps what it must know after a restart: the synchronous key-value store of its storage. */
type Memory = Pick<DurableObjectStorage['kv'], 'get' | 'put'>;

const SUCCESSORS = 'successors_v1';
/** A layout that keeps asking is written down again after this time. */
const NOTED_FOR_MS = 5 * 60 * 1000;

/** A layout whose owners have asked this desk, with the last time, in milliseconds since 1970. */
type Successor = { readonly layout: string; readonly asked_ms: number };

/** The layouts whose owners a call has asked, and when it began to ask, in milliseconds since 1970. */
export type AskedLayouts = { readonly layouts: readonly DeskLayout[]; readonly at_ms: number };

/**
 * The layouts whose owners have asked this desk for judgments. Two desks may own a partition, each under its own layout.
 * Both ask the other before they judge, and the one that asks later writes the partition: it learns what the other has
 * kept until then, and what the other keeps from then on goes alone.
 */
export class Succession {
  readonly #memory: Memory;
  #successors: ReadonlyMap<string, Successor>;
  /** When each layout was last written down. */
  readonly #written = new Map<string, number>();

  constructor(memory: Memory) {
    this.#memory = memory;
    const successors = memory.get<readonly Successor[]>(SUCCESSORS) ?? [];
    this.#successors = new Map(successors.map((one) => [one.layout, one]));
  }

  /** Notes that an owner under a layout has asked this desk. */
  note(layout: DeskLayout, now: number): void {
    const name = JSON.stringify(layout);
    const recent = [...this.#successors].filter(([, { asked_ms }]) => now < asked_ms + EARLIER_OWNERS_MS);
    this.#successors = new Map([...recent, [name, { layout: name, asked_ms: now }]]);
    if (now < (this.#written.get(name) ?? Number.NEGATIVE_INFINITY) + NOTED_FOR_MS) return;
    this.#written.set(name, now);
    this.#memory.put(SUCCESSORS, [...this.#successors.values()]);
  }

  /** Whether an owner under another layout has asked since the call asked it, and so may write the call's partition. */
  isSucceeded(layout: DeskLayout, { layouts, at_ms }: AskedLayouts, now: number): boolean {
    const own = JSON.stringify(layout);
    const asked = new Set(layouts.map((one) => JSON.stringify(one)));
    return [...this.#successors.values()].some(
      (one) =>
        one.layout !== own &&
        now < one.asked_ms + NOTED_FOR_MS + EARLIER_OWNERS_MS &&
        !(asked.has(one.layout) && one.asked_ms < at_ms),
    );
  }
}

type OwnersParts = {
  readonly deskOf: (desk: number) => Pick<DeskMethods, 'find' | 'earlierLayouts'>;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
};

type Asked = Result<readonly EarlierLayout[], JudgeFailure>;

/** What earlier owners have: judgments, and the partitions that they write to KV. */
type Found = Pick<FindReplyMessage, 'judgments' | 'held'> & { readonly asked: AskedLayouts };

/** Asks the desks that owned judgments under earlier layouts. */
export class EarlierOwners {
  readonly #parts: OwnersParts;
  /** The answers of desk 0 by layout, with their times. */
  readonly #asked = new Map<string, { readonly answer: Promise<Asked>; readonly at_ms: number }>();

  constructor(parts: OwnersParts) {
    this.#parts = parts;
  }

  /**
   * Finds judgments at their earlier owners, and the partitions that these write to KV.
   * @param model `null` = unknown.
   * @param options.wait also waits for calls that are running there.
   */
  async find(
    { desk, layout }: DeskPlace,
    keys: readonly string[],
    model: string | null,
    { wait }: { readonly wait: boolean },
  ): Promise<Result<Found, JudgeFailure>> {
    const earlier = await this.#earlierThan(layout);
    if (!earlier.ok) return earlier;
    const now = this.#parts.now();
    const recent = earlier.value.filter(({ until_ms }) => until_ms > now);
    const asked = recent
      .flatMap((one) => keys.flatMap((key) => [...ownersIn(one.layout, key, model)].map((owner) => ({ key, owner }))))
      .filter(({ owner }) => owner !== desk);
    const judgments: Judgment[] = [];
    const held: string[] = [];
    let failure: JudgeFailure | null = null;
    await Promise.all(
      [...Map.groupBy(asked, ({ owner }) => owner)].map(async ([owner, group]) => {
        const open = [...new Set(group.map(({ key }) => key))];
        const message = { v: DESK_MESSAGE_VERSION, place: null, keys: open, wait, successor: layout };
        const sent = await send(
          async () => await this.#parts.deskOf(owner).find(message),
          wait ? LONGEST_CALL_MS : ASK_MS,
        );
        // A desk of another version of the Worker refuses the message: nothing is known of what it has.
        failure ??= sent.ok ? sent.reply.failure : sent.failure;
        if (!sent.ok || sent.reply.failure !== null) return;
        judgments.push(...sent.reply.judgments);
        held.push(...sent.reply.held);
      }),
    );
    if (failure !== null) return { ok: false, error: failure };
    return { ok: true, value: { judgments, held, asked: { layouts: recent.map((one) => one.layout), at_ms: now } } };
  }

  /** Asks desk 0 once a minute for each layout. If that fails, the answer before counts; without one, the call fails. */
  #earlierThan(layout: DeskLayout): Promise<Asked> {
    const name = JSON.stringify(layout);
    const before = this.#asked.get(name);
    const now = this.#parts.now();
    if (before !== undefined && now < before.at_ms + ASK_AGAIN_MS) return before.answer;
    const answer = this.#ask(layout).then(async (asked) => {
      if (asked.ok) return asked;
      if (before !== undefined) return before.answer;
      this.#asked.delete(name);
      return asked;
    });
    this.#asked.set(name, { answer, at_ms: now });
    return answer;
  }

  async #ask(layout: DeskLayout): Promise<Asked> {
    const message = { v: DESK_MESSAGE_VERSION, layout };
    const sent = await send(async () => await this.#parts.deskOf(0).earlierLayouts(message), ASK_MS);
    const failure = sent.ok ? sent.reply.failure : sent.failure;
    return sent.ok && failure === null
      ? { ok: true, value: sent.reply.earlier }
      : { ok: false, error: failure ?? VERSION_SKEW };
  }
}

const ASK_MS = 10_000;
const ASK_AGAIN_MS = 60_000;

function ownersIn(layout: DeskLayout, key: string, model: string | null): ReadonlySet<number> {
  return model === null ? possibleOwners(layout, key) : new Set([ownerOf(layout, key, model)]);
}
