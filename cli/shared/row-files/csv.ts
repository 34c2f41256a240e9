/**
 * Reads CSV and TSV with a header line, by RFC 4180, also with semicolons, as spreadsheets of many countries write,
 * with bars, and with the line `sep=;` of Excel before the header.
 */

import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { isJsonObject } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { CsvLayout } from '../../../src/wire/rows/csv-header.ts';
import { RunError } from '../exit.ts';
import type { Input } from '../input.ts';
import type { Fields } from '../rows.ts';

/** Passes text on, if it is UTF-8. @throws RunError */
async function* readable({ chunks, name }: Input): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunks) {
      decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    // A character that the end of the file cuts off is none.
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new RunError(`${name}: not UTF-8`, 'Rows before it are done. Save the file as "CSV UTF-8".');
  }
}

/** Yields one record a line, by the names in the header. @throws RunError at the first record that is malformed. */
export async function* csvRecords(input: Input, { delimiter, headerLine }: CsvLayout): AsyncGenerator<Fields> {
  const { name } = input;
  const parser = parse({
    bom: true,
    columns: true,
    delimiter,
    from_line: headerLine,
    skip_empty_lines: true,
    max_record_size: MAX_BODY_BYTES,
  });
  const source = Readable.from(readable(input));
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
