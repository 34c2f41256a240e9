/** Reads CSV and TSV with a header line, by RFC 4180, also with semicolons, as spreadsheets of many countries write. */

import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { isJsonObject } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { RunError } from '../exit.ts';
import type { Input } from '../input.ts';
import type { Fields } from '../rows.ts';

export type Delimiter = ',' | '\t' | ';';

/** The delimiter of a CSV file, by its header: the first of comma, semicolon and tab that it has outside quotes. */
export function delimiterOf(head: string): Delimiter {
  const header = head.split(/[\r\n]/, 1)[0]?.replace(/"[^"]*"/g, '') ?? '';
  return ([',', ';', '\t'] as const).find((delimiter) => header.includes(delimiter)) ?? ',';
}

/** Yields one record a line, by the names in the header. @throws RunError at the first record that is malformed. */
export async function* csvRecords({ chunks, name }: Input, delimiter: Delimiter): AsyncGenerator<Fields> {
  const parser = parse({
    bom: true,
    columns: true,
    delimiter,
    skip_empty_lines: true,
    max_record_size: MAX_BODY_BYTES,
  });
  const source = Readable.from(chunks);
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const record of source.pipe(parser)) if (isJsonObject(record)) yield record;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RunError(
      `${name}: ${problemOf(error)}`,
      'Rows before it are done. Fields with commas, quotes or line breaks need quotes.',
    );
  } finally {
    source.destroy();
  }
}

/** The messages of csv-parse may quote the file, which is untrusted; they are replaced. */
function problemOf({ code, lines }: CsvError & { readonly lines?: unknown }): string {
  const line = typeof lines === 'number' ? ` on line ${lines}` : '';
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return `the record${line} has another number of fields than the header`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return `a quote${line} is not closed`;
    case 'CSV_MAX_RECORD_SIZE':
      return `the record${line} is longer than ${MAX_BODY_BYTES} bytes`;
    default:
      return `the record${line} is malformed`;
  }
}
