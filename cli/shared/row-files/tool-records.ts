/** Reads the files of known tools as rows: JSON lines, whole JSON documents, archives of inspect, CSV and Parquet. */
import { openAsBlob } from 'node:fs';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { inspectSamples } from '../../../lib/inspect-log.ts';
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import { contentOfLine } from '../../../src/text/lines.ts';
import type { FileRecord, RowLine } from '../../../src/wire/rows/row-line.ts';
import { type BatchResults, RowReader, recordsOfDocument } from '../../../src/wire/rows/tool-files.ts';
import type { Unreadable } from '../../../src/wire/rows/unreadable-files.ts';
import { UsageError } from '../exit.ts';
import { type Fields, lineFields } from '../rows.ts';

/** How the rows of tools are read. */
export type ToolReading = {
  /** Called once, if the file is one of a tool. @param tool such as `promptfoo results`. */
  readonly onTool: (tool: string) => void;
  /** Called once, if records of a tool have no answer. @param records how many. */
  readonly onLeftOut: (records: number) => void;
};

/** A record of a file. `record` is `null` if it cannot be read; then the line says why. */
type Item = RowLine & { readonly record: Fields | null };

/**
 * The rows of records. Lines of rows, and those that are no JSON objects, stay as they are: their reader says what is
 * wrong. @throws UsageError if a record says that the file holds no answers.
 */
async function* rowLines(
  items: AsyncIterable<Item>,
  reader: RowReader,
  name: string,
  { onTool, onLeftOut }: ToolReading,
): AsyncGenerator<RowLine> {
  let tool: string | null = null;
  for await (const { record, ...line } of items) {
    const read = record === null ? null : reader.read(record);
    if (read !== null && !read.ok) throw refused(name, read.error);
    if (tool === null && reader.tool !== null) {
      tool = reader.tool;
      onTool(tool);
    }
    // Written again, 1e999 would be null, and large integers others.
    const isAsItIs = read === null || (reader.tool === null && line.content.ok && line.content.value !== '');
    if (isAsItIs) yield line;
    else for (const row of read.value) yield { ...line, content: { ok: true, value: JSON.stringify(row) } };
  }
  if (reader.leftOut > 0) onLeftOut(reader.leftOut);
}

function refused(name: string, refusal: Unreadable | BatchResults): UsageError {
  return refusal.kind === 'batch_results'
    ? new UsageError(`${name} holds the results of a batch, not answers`, 'Give the rows that were scored.')
    : new UsageError(`${name} ${refusal.problem}`, refusal.hint);
}

/** The rows of CSV and Parquet. */
export function recordRows(
  records: AsyncIterable<FileRecord>,
  name: string,
  tools: ToolReading,
): AsyncGenerator<RowLine> {
  return rowLines(itemsOf(records), new RowReader({ tool: null, areCells: true }), name, tools);
}

async function* itemsOf(records: AsyncIterable<FileRecord>): AsyncGenerator<Item> {
  for await (const { number, record } of records) {
    const content = record.ok ? ({ ok: true, value: '' } as const) : record;
    yield { number, bytesRead: 0, content, record: record.ok ? record.value : null };
  }
}

/** The rows of JSON lines. */
export function lineRows(lines: AsyncIterable<RowLine>, name: string, tools: ToolReading): AsyncGenerator<RowLine> {
  return rowLines(lineItems(lines), new RowReader({ tool: null, areCells: false }), name, tools);
}

async function* lineItems(lines: AsyncIterable<RowLine>): AsyncGenerator<Item> {
  for await (const line of lines) {
    const read = lineFields(line.content);
    yield { ...line, record: read.ok ? read.value : null };
  }
}

/** The rows of a whole JSON document. @throws UsageError if it is of no known tool. */
export async function* documentRows(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  tools: ToolReading,
): AsyncGenerator<RowLine> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = contentOfLine(Buffer.concat(parts), true);
  if (!text.ok) throw new UsageError(`${name} is not UTF-8`, 'Save it as UTF-8.');
  const document = parsedJson(text.value);
  if (!isJsonObject(document)) throw new UsageError(`${name} is no complete JSON`, 'Write the file again.');
  const read = recordsOfDocument(document);
  if (read.kind === 'unreadable') throw refused(name, read);
  const reader = new RowReader({ tool: read.tool, areCells: false });
  yield* rowLines(lineItems(valueLines(read.records)), reader, name, tools);
}

async function* valueLines(values: readonly unknown[]): AsyncGenerator<RowLine> {
  for (const [at, value] of values.entries()) {
    yield { number: at + 1, bytesRead: 0, content: { ok: true, value: JSON.stringify(value) } };
  }
}

const unpackZstandard = promisify(zstdDecompress);

/** The rows of an inspect log (.eval). @throws UsageError if the file is another archive. */
export function archiveRows(path: string | null, name: string, tools: ToolReading): AsyncGenerator<RowLine> {
  return rowLines(itemsOf(sampleRecords(path, name)), new RowReader({ tool: null, areCells: false }), name, tools);
}

async function* sampleRecords(path: string | null, name: string): AsyncGenerator<FileRecord> {
  if (path === null) throw new UsageError(`${name}: an archive cannot be read from a pipe`, 'Give the file.');
  const unpack = async (packed: Blob): Promise<string> =>
    (await unpackZstandard(Buffer.from(await packed.arrayBuffer()))).toString('utf8');
  let number = 0;
  for await (const sample of inspectSamples(await openAsBlob(path), unpack)) {
    if (!sample.ok && sample.error !== 'broken_sample') throw refused(name, sample.error);
    yield { number: ++number, record: sample.ok ? sample : { ok: false, error: 'broken_sample' } };
  }
}
