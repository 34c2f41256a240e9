/**
 * Opens the rows of a command in the formats in which data sets come: JSON lines, a JSON array or object, CSV, TSV and
 * Parquet, each also compressed by gzip. Every format becomes JSON lines, one row a line, so the commands know a single
 * format.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { readLines } from '../../../src/text/lines.ts';
import { csvLayout } from '../../../src/wire/rows/csv-header.ts';
import { isZip, type RowFormat, rowFormatOf } from '../../../src/wire/rows/row-format.ts';
import { type FileRecord, jsonRowLines, type RowLine } from '../../../src/wire/rows/row-line.ts';
import { isToolDocument } from '../../../src/wire/rows/tool-files.ts';
import { ARCHIVE_WITHOUT_ROWS, unreadableBytes, utf16Of } from '../../../src/wire/rows/unreadable-files.ts';
import { RunError, UsageError } from '../exit.ts';
import type { FlagDescription, Flags } from '../flags.ts';
import { type Input, messageOf, openInput, type RowInput } from '../input.ts';
import { mappedLines, proposeMapOfLine, type RowMap, readColumnMap, rowLines } from './columns.ts';
import type { ToolReading } from './tool-records.ts';

export const MAP_FLAG: FlagDescription = {
  name: 'map',
  kind: 'text',
  value: 'FILE|JSON|TOOL',
  help: 'Columns of the fields: {"question": "prompt"}, a file of it, or ragas, trl, verl.',
};

/**
 * Opens the only input of a command as JSON lines. The format follows from the first bytes, and for CSV and TSV from
 * the end of the file's name. Rows that had to be converted cannot be read again in place (`path` is null).
 *
 * @param example a command with an input, printed if there is none.
 * @param areAnswers whether each row must have an answer, so that columns with other names are an error.
 * @param tools reads the files of known tools, too (src/wire/rows/tool-files.ts); `null` = their columns need a map.
 * @throws UsageError if the input or the column map is unusable; while the rows are read, RunError if the rest of the
 * file cannot be read.
 */
export function openRows(
  flags: Flags,
  example: string,
  areAnswers = false,
  tools: ToolReading | null = null,
): Promise<RowInput> {
  return openRowFile(flags.positionals, flags, example, areAnswers, tools);
}

/** Opens one input as `openRows` does. @param positionals in place of those of the flags. */
export async function openRowFile(
  positionals: readonly string[],
  flags: Flags,
  example: string,
  areAnswers = false,
  tools: ToolReading | null = null,
): Promise<RowInput> {
  const mapPath = flags.text('map');
  const map = mapPath === null ? null : await readColumnMap(mapPath);
  const input = await inUtf8(await unzipped(await openInput(positionals, flags.shell.stdin, example)));
  const { head, chunks } = await peeked(input.chunks);
  const text = new TextDecoder().decode(head);
  const isRead = map === null ? tools : null;
  const unreadable = unreadableBytes(text);
  if (unreadable !== null) throw new UsageError(`${input.name} ${unreadable.problem}`, unreadable.hint);
  if (isZip(text) && isRead === null) {
    throw new UsageError(`${input.name} ${ARCHIVE_WITHOUT_ROWS.problem}`, ARCHIVE_WITHOUT_ROWS.hint);
  }
  if (isRead !== null) return openToolRows({ ...input, chunks }, text, isRead);
  const format = rowFormatOf(text, input.name);
  const lines = await linesOfFormat(format, { ...input, chunks }, map, { head: text, areAnswers });
  if (format !== 'jsonl') return convertedInput(input.name, lines);
  if (map !== null) return { ...convertedInput(input.name, lines), unit: 'line' };
  if (areAnswers) proposeMapOfLine(text);
  return { ...input, chunks, lines };
}

