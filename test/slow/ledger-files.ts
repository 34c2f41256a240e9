/** Looks into the SQLite files of run ledgers, and lets their segments grow old. */
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

/** The state of all ledgers in a folder. The Worker must not run: it locks the files. */
export function ledgerState(folder: string): LedgerState {
  return ledgers(folder, true).reduce(
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

/** Makes everything due that depends on time. The Worker must not run; the next recording sets the objects' alarms. */
export function ageLedgers(folder: string): void {
  for (const database of ledgers(folder, false)) {
    database.exec('UPDATE segments_v1 SET at = 0');
    database.close();
  }
}

function ledgers(folder: string, readOnly: boolean): DatabaseSync[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.sqlite')) return [];
    const database = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly });
    const isLedger = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'segments_v1'").get() !== undefined;
    if (isLedger) return [database];
    database.close();
    return [];
  });
}
