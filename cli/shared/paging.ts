/** Prints a list that the Worker sends page by page. */
import type { FlagDescription, Flags } from './flags.ts';
import type { Screen } from './screen.ts';
import { type Column, resultTable, type TableRow } from './table.ts';

const DEFAULT_LISTED = 20;
const MAX_LISTED = 10_000;
/** Number of entries that one request asks for. */
export const PAGE_SIZE = 100;

export const LIMIT_FLAG: FlagDescription = {
  name: 'limit',
  kind: 'text',
  value: 'N',
  help: `Maximum number of entries (default ${DEFAULT_LISTED}).`,
};

/** The value of `--limit`. @throws UsageError */
export function limitOf(flags: Flags): number {
  return flags.count('limit', { min: 1, max: MAX_LISTED }) ?? DEFAULT_LISTED;
}

type Page<T> = {
  readonly entries: readonly T[];
  /** Cursor of the next page; `null` = this is the last one. */
  readonly next: string | null;
};

type List<T> = {
  readonly limit: number;
  /** Fetches up to `count` entries after the cursor `after`. */
  readonly fetchPage: (count: number, after: string | null) => Promise<Page<T>>;
  readonly columns: readonly Column[];
  readonly rowOf: (entry: T) => TableRow;
  /** Prints JSON lines instead of a table. */
  readonly json: boolean;
  /** The message if there are no entries. */
  readonly empty: string;
};

export async function printList<T>(
  screen: Screen,
  { limit, fetchPage, columns, rowOf, json, empty }: List<T>,
): Promise<void> {
  const table = resultTable(columns, screen);
  let left = limit;
  let after: string | null = null;
  do {
    const { entries, next }: Page<T> = await fetchPage(Math.min(PAGE_SIZE, left), after);
    for (const entry of entries) await (json ? screen.result(JSON.stringify(entry)) : table.add(rowOf(entry)));
    left -= entries.length;
    after = next;
  } while (left > 0 && after !== null);
  await table.end();
  if (left === limit) screen.message(empty, 'dim');
}
