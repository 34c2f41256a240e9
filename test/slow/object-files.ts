/** Looks into the SQLite files of objects, and lets time pass in them. The Worker must not run: it locks the files. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

type LedgerState = {
  /** Records whose content is in the object. */
  readonly inline: number;
  /** Records in all. */
  readonly records: number;
  /** Segments in R2. */
  readonly segments: number;
  /** Bytes of the objects' files. */
  readonly bytes: number;
};

/** The state of all ledgers in a folder. */
export function ledgerState(folder: string): LedgerState {
  return databases(folder, 'segments_v1', true).reduce(
    (sum, database) => {
      const count = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
      const pages = count('PRAGMA page_count') - count('PRAGMA freelist_count');
      const state = {
        inline: sum.inline + count('SELECT count(*) FROM records_v1 WHERE rows IS NOT NULL'),
        records: sum.records + count('SELECT count(*) FROM records_v1'),
        segments: sum.segments + count('SELECT count(*) FROM segments_v1 WHERE key IS NOT NULL'),
        bytes: sum.bytes + pages * count('PRAGMA page_size'),
      };
      database.close();
      return state;
    },
    { inline: 0, records: 0, segments: 0, bytes: 0 },
  );
}

/** Makes everything due that depends on time. The next recording sets the objects' alarms. */
export function ageLedgers(folder: string): void {
  for (const database of databases(folder, 'segments_v1', false)) {
    database.exec('UPDATE segments_v1 SET at = 0');
    database.close();
  }
}

/** The keys of R2 that the ledgers name, and those of segments that R2 has. Both sorted. */
export function segmentKeys(folder: string): { readonly named: string[]; readonly stored: string[] } {
  const keysOf = (table: string, condition: string): string[] =>
    databases(folder, table, true)
      .flatMap((database) => {
        const rows = database.prepare(`SELECT key FROM ${table} WHERE key ${condition}`).all();
        database.close();
        return rows.map(({ key }) => String(key));
      })
      .sort();
  return { named: keysOf('segments_v1', 'IS NOT NULL'), stored: keysOf('objects', "LIKE 'runs/%/segments/%'") };
}

/** Ends the leases of all tasks of batches: their consumers died. */
export function endLeases(folder: string): void {
  for (const database of databases(folder, 'tasks_v1', false)) {
    database.exec("UPDATE tasks_v1 SET due_at = 0 WHERE state IN ('held', 'waiting')");
    database.close();
  }
}

/** The databases that have a table. */
function databases(folder: string, table: string, readOnly: boolean): DatabaseSync[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.sqlite')) return [];
    const database = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly });
    const found = database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table);
    if (found !== undefined) return [database];
    database.close();
    return [];
  });
}
