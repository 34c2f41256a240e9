/**
 * Reads a file that a person opens: rows, the file of a tool, a run's export, the results of a batch. It stays in the
 * browser until its rows are scored.
 */
import { entryText, zipEntries } from '../../../lib/zip-archive.ts';
import { isJsonObject, type JsonObject, parsedJson } from '../../../src/json.ts';
import { readRunLine } from '../../../src/runs/run-file.ts';
import { fieldsOf, jsonOf } from '../../../src/wire/rows/columns.ts';
import { csvLayout } from '../../../src/wire/rows/csv-header.ts';
import {
  isToolDocument,
  type RecordReading,
  readingOf,
  recordsOfDocument,
  unreadableBytes,
  utf16Of,
} from '../../../src/wire/rows/tool-files.ts';

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

export async function readOpenedFile(given: File): Promise<OpenedFile> {
  if (given.size === 0) return refused('is empty', 'Choose another file.');
  if (given.size > MAX_FILE_BYTES) return refused('is larger than 256 MB', FROM_TERMINAL);
  const file = await unzipped(given);
  if (file === null) return refused('is no complete gzip file', 'Write the file again.');
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const encoding = utf16Of(bytes) ?? 'utf-8';
  const head = new TextDecoder(encoding).decode(bytes);
  const unreadable = unreadableBytes(head);
  if (unreadable !== null) return refused(unreadable.problem, unreadable.hint);
  if (head.startsWith('PK')) return inspectLog(file);
  if (head.startsWith('PAR1')) return rowsOfRecords(await parquetRecords(file));
  const text = decoded(await file.arrayBuffer(), encoding);
  if (text === null) return refused('is not UTF-8', 'Save it as UTF-8, from a spreadsheet as "CSV UTF-8".');
  if (/\.[ct]sv$/iu.test(file.name)) return rowsOfRecords(await csvRecords(text, file.name));
  if (isToolDocument(text.slice(0, HEAD_BYTES))) return documentRows(text);
  if (readRunLine(text.slice(0, text.indexOf('\n'))).ok) return { kind: 'run' };
  return rowsOfRecords(jsonRecords(text));
}

function refused(problem: string, hint: string): OpenedFile {
  return { kind: 'refused', problem, hint };
}

/** The file, decompressed if it is a gzip file; `null` = its data is broken. */
async function unzipped(file: File): Promise<File | null> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first !== 0x1f || second !== 0x8b) return file;
  try {
    const content = await new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob();
    return new File([content], file.name.replace(/\.gz$/iu, ''));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

function decoded(bytes: ArrayBuffer, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

type Records = readonly JsonObject[] | Extract<OpenedFile, { kind: 'refused' }>;

function jsonRecords(text: string): Records {
  const whole = /^\uFEFF?\s*(?:\[|\{[ \t]*\r?\n)/u.test(text) ? parsedJson(text) : undefined;
  if (Array.isArray(whole)) return whole.filter(isJsonObject);
  if (isJsonObject(whole)) return [whole];
  const records: JsonObject[] = [];
  for (const [n, line] of text
    .replace(/^\uFEFF/u, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const value = parsedJson(line);
    if (!isJsonObject(value)) {
      return {
        kind: 'refused',
        problem: `has no JSON object on line ${n + 1}`,
        hint: 'Rows are one JSON object a line.',
      };
    }
    records.push(value);
  }
  return records;
}

function documentRows(text: string): OpenedFile {
  const document = parsedJson(text);
  const records = isJsonObject(document) ? recordsOfDocument(document) : null;
  if (records === null) return refused('is no complete JSON', 'Write the file again.');
  return 'kind' in records ? refused(records.problem, records.hint) : rowsOfRecords(records);
}

async function inspectLog(file: File): Promise<OpenedFile> {
  const entries = (await zipEntries(file)) ?? [];
  const samples = entries.filter(({ name }) => name.startsWith('samples/'));
  if (!entries.some(({ name }) => name === 'header.json' || name.startsWith('_journal/'))) {
    return refused('is a zip file, such as an Excel workbook, without rows', 'Save it as "CSV UTF-8".');
  }
  const records: JsonObject[] = [];
  for (const entry of samples) {
    const text = await entryText(file, entry, null);
    // Newer logs are packed with Zstandard, which browsers do not unpack.
    if (text === null) return refused('is packed in a way that browsers do not unpack', FROM_TERMINAL);
    const sample = parsedJson(text);
    if (isJsonObject(sample)) records.push(sample);
  }
  return rowsOfRecords(records);
}

async function parquetRecords(file: File): Promise<Records> {
  const { parquetReadObjects } = await import('hyparquet');
  const buffer = { byteLength: file.size, slice: (from: number, to?: number) => file.slice(from, to).arrayBuffer() };
  try {
    const rows: readonly unknown[] = await parquetReadObjects({ file: buffer });
    return rows.map(jsonOf).filter(isJsonObject);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { kind: 'refused', problem: 'is Parquet that this page cannot unpack', hint: FROM_TERMINAL };
  }
}

async function csvRecords(text: string, name: string): Promise<Records> {
  const { parse } = await import('csv-parse/browser/esm/sync');
  const { delimiter, headerLine } = csvLayout(text.slice(0, HEAD_BYTES));
  try {
    const records: readonly unknown[] = parse(text, {
      ...{ bom: true, columns: true, skip_empty_lines: true, from_line: headerLine },
      delimiter: /\.tsv/iu.test(name) ? '\t' : delimiter,
    });
    return records.filter(isJsonObject).map(fieldsOf);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      kind: 'refused',
      problem: 'is malformed CSV',
      hint: 'Fields with commas, quotes or line breaks need quotes.',
    };
  }
}

function rowsOfRecords(records: Records): OpenedFile {
  if ('kind' in records) return records;
  const [first] = records;
  if (first === undefined) return refused('has no rows', 'A row is a JSON object with question, response and sources.');
  const reading: RecordReading = readingOf(first);
  if (reading.kind === 'unreadable') return refused(reading.problem, reading.hint);
  if (reading.kind === 'batch_results') return reading;
  const read = records.map((record) => reading.rowsOf(record));
  const rows = read.flat();
  if (rows.length === 0) return refused('has no record with an answer', 'Choose another file.');
  if (rows.length > MAX_ROWS) return refused(`has more than ${MAX_ROWS} rows`, FROM_TERMINAL);
  return { kind: 'rows', rows, tool: reading.tool, leftOut: read.filter((one) => one.length === 0).length };
}
