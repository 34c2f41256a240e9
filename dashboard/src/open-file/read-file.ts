/**
 * Reads a file that a person opens: rows, the file of a tool, a run's export, the results of a batch. It stays in the
 * browser until its rows are scored.
 */
import { inspectSamples } from '../../../lib/inspect-log.ts';
import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import { recordOf } from '../../../src/wire/rows/columns.ts';
import { csvLayout } from '../../../src/wire/rows/csv-header.ts';
import { isZip, rowFormatOf } from '../../../src/wire/rows/row-format.ts';
import { isModelBatchResult, isToolDocument, RowReader, recordsOfDocument } from '../../../src/wire/rows/tool-files.ts';
import { unreadableBytes, utf16Of } from '../../../src/wire/rows/unreadable-files.ts';

export type OpenedFile =
  | { readonly kind: 'run' }
  | { readonly kind: 'batch_results' }
  | {
      readonly kind: 'rows';
      readonly rows: readonly JsonObject[];
      /** Such as `promptfoo results`; `null` = rows of Citeward. */
      readonly tool: string | null;
      /** Records without an answer, which are no rows. */
      readonly leftOut: number;
    }
  | { readonly kind: 'refused'; readonly problem: string; readonly hint: string };

/** A larger file would not fit the memory of a tab several times. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** More rows than these are scored by the command line, which reads them one at a time. */
export const MAX_ROWS = 10_000;

const HEAD_BYTES = 4096;
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
  if (isZip(head)) return rowsOfRecords(await logRecords(file), RECORDS);
  const format = rowFormatOf(head, file.name);
  if (format === 'parquet') return rowsOfRecords(await parquetRecords(file), CELLS);
  const text = decoded(await file.arrayBuffer(), encoding);
  if (text === null) return refused('is not UTF-8', 'Save it as UTF-8, from a spreadsheet as "CSV UTF-8".');
  if (isToolDocument(head)) return documentRows(text);
  if (format === 'csv' || format === 'tsv') return rowsOfRecords(await csvRecords(text, format), CELLS);
  if (readRunLine(text.slice(0, text.indexOf('\n'))).ok) return { kind: 'run' };
  return rowsOfRecords(format === 'json' ? jsonRecords(text) : lineRecords(text), RECORDS);
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

/** The text without its byte order mark; `null` = it is not in this encoding. */
function decoded(bytes: ArrayBuffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

type Records = readonly JsonObject[] | Refused;

/** An array of rows, or one row that is printed over several lines. */
function jsonRecords(text: string): Records {
  const whole = parsedJson(text);
  if (whole === undefined) return refused('is no single JSON value', 'Rows are an array, or one JSON object a line.');
  const values: readonly unknown[] = Array.isArray(whole) ? whole : [whole];
  const wrong = values.findIndex((value) => !isJsonObject(value));
  return wrong === -1 ? values.filter(isJsonObject) : refused(`has no JSON object as row ${wrong + 1}`, FROM_TERMINAL);
}

function lineRecords(text: string): Records {
  const records: JsonObject[] = [];
  for (const [n, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parsedJson(line);
    if (!isJsonObject(value)) {
      return refused(`has no JSON object on line ${n + 1}`, 'Rows are one JSON object a line.');
    }
    records.push(value);
  }
  return records;
}

function documentRows(text: string): OpenedFile {
  const document = parsedJson(text);
  if (!isJsonObject(document)) return refused('is no complete JSON', 'Write the file again.');
  const read = recordsOfDocument(document);
  if (read.kind === 'unreadable') return refused(read.problem, read.hint);
  return rowsOfRecords(read.records, { tool: read.tool, areCells: false });
}

async function logRecords(file: File): Promise<Records> {
  const records: JsonObject[] = [];
  for await (const sample of inspectSamples(file, null)) {
    if (!sample.ok) return refused(sample.error.problem, sample.error.hint);
    records.push(sample.value);
  }
  return records;
}

async function parquetRecords(file: File): Promise<Records> {
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

async function csvRecords(text: string, format: 'csv' | 'tsv'): Promise<Records> {
  const { parse } = await import('csv-parse/browser/esm/sync');
  const { delimiter, headerLine } = csvLayout(text.slice(0, HEAD_BYTES));
  try {
    const records: readonly unknown[] = parse(text, {
      ...{ bom: true, columns: true, skip_empty_lines: true, from_line: headerLine },
      delimiter: format === 'tsv' ? '\t' : delimiter,
    });
    return records.filter(isJsonObject);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return refused('is malformed CSV', 'Fields with commas, quotes or line breaks need quotes.');
  }
}

function rowsOfRecords(records: Records, reading: ConstructorParameters<typeof RowReader>[0]): OpenedFile {
  if ('kind' in records) return records;
  const reader = new RowReader(reading);
  const rows: JsonObject[] = [];
  for (const record of records) {
    const read = reader.read(record);
    if (read.ok) rows.push(...read.value);
    // A line of a request that failed may be of any batch.
    else if (read.error.kind === 'batch_results' && !records.some(isModelBatchResult)) return read.error;
    else if (read.error.kind === 'unreadable') return refused(read.error.problem, read.error.hint);
  }
  if (records.length === 0) {
    return refused('has no rows', 'A row is a JSON object with question, response and sources.');
  }
  if (rows.length === 0) return refused('has no record with an answer', 'Choose another file.');
  if (rows.length > MAX_ROWS) return refused(`has more than ${MAX_ROWS} rows`, FROM_TERMINAL);
  return { kind: 'rows', rows, tool: reader.tool, leftOut: reader.leftOut };
}
