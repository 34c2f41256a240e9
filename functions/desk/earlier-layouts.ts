/**
 * The layouts of desks that came before the present one. After a change of DESKS or BACKENDS a judgment may have another
 * owner. The earlier owner may have made it, or be making it, before KV shows it; so the new owner asks there first.
 * Desk 0 is in every layout and keeps their order.
 */
import * as z from 'zod';
import type { Judgment } from '../../src/judgments/judgment.ts';
import { JUDGE_DEADLINE_MS } from '../../src/judgments/obtain.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Result } from '../../src/result.ts';
import { send } from './desk-client.ts';
import { type DeskLayout, ownerOf, possibleOwners } from './desk-layout.ts';
import {
  DESK_MESSAGE_VERSION,
  type DeskMethods,
  type DeskPlace,
  type EarlierLayout,
  type FindReplyMessage,
} from './desk-messages.ts';
import { TOGETHER_MS } from './finished-tables.ts';

/**
 * How long earlier owners are asked: two minutes in which isolates may still have the old layout, eight in which their
 * calls may end (`FRESH_MISS_MS`), the time in which the earlier owner writes their judgments together, and some minutes
 * for stale misses of KV.
 */
export const EARLIER_OWNERS_MS = TOGETHER_MS + 15 * 60 * 1000;

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
        else console.error(JSON.stringify({ event: 'stored_form_unknown', object: 'JudgeDesk', detail: 'a layout' }));
      }
    });
    return [...earlier.values()];
  }
}

/** Where an object keeps what it must know after a restart: the synchronous key-value store of its storage. */
type Memory = Pick<DurableObjectStorage['kv'], 'get' | 'put'>;

const SUCCESSORS = 'successors_v1';

type Successor = { readonly layout: string; readonly until_ms: number };

/**
 * The layouts whose owners have asked this desk. Such an owner writes the partitions to KV that this desk did not hold
 * when it was asked. So this desk writes nothing together for calls of another layout, until all of those have ended.
 */
export class Succession {
  readonly #memory: Memory;
  #successors: readonly Successor[];

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#successors = memory.get<readonly Successor[]>(SUCCESSORS) ?? [];
  }

  /** Notes that an owner under a layout has asked this desk. Writes once for each layout. */
  note(layout: DeskLayout, now: number): void {
    const name = JSON.stringify(layout);
    const current = this.#successors.filter(({ until_ms }) => until_ms > now);
    if (current.some((one) => one.layout === name)) return;
    this.#successors = [...current, { layout: name, until_ms: now + EARLIER_OWNERS_MS }];
    this.#memory.put(SUCCESSORS, this.#successors);
  }

  /** Whether owners under another layout may write the partitions of this one's calls. */
  isSucceeded(layout: DeskLayout, now: number): boolean {
    const name = JSON.stringify(layout);
    return this.#successors.some((one) => one.until_ms > now && one.layout !== name);
  }
}

type OwnersParts = {
  readonly deskOf: (desk: number) => Pick<DeskMethods, 'find' | 'earlierLayouts'>;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
};

type Asked = Result<readonly EarlierLayout[], JudgeFailure>;

/** Asks the desks that owned judgments under earlier layouts. */
export class EarlierOwners {
  readonly #parts: OwnersParts;
  /** The answers of desk 0, by layout. */
  readonly #asked = new Map<string, Promise<Asked>>();

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
  ): Promise<Result<Pick<FindReplyMessage, 'judgments' | 'held'>, JudgeFailure>> {
    const earlier = await this.#earlierThan(layout);
    if (!earlier.ok) return earlier;
    const now = this.#parts.now();
    const asked = earlier.value
      .filter(({ until_ms }) => until_ms > now)
      .flatMap((one) => keys.flatMap((key) => [...ownersIn(one.layout, key, model)].map((owner) => ({ key, owner }))))
      .filter(({ owner }) => owner !== desk);
    const judgments: Judgment[] = [];
    const held: string[] = [];
    let failure: JudgeFailure | null = null;
    await Promise.all(
      [...Map.groupBy(asked, ({ owner }) => owner)].map(async ([owner, group]) => {
        const open = [...new Set(group.map(({ key }) => key))];
        const message = { v: DESK_MESSAGE_VERSION, place: null, keys: open, wait, successor: layout };
        const sent = await send(async () => await this.#parts.deskOf(owner).find(message), JUDGE_DEADLINE_MS);
        if (!sent.ok) failure = sent.failure;
        else {
          judgments.push(...sent.reply.judgments);
          held.push(...sent.reply.held);
        }
      }),
    );
    return failure === null ? { ok: true, value: { judgments, held } } : { ok: false, error: failure };
  }

  /** Asks desk 0 once for each layout; a failure is not kept. */
  #earlierThan(layout: DeskLayout): Promise<Asked> {
    const name = JSON.stringify(layout);
    const before = this.#asked.get(name);
    if (before !== undefined) return before;
    const asked = this.#ask(layout).then((answer) => {
      if (!answer.ok) this.#asked.delete(name);
      return answer;
    });
    this.#asked.set(name, asked);
    return asked;
  }

  async #ask(layout: DeskLayout): Promise<Asked> {
    const message = { v: DESK_MESSAGE_VERSION, layout };
    const sent = await send(async () => await this.#parts.deskOf(0).earlierLayouts(message), ASK_MS);
    return sent.ok ? { ok: true, value: sent.reply.earlier } : { ok: false, error: sent.failure };
  }
}

const ASK_MS = 10_000;

function ownersIn(layout: DeskLayout, key: string, model: string | null): ReadonlySet<number> {
  return model === null ? possibleOwners(layout, key) : new Set([ownerOf(layout, key, model)]);
}
