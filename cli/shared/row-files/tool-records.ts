/** Reads the files of known tools as rows: JSON lines, whole JSON documents, archives of inspect, CSV and Parquet. */
import { openAsBlob } from 'node:fs';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { inspectSamples } from '../../../lib/inspect-log.ts';
import { isJsonObject, parsedJson } from '../../../src/json.ts';
import { MAX_BODY_BYTES } from '../../../src/limits.ts';
import { type BatchResults, RowReader, recordsOfDocument } from '../../../src/wire/rows/tool-files.ts';
import type { Unreadable } from '../../../src/wire/rows/unreadable-files.ts';
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

/** A record of a file. */
type Item = {
  /** `null` = the line is no JSON object. */
  readonly record: Fields | null;
  /** The line of the record; `null` = it was in no line. */
  readonly line: string | null;
};

/**
 * Writes the rows of records as JSON lines. Lines of rows, and those that are no JSON objects, stay as they are: their
 * reader says what is wrong. @throws UsageError if a record says that the file holds no answers.
 */
async function* rowLines(
  items: AsyncIterable<Item>,
  reader: RowReader,
  name: string,
  { onTool, onLeftOut }: ToolReading,
): AsyncGenerator<Uint8Array> {
  let tool: string | null = null;
  for await (const { record, line } of items) {
    const read = record === null ? null : reader.read(record);
    if (read !== null && !read.ok) throw refused(name, read.error);
    if (tool === null && reader.tool !== null) {
      tool = reader.tool;
      onTool(tool);
    }
    const isAsItIs = line !== null && (read === null || reader.tool === null);
    if (isAsItIs) yield encoder.encode(`${line}\n`);
    else for (const row of read?.value ?? []) yield encoder.encode(`${JSON.stringify(row)}\n`);
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
  records: AsyncIterable<Fields>,
  name: string,
  tools: ToolReading,
): AsyncGenerator<Uint8Array> {
  return rowLines(itemsOf(records), new RowReader({ tool: null, areCells: true }), name, tools);
}

async function* itemsOf(records: AsyncIterable<Fields>): AsyncGenerator<Item> {
  for await (const record of records) yield { record, line: null };
}

/** The rows of JSON lines. @throws RunError at a line that is too long or not UTF-8. */
export function lineRows(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  tools: ToolReading,
): AsyncGenerator<Uint8Array> {
  return rowLines(lineItems(chunks), new RowReader({ tool: null, areCells: false }), name, tools);
}

async function* lineItems(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Item> {
  for await (const { number, content } of readLines(chunks, MAX_BODY_BYTES)) {
    if (!content.ok) throw new RunError(`line ${number}: ${content.error === 'not_utf8' ? 'not UTF-8' : 'too long'}`);
    const read = lineFields(content);
    yield { record: read.ok ? read.value : null, line: content.value };
  }
}

/** The rows of a whole JSON document. @throws UsageError if it is of no known tool. */
export async function* documentRows(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  tools: ToolReading,
): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const document = parsedJson(
    Buffer.concat(parts)
      .toString('utf8')
      .replace(/^\uFEFF/u, ''),
  );
  if (!isJsonObject(document)) throw new UsageError(`${name} is no complete JSON`, 'Write the file again.');
  const read = recordsOfDocument(document);
  if (read.kind === 'unreadable') throw refused(name, read);
  async function* items({ records }: typeof read & { readonly kind: 'records' }): AsyncGenerator<Item> {
    for (const record of records) yield { record, line: null };
  }
  yield* rowLines(items(read), new RowReader({ tool: read.tool, areCells: false }), name, tools);
}

const unpackZstandard = promisify(zstdDecompress);

/** The rows of an inspect log (.eval). @throws UsageError if the file is another archive, or a sample is broken. */
export function archiveRows(path: string | null, name: string, tools: ToolReading): AsyncGenerator<Uint8Array> {
  return rowLines(sampleItems(path, name), new RowReader({ tool: null, areCells: false }), name, tools);
}

async function* sampleItems(path: string | null, name: string): AsyncGenerator<Item> {
  if (path === null) throw new UsageError(`${name}: an archive cannot be read from a pipe`, 'Give the file.');
  const unpack = async (packed: Blob): Promise<string> =>
    (await unpackZstandard(Buffer.from(await packed.arrayBuffer()))).toString('utf8');
  for await (const sample of inspectSamples(await openAsBlob(path), unpack)) {
    if (!sample.ok) throw refused(name, sample.error);
    yield { record: sample.value, line: null };
  }
}
