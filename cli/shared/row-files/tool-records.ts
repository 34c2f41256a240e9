/** Reads the files of known tools as rows: JSON lines, whole JSON documents, archives of inspect, CSV and Parquet. */
import { openAsBlob } from 'node:fs';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { entryText, zipEntries } from '../../../lib/zip-archive.ts';
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { fieldsOf } from '../../../src/wire/rows/columns.ts';
import {
  type RecordReading,
  readingOf,
  recordsOfDocument,
  type Unreadable,
} from '../../../src/wire/rows/tool-files.ts';
import { RunError, UsageError } from '../exit.ts';
import { readLines } from '../lines.ts';
import { type Fields, lineFields } from '../rows.ts';

const encoder = new TextEncoder();

/** How the rows of tools are read. */
export type ToolReading = {
  /** Called once, if the file is one of a tool. @param tool such as `promptfoo results`. */
  readonly onTool: (tool: string) => void;
  /** Called once, if records of a tool have no answer. @param records how many. */
  readonly onLeftOut: (records: number) => void;
};

/** Writes the rows of records as JSON lines. @throws UsageError if the first record says that they are no answers. */
export async function* toolRowLines(
  records: AsyncIterable<Fields>,
  { onTool, onLeftOut }: ToolReading,
  name: string,
): AsyncGenerator<Uint8Array> {
  let reading: Extract<RecordReading, { kind: 'rows' }> | null = null;
  let leftOut = 0;
  for await (const record of records) {
    if (reading === null) {
      reading = rowsReading(record, name);
      if (reading.tool !== null) onTool(reading.tool);
    }
    const rows = reading.tool === null ? [fieldsOf(record)] : reading.rowsOf(record);
    if (rows.length === 0) leftOut++;
    for (const row of rows) yield encoder.encode(`${JSON.stringify(row)}\n`);
  }
  if (leftOut > 0) onLeftOut(leftOut);
}

/** The same for JSON lines. Lines of rows, and those that are no JSON objects, stay as they are. */
export async function* toolLines(
  chunks: AsyncIterable<Uint8Array>,
  { onTool, onLeftOut }: ToolReading,
  name: string,
): AsyncGenerator<Uint8Array> {
  let reading: Extract<RecordReading, { kind: 'rows' }> | null = null;
  let leftOut = 0;
  for await (const { number, content } of readLines(chunks, MAX_BODY_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.error === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const read = lineFields(content);
    if (read.ok && reading === null) {
      reading = rowsReading(read.value, name);
      if (reading.tool !== null) onTool(reading.tool);
    }
    if (!read.ok || reading === null || reading.tool === null) {
      yield encoder.encode(`${content.value}\n`);
      continue;
    }
    const rows = reading.rowsOf(read.value);
    if (rows.length === 0) leftOut++;
    for (const row of rows) yield encoder.encode(`${JSON.stringify(row)}\n`);
  }
  if (leftOut > 0) onLeftOut(leftOut);
}

function rowsReading(first: Fields, name: string): Extract<RecordReading, { kind: 'rows' }> {
  const reading = readingOf(first);
  switch (reading.kind) {
    case 'rows':
      return reading;
    case 'batch_results':
      throw new UsageError(`${name} holds the results of a batch, not answers`, 'Give the rows that were scored.');
    case 'unreadable':
      throw refused(name, reading);
  }
}

function refused(name: string, { problem, hint }: Unreadable): UsageError {
  return new UsageError(`${name} ${problem}`, hint);
}

/** The records of a whole JSON document. @throws UsageError if it is of no known tool. */
export async function* documentRecords(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Fields> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const document = parsedJson(Buffer.concat(parts).toString('utf8'));
  if (!isJsonObject(document)) throw new UsageError(`${name} is no complete JSON`, 'Write the file again.');
  const records = recordsOfDocument(document);
  if (records === null) throw new UsageError(`${name} is a JSON document without samples or results`);
  if ('kind' in records) throw refused(name, records);
  yield* records;
}

const unpackZstandard = promisify(zstdDecompress);

/** The samples of an inspect log (.eval), one in memory at a time. @throws UsageError if the file is another archive. */
export async function* inspectSamples(path: string | null, name: string): AsyncGenerator<Fields> {
  if (path === null) throw new UsageError(`${name}: an archive cannot be read from a pipe`, 'Give the file.');
  const archive = await openAsBlob(path);
  const entries = await zipEntries(archive);
  if (entries?.some((entry) => entry.name === 'header.json' || entry.name.startsWith('_journal/')) !== true) {
    throw new UsageError(`${name}: a zip file, such as an Excel workbook, has no rows`, 'Save it as "CSV UTF-8".');
  }
  const samples = entries.filter((entry) => entry.name.startsWith('samples/'));
  if (samples.length === 0) {
    throw new UsageError(`${name} is an inspect log without samples`, 'Run inspect without --no-log-samples.');
  }
  for (const entry of samples) {
    const text = await entryText(archive, entry, async (packed) =>
      (await unpackZstandard(Buffer.from(await packed.arrayBuffer()))).toString('utf8'),
    ).catch(() => null);
    const sample = text === null ? null : parsedJson(text);
    if (!isJsonObject(sample)) {
      throw new RunError(`${name}: ${entry.name} cannot be read`, 'Convert the log: inspect log convert --to json.');
    }
    yield sample;
  }
}
