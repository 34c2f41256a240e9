/** The budgets of projects in D1, and what was used of them each day. */
import * as z from 'zod';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';
import { type Budgets, dayOf } from './budgets.ts';

/** Judge calls and the tokens of their prompts and replies. */
export type BudgetAmounts = { readonly calls: number; readonly tokens: number };

/** A part of the budgets of a day that was reserved, and all that is used or reserved now. */
type Lease = { readonly granted: BudgetAmounts; readonly used: BudgetAmounts };

/** How long the use of a day is kept. */
const USE_MEMORY_MS = 90 * 24 * 60 * 60 * 1000;

const budgetsSchema = z.object({
  judge_calls_per_day: z.int().nullable(),
  judge_tokens_per_day: z.int().nullable(),
});
const useSchema = z.object({ calls: z.int(), tokens: z.int() });
const NOTHING: BudgetAmounts = { calls: 0, tokens: 0 };

const USE = 'SELECT judge_calls AS calls, judge_tokens AS tokens FROM budget_use WHERE project = ?1 AND day = ?2';

/** Every method throws StorageError if D1 fails. */
export class ProjectTable {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** The budgets of a project; null if it has none of its own. */
  async budgets(project: string): Promise<Budgets | null> {
    const row = await this.#run('find', (db) =>
      db
        .prepare('SELECT judge_calls_per_day, judge_tokens_per_day FROM projects WHERE project = ?')
        .bind(project)
        .first(),
    );
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

  /** What a project has used of a day, with what desks have reserved. */
  async used(project: string, day: string): Promise<BudgetAmounts> {
    const row = await this.#run('used', (db) => db.prepare(USE).bind(project, day).first());
    return row === null ? NOTHING : useSchema.parse(row);
  }

  /**
   * Reserves a part of the budgets of a day: as much as is wanted, or what is left. All reservations together never
   * exceed the budgets.
   */
  async lease(project: string, day: string, budgets: Budgets, wanted: BudgetAmounts): Promise<Lease> {
    const [, before, , after] = await this.#run('lease', (db) =>
      db.batch([
        db
          .prepare('INSERT OR IGNORE INTO budget_use (project, day, judge_calls, judge_tokens) VALUES (?, ?, 0, 0)')
          .bind(project, day),
        db.prepare(USE).bind(project, day),
        db
          .prepare(
            `UPDATE budget_use SET judge_calls = judge_calls + max(0, min(?3, ?4 - judge_calls)),
               judge_tokens = judge_tokens + max(0, min(?5, ?6 - judge_tokens)) WHERE project = ?1 AND day = ?2`,
          )
          .bind(
            project,
            day,
            wanted.calls,
            budgets.judge_calls_per_day ?? Number.MAX_SAFE_INTEGER,
            wanted.tokens,
            budgets.judge_tokens_per_day ?? Number.MAX_SAFE_INTEGER,
          ),
        db.prepare(USE).bind(project, day),
      ]),
    );
    const had = useSchema.parse(before?.results[0]);
    const used = useSchema.parse(after?.results[0]);
    return { granted: { calls: used.calls - had.calls, tokens: used.tokens - had.tokens }, used };
  }

  /** Gives back what was reserved and not used. A negative amount was used beyond the reservation. */
  async giveBack(project: string, day: string, { calls, tokens }: BudgetAmounts): Promise<void> {
    await this.#run('give_back', (db) =>
      db
        .prepare(
          `UPDATE budget_use SET judge_calls = judge_calls - ?3, judge_tokens = judge_tokens - ?4
           WHERE project = ?1 AND day = ?2`,
        )
        .bind(project, day, calls, tokens)
        .run(),
    );
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
