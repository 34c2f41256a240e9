/**
 * Opens the rows of a command in the formats in which data sets come: JSON lines, a JSON array or object, CSV, TSV and
 * Parquet. Every format becomes JSON lines, one row a line, so the commands know a single format.
 */
import type { FlagDescription, Flags } from '../flags.ts';
import { type Input, openInput } from '../input.ts';
import { type ColumnMap, mappedLines, readColumnMap, rowLines } from './columns.ts';
import { jsonValueLines } from './json-values.ts';

export const MAP_FLAG: FlagDescription = {
  name: 'map',
  kind: 'text',
  value: 'FILE',
  help: 'JSON file that names the column of each field: {"question": "prompt"}.',
};

/**
 * Opens the only input of a command as JSON lines. The format follows from the first bytes, and for CSV and TSV from
 * the end of the file's name. Rows that had to be converted cannot be read again in place (`path` is null).
 *
 * @param example a command with an input, printed if there is none.
 * @throws UsageError if the input or the column map is unusable; while the rows are read, RunError if the rest of the
 * file cannot be read.
 */
export async function openRows(flags: Flags, example: string): Promise<Input> {
  const input = await openInput(flags.positionals, example);
  const mapPath = flags.text('map');
  const map = mapPath === null ? null : await readColumnMap(mapPath);
  const { head, chunks } = await peeked(input.chunks);
  const format = formatOf(head, input.name);
  if (format === 'jsonl' && map === null) return { ...input, chunks };
  return {
    name: input.name,
    unit: format === 'jsonl' ? 'line' : 'row',
    path: null,
    bytes: null,
    chunks: await converted(format, { ...input, chunks }, map),
  };
}

/** The readers of CSV and Parquet are loaded when a file needs them. */
async function converted(format: RowFormat, input: Input, map: ColumnMap | null): Promise<AsyncIterable<Uint8Array>> {
  switch (format) {
    case 'jsonl':
      return mappedLines(input.chunks, map);
    case 'json':
      return mappedLines(jsonValueLines(input.chunks), map);
    case 'csv':
    case 'tsv': {
      const { csvRecords } = await import('./csv.ts');
      return rowLines(csvRecords(input, format === 'csv' ? ',' : '\t'), map);
    }
    case 'parquet': {
      const { parquetRecords } = await import('./parquet.ts');
      return rowLines(parquetRecords(input), map);
    }
  }
}

type RowFormat = 'jsonl' | 'json' | 'csv' | 'tsv' | 'parquet';

/** The first bytes of a Parquet file. */
const PARQUET_MAGIC = 'PAR1';

/**
 * A JSON array begins with a bracket, and a printed object with a brace alone on its line. Any other text is read line
 * by line, so that a broken line is the problem of that line only.
 */
function formatOf(head: string, name: string): RowFormat {
  if (head.startsWith(PARQUET_MAGIC)) return 'parquet';
  if (/\.csv$/i.test(name)) return 'csv';
  if (/\.tsv$/i.test(name)) return 'tsv';
  return /^\uFEFF?\s*(\[|\{[ \t]*\r?(\n|$))/.test(head) ? 'json' : 'jsonl';
}

/** As much of the first chunks as `formatOf` looks at, in bytes. */
const HEAD_BYTES = 64;

/** Reads the beginning of the chunks as text. The returned chunks are all of them. */
async function peeked(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: string; readonly chunks: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < HEAD_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    first.push(next.value);
    bytes += next.value.byteLength;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: new TextDecoder().decode(Buffer.concat(first).subarray(0, HEAD_BYTES)), chunks: all() };
}
