/**
 * The checks of a run's judge (judge-check.ts) in the SQLite of the run's first shard, which erases them with the run.
 * Synchronous, in the caller's transaction.
 */

import type { JudgeCheck } from '../../src/runs/judge-check-schema.ts';
import { judgeCheckSchema, MAX_JUDGE_CHECKS } from '../../src/runs/judge-check-schema.ts';
import { UnknownForm } from '../storage/unknown-form.ts';

/** A check and when it was recorded, in milliseconds since 1970. */
export type StoredCheck = { readonly check: JudgeCheck; readonly at: number };

export class CheckTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Stores a check in place of an earlier one of its rule, judge and step. An audit and a risk cover the whole run, so
   * each replaces every earlier one of its judge. Drops the oldest checks beyond MAX_JUDGE_CHECKS.
   */
  add(check: JudgeCheck, at: number): void {
    // Runs that began before the table was introduced lack it.
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS checks_v1 (
         rule TEXT NOT NULL, judge TEXT NOT NULL, step INTEGER NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL,
         PRIMARY KEY (rule, judge, step)
       ) STRICT, WITHOUT ROWID`,
    );
    const { rule, judge, step } = check;
    if (rule !== 'canary_drift') this.#sql.exec('DELETE FROM checks_v1 WHERE rule = ? AND judge = ?', rule, judge);
    this.#sql.exec(
      'INSERT OR REPLACE INTO checks_v1 (rule, judge, step, at, record) VALUES (?, ?, ?, ?, ?)',
      ...[rule, judge, step, at, JSON.stringify(check)],
    );
    this.#sql.exec(
      `DELETE FROM checks_v1 WHERE (rule, judge, step) IN (
         SELECT rule, judge, step FROM checks_v1 ORDER BY at DESC, step DESC LIMIT -1 OFFSET ?
       )`,
      MAX_JUDGE_CHECKS,
    );
  }

  /** All checks, by step. @throws UnknownForm if a later version wrote one. */
  get checks(): StoredCheck[] {
    if (this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'checks_v1'").toArray().length === 0) return [];
    const rows = this.#sql.exec<{ at: number; record: string }>(
      'SELECT at, record FROM checks_v1 ORDER BY step, at, rule, judge',
    );
    return [...rows].map(({ at, record }) => {
      const check = judgeCheckSchema.safeParse(JSON.parse(record));
      if (!check.success) throw new UnknownForm('judge check');
      return { check: check.data, at };
    });
  }
}
