/**
 * Reads a file that a person opens: rows, the file of a tool, a run's export, the results of a batch. It stays in the
 * browser until its rows are scored.
 */
import { inspectSamples } from '../../../lib/inspect-log.ts';
import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import type { Result } from '../../../src/result.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import { readLines } from '../../../src/text/lines.ts';
import { cellProblems, recordOf } from '../../../src/wire/rows/columns.ts';
import { csvLayout } from '../../../src/wire/rows/csv-header.ts';
import { CSV_HINT, CsvRecords, UnreadableCsv } from '../../../src/wire/rows/csv-records.ts';
import { isZip, rowFormatOf } from '../../../src/wire/rows/row-format.ts';
import { jsonRowLines, NO_OBJECT, ROW_FAULTS, type RowLine, recordOfLine } from '../../../src/wire/rows/row-line.ts';
import { isToolDocument, RowReader, recordsOfDocument } from '../../../src/wire/rows/tool-files.ts';
import { type Unreadable, unreadableBytes, utf16Of } from '../../../src/wire/rows/unreadable-files.ts';
import { countText } from '../display/number-text.ts';

/** A row with its number in the file: that of its line or, where `unit` is `row`, of its record. */
export type OpenedRow = { readonly number: number; readonly fields: JsonObject };
/** A row that cannot be read; the others are. */
export type BadRow = { readonly number: number; readonly problem: string };

export type OpenedFile =
  | { readonly kind: 'run' }
  | { readonly kind: 'batch_results' }
  | {
      readonly kind: 'rows';
      readonly rows: readonly OpenedRow[];
      readonly bad: readonly BadRow[];
      readonly unit: 'line' | 'row';
      /** Such as `promptfoo results`; `null` = rows of Citeward. */
      readonly tool: string | null;
      /** Records without an answer, which are no rows. */
      readonly leftOut: number;
    }
  | { readonly kind: 'refused'; readonly problem: string; readonly hint: string };

/** A larger file would not fit the memory of a tab several times. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** More rows than these are scored by the command line, which reads them one at a time. */
const MAX_ROWS = 10_000;

/** After so many bad rows and no good one the file is of another kind. */
const MAX_BAD_AT_START = 5;
const HEAD_BYTES = 4096;
const CHUNK_BYTES = 1024 * 1024;
const FROM_TERMINAL = 'Open it from a terminal: npx citeward view FILE.';

/** Reads a file; whatever cannot be read is refused, never thrown. */
export async function readOpenedFile(given: File): Promise<OpenedFile> {
  try {
    if (given.size === 0) return refused('is empty', 'Choose another file.');
    if (given.size > MAX_FILE_BYTES) return refused('is larger than 256 MB', FROM_TERMINAL);
    const file = await unzipped(given);
    if ('kind' in file) return file;
    const opened = await readPlainFile(file);
    const isShownFromDisk = opened.kind === 'run' || opened.kind === 'batch_results';
    return isShownFromDisk && file !== given ? refused('is compressed', 'Unpack it first: gunzip FILE') : opened;
  } catch (error) {
    if (error instanceof UnreadableArchive) return refused(error.unreadable.problem, error.unreadable.hint);
    // The message may quote the file, which is untrusted.
    return refused(`cannot be read (${error instanceof Error ? error.name : 'an error'})`, FROM_TERMINAL);
  }
}

