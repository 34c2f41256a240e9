/**
 * Adds up the increments of all isolates, in desk 0. The totals are saved when they are read, so they survive restarts
 * and deployments; what was added since the last reading is lost with the object.
 */
import * as z from 'zod';
import { sampleOf } from './catalogue.ts';
import { type Increment, MAX_SERIES } from './counts.ts';

const storedSchema = z.array(z.tuple([z.string(), z.number()]));

export class FigureTotals {
  readonly #sql: SqlStorage;
  readonly #totals: Map<string, number>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec('CREATE TABLE IF NOT EXISTS figure_totals_v1 (id INTEGER PRIMARY KEY, samples TEXT NOT NULL) STRICT');
    const [row] = sql.exec<{ samples: string }>('SELECT samples FROM figure_totals_v1 WHERE id = 1').toArray();
    const stored = storedSchema.safeParse(row === undefined ? [] : JSON.parse(row.samples));
    // Totals of an unknown form begin again at 0, which Prometheus takes for a restart.
    this.#totals = new Map(stored.success ? stored.data : []);
  }

  add(increments: readonly Increment[]): void {
    for (const { sample, value } of increments) {
      const known = this.#totals.get(sample);
      if (known === undefined && this.#totals.size >= MAX_SERIES) this.#drop();
      else this.#totals.set(sample, (known ?? 0) + value);
    }
  }

  /** Returns all totals, and saves them. */
  read(): Increment[] {
    const totals = [...this.#totals];
    this.#sql.exec('INSERT OR REPLACE INTO figure_totals_v1 (id, samples) VALUES (1, ?)', JSON.stringify(totals));
    return totals.map(([sample, value]) => ({ sample, value }));
  }

  #drop(): void {
    const sample = sampleOf('citeward_series_dropped', '_total', []);
    this.#totals.set(sample, (this.#totals.get(sample) ?? 0) + 1);
  }
}
