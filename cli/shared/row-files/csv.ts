/**
 * Reads CSV and TSV with a header line, by RFC 4180, also with semicolons, as spreadsheets of many countries write,
 * with bars, and with the line `sep=;` of Excel before the header.
 */

import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { CsvLayout } from '../../../src/wire/rows/csv-header.ts';
import { type FileRecord, faultOfRecord } from '../../../src/wire/rows/row-line.ts';
import { RunError } from '../exit.ts';
import type { Input } from '../input.ts';

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

/**
 * Yields the records by the names in the header. One that is malformed is a fault, and the next ones are read on.
 * @throws RunError where the text is no UTF-8.
 */
export async function* csvRecords(input: Input, { delimiter, headerLine }: CsvLayout): AsyncGenerator<FileRecord> {
  let number = 0;
  const faults: FileRecord[] = [];
  const parser = parse({
    bom: true,
    columns: true,
    delimiter,
    from_line: headerLine,
    skip_empty_lines: true,
    max_record_size: MAX_BODY_BYTES,
    skip_records_with_error: true,
    on_record: (record): FileRecord => ({ number: ++number, record: { ok: true, value: record } }),
    on_skip: faultOfRecord((error) => faults.push({ number: ++number, record: { ok: false, error } })),
  });
  const source = Readable.from(readable(input));
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const record of source.pipe(parser)) {
      while (faults[0] !== undefined && faults[0].number < record.number) yield* faults.splice(0, 1);
      yield record;
    }
    yield* faults;
  } finally {
    source.destroy();
  }
}