/** The rows of a file whose tool its records tell. @throws UsageError for a file that holds no rows. */
async function openToolRows(input: Input, head: string, tools: ToolReading): Promise<RowInput> {
  const { archiveRows, documentRows, lineRows, recordRows } = await import('./tool-records.ts');
  const { name, chunks } = input;
  if (isZip(head)) return convertedInput(name, archiveRows(input.path, name, tools));
  if (isToolDocument(head)) return convertedInput(name, documentRows(chunks, name, tools));
  const format = rowFormatOf(head, name);
  switch (format) {
    case 'jsonl': {
      const lines = lineRows(readLines(chunks, MAX_BODY_BYTES), name, tools);
      return { ...convertedInput(name, lines), unit: 'line', bytes: input.bytes };
    }
    case 'json':
      return convertedInput(name, lineRows(jsonRowLines(chunks), name, tools));
    case 'csv':
    case 'tsv':
    case 'parquet':
      return convertedInput(name, recordRows(await recordsOf(format, input, head), name, tools));
  }
}

function convertedInput(name: string, lines: AsyncIterable<RowLine>): RowInput {
  return { name, unit: 'row', path: null, bytes: null, lines, chunks: null };
}

/** The first bytes of a gzip file (RFC 1952). */
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** The input, decompressed if it is a gzip file, whatever its name. */
async function unzipped(input: Input): Promise<Input> {
  const { head, chunks } = await peeked(input.chunks);
  if (GZIP_MAGIC.some((byte, position) => head[position] !== byte)) return { ...input, chunks };
  const name = input.name.replace(/\.gz$/i, '');
  return { name, unit: input.unit, path: null, bytes: null, chunks: gunzip(chunks, input.name) };
}

/** @throws RunError while reading, if the rest is no gzip data or ends too early. */
async function* gunzip(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks);
  const output = createGunzip();
  source.on('error', (error) => output.destroy(error));
  try {
    for await (const chunk of source.pipe(output)) yield chunk;
  } catch (error) {
    throw new RunError(`cannot decompress ${name}: ${messageOf(error)}`);
  } finally {
    source.destroy();
  }
}

/** The input as UTF-8, if a byte order mark says that it is UTF-16, as spreadsheets and PowerShell write it. */
async function inUtf8(input: Input): Promise<Input> {
  const { head, chunks } = await peeked(input.chunks);
  const encoding = utf16Of(head);
  if (encoding === null) return { ...input, chunks };
  return { ...input, path: null, bytes: null, chunks: recoded(chunks, encoding, input.name) };
}

/** @throws RunError while reading, if the rest is not in this encoding. */
async function* recoded(chunks: AsyncIterable<Uint8Array>, encoding: string, name: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const encoder = new TextEncoder();
  try {
    for await (const chunk of chunks) yield encoder.encode(decoder.decode(chunk, { stream: true }));
    yield encoder.encode(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new RunError(`${name}: not UTF-16, though its byte order mark says so`, 'Save the file as UTF-8.');
  }
}

/** The readers of CSV and Parquet are loaded when a file needs them. */
async function linesOfFormat(
  format: RowFormat,
  input: Input,
  map: RowMap | null,
  { head, areAnswers }: { readonly head: string; readonly areAnswers: boolean },
): Promise<AsyncIterable<RowLine>> {
  switch (format) {
    case 'jsonl':
      return mappedLines(readLines(input.chunks, MAX_BODY_BYTES), map);
    case 'json':
      return mappedLines(jsonRowLines(input.chunks), map);
    case 'csv':
    case 'tsv':
    case 'parquet':
      return rowLines(await recordsOf(format, input, head), map, areAnswers);
  }
}

async function recordsOf(
  format: 'csv' | 'tsv' | 'parquet',
  input: Input,
  head: string,
): Promise<AsyncIterable<FileRecord>> {
  if (format === 'parquet') return (await import('./parquet.ts')).parquetRecords(input);
  const { csvRecords } = await import('./csv.ts');
  return csvRecords(input, format === 'csv' ? csvLayout(head) : { delimiter: '\t', headerLine: 1 });
}

/** As much of the first chunks as the format and the header of a CSV file are read from, in bytes. */
const HEAD_BYTES = 4096;

/** Reads the beginning of the chunks. The returned chunks are all of them. */
async function peeked(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: Uint8Array; readonly chunks: AsyncIterable<Uint8Array> }> {
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
  return { head: Buffer.concat(first).subarray(0, HEAD_BYTES), chunks: all() };
}
