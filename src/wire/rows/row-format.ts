/** The formats in which files hold records, by their first characters and their names. */
import { hasHeaderOfRows } from './csv-header.ts';

export type RowFormat = 'jsonl' | 'json' | 'csv' | 'tsv' | 'parquet';

/** The first characters of a Parquet file, and of a ZIP archive. */
const PARQUET_MAGIC = 'PAR1';
const ZIP_MAGIC = 'PK\u0003\u0004';

export function isZip(head: string): boolean {
  return head.startsWith(ZIP_MAGIC);
}

/**
 * A JSON array begins with a bracket, and a printed object with a brace alone on its line; CSV, whatever its name, has
 * a header with fields of rows. Any other text is read line by line, so that a broken line is the problem of that line
 * only.
 */
export function rowFormatOf(head: string, name: string): RowFormat {
  if (head.startsWith(PARQUET_MAGIC)) return 'parquet';
  if (/\.csv$/i.test(name)) return 'csv';
  if (/\.tsv$/i.test(name)) return 'tsv';
  if (hasHeaderOfRows(head)) return 'csv';
  return /^\uFEFF?\s*(\[|\{[ \t]*\r?(\n|$))/.test(head) ? 'json' : 'jsonl';
}
