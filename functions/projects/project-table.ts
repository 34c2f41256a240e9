/** The budgets of projects in D1, and what was used of them each day. */
import * as z from 'zod';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { type Budgets, dayOf } from './budgets.ts';

/** Judge calls and the tokens of their prompts and replies. */
export type BudgetAmounts = { readonly calls: number; readonly tokens: number };

/** What a desk tells about a day, and what it wants. */
type Exchange = {
  /** The budgets that its wishes are for. */
  readonly budgets: Budgets;
  /** What it has reserved, by its last exchange. */
  readonly held: BudgetAmounts;
  /** What was used since, beyond the reservation or not. */
  readonly spent: BudgetAmounts;
  /** What it must keep reserved for calls that run. */
  readonly open: BudgetAmounts;
  /** What it wants to have reserved; less than it has = it gives the rest back. */
  readonly target: BudgetAmounts;
};

type Exchanged = {
  /** The budgets of the project now; `null` = it has none of its own. */
  readonly own: Budgets | null;
  /** What the desk has reserved now. */
  readonly reserved: BudgetAmounts;
  /** What is used or reserved of the day, by all desks. */
  readonly total: BudgetAmounts;
};

/** What was used of a day, and what desks have reserved besides. */
type Use = { readonly used: BudgetAmounts; readonly reserved: BudgetAmounts };

/** How long the use of a day is kept. */
const USE_MEMORY_MS = 90 * 24 * 60 * 60 * 1000;

const budgetsSchema = z.object({
  judge_calls_per_day: z.int().nullable(),
  judge_tokens_per_day: z.int().nullable(),
});
const totalSchema = z.object({ calls: z.int(), tokens: z.int() });
const useSchema = totalSchema.extend({ reserved_calls: z.int(), reserved_tokens: z.int() });
const NOTHING: BudgetAmounts = { calls: 0, tokens: 0 };

const OWN = 'SELECT judge_calls_per_day, judge_tokens_per_day FROM projects WHERE project = ?1';
/** `judge_calls` and `judge_tokens` include what is reserved. */
const TOTAL = 'SELECT judge_calls AS calls, judge_tokens AS tokens FROM budget_use WHERE project = ?1 AND day = ?2';
const USE = `SELECT judge_calls AS calls, judge_tokens AS tokens, reserved_calls, reserved_tokens FROM budget_use
  WHERE project = ?1 AND day = ?2`;

/** Every method throws StorageError if D1 fails. */
export class ProjectTable {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** The budgets of a project; null if it has none of its own. */
  async budgets(project: string): Promise<Budgets | null> {
    const row = await this.#run('find', (db) => db.prepare(OWN).bind(project).first());
    return row === null ? null : budgetsSchema.parse(row);
  }

  async setBudgets(project: string, { judge_calls_per_day, judge_tokens_per_day }: Budgets): Promise<void> {
    await this.#run('set', (db) =>
      db
        .prepare(
          `INSERT INTO projects (project, judge_calls_per_day, judge_tokens_per_day) VALUES (?, ?, ?)
           ON CONFLICT (project) DO UPDATE SET judge_calls_per_day = excluded.judge_calls_per_day,
             judge_tokens_per_day = excluded.judge_tokens_per_day`,
        )
        .bind(project, judge_calls_per_day, judge_tokens_per_day)
        .run(),
    );
  }

  /** What a project has used of a day, as far as the desks have told. */
  async use(project: string, day: string): Promise<Use> {
    const row = await this.#run('used', (db) => db.prepare(USE).bind(project, day).first());
    if (row === null) return { used: NOTHING, reserved: NOTHING };
    const { calls, tokens, reserved_calls, reserved_tokens } = useSchema.parse(row);
    return {
      used: { calls: calls - reserved_calls, tokens: tokens - reserved_tokens },
      reserved: { calls: reserved_calls, tokens: reserved_tokens },
    };
  }

  /**
   * Counts what a desk has used, and changes what it has reserved: to its target, or as far as the budgets allow. All
   * reservations together never exceed the budgets that the desks know.
   */
  async exchange(project: string, day: string, { budgets, held, spent, open, target }: Exchange): Promise<Exchanged> {
    const kept = { calls: Math.max(0, held.calls - spent.calls), tokens: Math.max(0, held.tokens - spent.tokens) };
    const calls = changeOf(budgets.judge_calls_per_day, kept.calls, open.calls, target.calls);
    const tokens = changeOf(budgets.judge_tokens_per_day, kept.tokens, open.tokens, target.tokens);
    const [own, , , before, , after] = await this.#run('exchange', (db) =>
      db.batch([
        db.prepare(OWN).bind(project),
        db
          .prepare('INSERT OR IGNORE INTO budget_use (project, day, judge_calls, judge_tokens) VALUES (?, ?, 0, 0)')
          .bind(project, day),
        db
          .prepare(
            `UPDATE budget_use SET judge_calls = judge_calls + ?3, judge_tokens = judge_tokens + ?4,
               reserved_calls = reserved_calls + ?5, reserved_tokens = reserved_tokens + ?6
             WHERE project = ?1 AND day = ?2`,
          )
          .bind(
            ...[project, day, spent.calls + kept.calls - held.calls, spent.tokens + kept.tokens - held.tokens],
            ...[kept.calls - held.calls, kept.tokens - held.tokens],
          ),
        db.prepare(TOTAL).bind(project, day),
        db
          .prepare(
            `UPDATE budget_use SET judge_calls = judge_calls + max(?3, min(?4, ?5 - judge_calls)),
               reserved_calls = reserved_calls + max(?3, min(?4, ?5 - judge_calls)),
               judge_tokens = judge_tokens + max(?6, min(?7, ?8 - judge_tokens)),
               reserved_tokens = reserved_tokens + max(?6, min(?7, ?8 - judge_tokens))
             WHERE project = ?1 AND day = ?2`,
          )
          .bind(project, day, ...calls, ...tokens),
        db.prepare(TOTAL).bind(project, day),
      ]),
    );
    const [row] = own?.results ?? [];
    const had = totalSchema.parse(before?.results[0]);
    const total = totalSchema.parse(after?.results[0]);
    const reserved = {
      calls: kept.calls + total.calls - had.calls,
      tokens: kept.tokens + total.tokens - had.tokens,
    };
    return { own: row === undefined ? null : budgetsSchema.parse(row), reserved, total };
  }

  /** Deletes the use of days long ago. @param now milliseconds since 1970. */
  async clear(now: number): Promise<void> {
    await this.#run('clear', (db) =>
      db
        .prepare('DELETE FROM budget_use WHERE day < ?')
        .bind(dayOf(now - USE_MEMORY_MS))
        .run(),
    );
  }

  #run<T>(operation: string, work: (db: D1Database) => Promise<T>): Promise<T> {
    return stored('d1', `projects_${operation}`, async () => work(await database(this.#db)));
  }
}

/** The bounds of a change of a reservation: the least, the wanted one, and the budget. Without a limit it ends. */
function changeOf(limit: number | null, kept: number, open: number, target: number): [number, number, number] {
  if (limit === null) return [-kept, -kept, Number.MAX_SAFE_INTEGER];
  return [-Math.max(0, kept - open), target - kept, limit];
}