async function readPlainFile(file: File): Promise<OpenedFile> {
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const encoding = utf16Of(bytes) ?? 'utf-8';
  const head = new TextDecoder(encoding).decode(bytes);
  const unreadable = unreadableBytes(head);
  if (unreadable !== null) return refused(unreadable.problem, unreadable.hint);
  if (isZip(head)) return readRows(sampleRecords(file), 'row', RECORDS);
  const format = rowFormatOf(head, file.name);
  if (format === 'parquet') {
    const records = await parquetRecords(file);
    return 'kind' in records ? records : readRows(numbered(records), 'row', CELLS);
  }
  const text = await inUtf8(file, encoding);
  if (text === null) return NOT_UTF8;
  if (isToolDocument(head)) return readDocument(await text.arrayBuffer());
  switch (format) {
    case 'csv':
    case 'tsv': {
      const cells = await csvRecords(text, format);
      return 'kind' in cells ? cells : readRows(cells, 'row', CELLS);
    }
    case 'json':
      return readRows(lineRecords(jsonRowLines(chunksOf(text))), 'row', RECORDS);
    case 'jsonl':
      for await (const { content } of readLines(chunksOf(text), MAX_BODY_BYTES)) {
        if (content.ok && readRunLine(content.value).ok) return { kind: 'run' };
        break;
      }
      return readRows(lineRecords(readLines(chunksOf(text), MAX_BODY_BYTES)), 'line', RECORDS);
  }
}

const RECORDS = { tool: null, areCells: false } as const;
const CELLS = { tool: null, areCells: true } as const;

type Refused = Extract<OpenedFile, { kind: 'refused' }>;

function refused(problem: string, hint: string): Refused {
  return { kind: 'refused', problem, hint };
}

/** The file, decompressed if it is a gzip file. */
async function unzipped(file: File): Promise<File | Refused> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return file;
  try {
    const content = await new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
    if (content.size > MAX_FILE_BYTES) return refused('is larger than 256 MB when it is unpacked', FROM_TERMINAL);
    return new File([content], file.name.replace(/\.gz$/iu, ''));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused('is no complete gzip file', 'Write the file again.');
  }
}

const NOT_UTF8 = refused('is not UTF-8', 'Save it as UTF-8, from a spreadsheet as "CSV UTF-8".');

/** The file in UTF-8; `null` = it is not in the encoding that its byte order mark names. */
async function inUtf8(file: File, encoding: string): Promise<Blob | null> {
  if (encoding === 'utf-8') return file;
  const text = decoded(await file.arrayBuffer(), encoding);
  return text === null ? null : new Blob([text]);
}

/** The text without its byte order mark; `null` = it is not in this encoding. */
function decoded(bytes: ArrayBuffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/** The bytes of a file. Between two chunks the page can answer its reader. */
async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += CHUNK_BYTES) {
    yield new Uint8Array(await file.slice(at, at + CHUNK_BYTES).arrayBuffer());
  }
}

type Read = { readonly number: number; readonly record: Result<JsonObject, string> };
type Records = AsyncIterable<Read> | Iterable<Read>;

async function* lineRecords(lines: AsyncIterable<RowLine>): AsyncGenerator<Read> {
  for await (const { number, content } of lines) yield { number, record: recordOfLine(content) };
}

function numbered(values: readonly unknown[]): readonly Read[] {
  return values.map((value, at) => ({
    number: at + 1,
    record: isJsonObject(value) ? { ok: true, value } : { ok: false, error: NO_OBJECT },
  }));
}

async function readDocument(bytes: ArrayBuffer): Promise<OpenedFile> {
  const text = decoded(bytes, 'utf-8');
  if (text === null) return NOT_UTF8;
  const document = parsedJson(text);
  if (!isJsonObject(document)) return refused('is no complete JSON', 'Write the file again.');
  const read = recordsOfDocument(document);
  if (read.kind === 'unreadable') return refused(read.problem, read.hint);
  return readRows(numbered(read.records), 'row', { tool: read.tool, areCells: false });
}

/** @throws UnreadableArchive if it is no log, or is packed in a way that browsers do not unpack. */
async function* sampleRecords(file: File): AsyncGenerator<Read> {
  let number = 0;
  for await (const sample of inspectSamples(file, null)) {
    if (!sample.ok && sample.error !== 'broken_sample') throw new UnreadableArchive(sample.error);
    yield { number: ++number, record: sample.ok ? sample : { ok: false, error: ROW_FAULTS.broken_sample } };
  }
}

