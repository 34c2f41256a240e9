/**
 * Reads CSV and TSV with a header line, by RFC 4180, also with semicolons, as spreadsheets of many countries write,
 * with bars, and with the line `sep=;` of Excel before the header.
 */

import { parse } from 'csv-parse';
import type { CsvLayout } from '../../../src/wire/rows/csv-header.ts';
import { CSV_HINT, CsvRecords, UnreadableCsv } from '../../../src/wire/rows/csv-records.ts';
import type { FileRecord } from '../../../src/wire/rows/row-line.ts';
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
 * @throws RunError where the text is no UTF-8, at a record that is too long, and for a malformed header.
 */
export async function* csvRecords(input: Input, { delimiter, headerLine }: CsvLayout): AsyncGenerator<FileRecord> {
  const records = new CsvRecords();
  const parser = parse({ ...records.options, bom: true, delimiter, from_line: headerLine });
  // The error is that of the write, too.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of readable(input)) {
      await new Promise<void>((resolve, reject) => {
        parser.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
      yield* records.take();
    }
    await new Promise<void>((resolve, reject) => {
      parser.once('error', reject);
      parser.end(resolve);
    });
  } catch (error) {
    if (!(error instanceof UnreadableCsv)) throw error;
    yield* records.take();
    const done = error.row === null || error.row === 1 ? '' : 'Rows before it are done. ';
    throw new RunError(`${input.name} ${error.message}`, `${done}${CSV_HINT}`);
  } finally {
    parser.destroy();
  }
  yield* records.end();
}