class UnreadableArchive extends Error {
  readonly unreadable: Unreadable;

  constructor(unreadable: Unreadable) {
    super(unreadable.problem);
    this.unreadable = unreadable;
  }
}

async function parquetRecords(file: File): Promise<readonly JsonObject[] | Refused> {
  const { parquetReadObjects } = await import('hyparquet');
  const buffer = { byteLength: file.size, slice: (from: number, to?: number) => file.slice(from, to).arrayBuffer() };
  try {
    const rows: readonly unknown[] = await parquetReadObjects({ file: buffer });
    return rows.filter(isJsonObject).map(recordOf);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return refused('is Parquet that this page cannot unpack', FROM_TERMINAL);
  }
}

async function csvRecords(file: Blob, format: 'csv' | 'tsv'): Promise<readonly Read[] | Refused> {
  const text = decoded(await file.arrayBuffer(), 'utf-8');
  if (text === null) return NOT_UTF8;
  const { parse } = await import('csv-parse/browser/esm/sync');
  const { delimiter, headerLine } = csvLayout(text.slice(0, HEAD_BYTES));
  const records = new CsvRecords();
  let unread: UnreadableCsv | null = null;
  try {
    parse(text, {
      ...records.options,
      ...{ bom: true, from_line: headerLine, to: MAX_ROWS + 1 },
      delimiter: format === 'tsv' ? '\t' : delimiter,
    });
  } catch (error) {
    if (!(error instanceof UnreadableCsv)) throw error;
    unread = error;
  }
  const read = records.end().map(
    ({ number, record }): Read => ({
      number,
      record: record.ok ? record : { ok: false, error: ROW_FAULTS[record.error] },
    }),
  );
  if (unread === null) return read;
  const { row } = unread;
  if (row === null || row === 1) return refused(unread.message, CSV_HINT);
  return [...read, { number: row, record: { ok: false, error: `${unread.problem}. Nothing after it is read.` } }];
}

/** Reads on after a row that cannot be read. @returns a refusal if no row can, or if the file holds something else. */
async function readRows(
  records: Records,
  unit: 'line' | 'row',
  reading: ConstructorParameters<typeof RowReader>[0],
): Promise<OpenedFile> {
  const reader = new RowReader(reading);
  const rows: OpenedRow[] = [];
  const bad: BadRow[] = [];
  let isBatch = false;
  for await (const { number, record } of records) {
    const read = record.ok ? reader.read(record.value) : null;
    if (!record.ok) bad.push({ number, problem: record.error });
    if (read?.ok === false) {
      if (read.error.kind === 'unreadable') return refused(read.error.problem, read.error.hint);
      // A line of a request that failed may be of any batch.
      isBatch = true;
    }
    for (const fields of read?.ok === true ? read.value : []) {
      const { id: _id, note: _note, ...cells } = fields;
      const [problem] = cellProblems(cells);
      if (problem === undefined) rows.push({ number, fields });
      else bad.push({ number, problem: `${problem.field}: ${problem.message}` });
    }
    if (rows.length === 0 && bad.length === MAX_BAD_AT_START) break;
    if (rows.length + bad.length > MAX_ROWS) return refused(`has more than ${countText(MAX_ROWS)} rows`, FROM_TERMINAL);
  }
  if (isBatch) return { kind: 'batch_results' };
  const [first] = bad;
  if (rows.length > 0) return { kind: 'rows', rows, bad, unit, tool: reader.tool, leftOut: reader.leftOut };
  if (first !== undefined) {
    return refused(`has no row that can be read; ${unit} ${first.number}: ${first.problem}`, ROWS_ARE);
  }
  return reader.leftOut > 0
    ? refused('has no record with an answer', 'Choose another file.')
    : refused('has no rows', ROWS_ARE);
}

const ROWS_ARE = 'A row is a JSON object with question, response and sources.';
