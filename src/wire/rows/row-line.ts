/** A line of a file of rows, or a record of another format, read as an object or refused with the reason. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { MAX_BODY_BYTES } from '../../limits.ts';
import type { Result } from '../../result.ts';
import { jsonValueLines } from '../../text/json-values.ts';
import { type Line, type LineFault, readLines } from '../../text/lines.ts';

/** Why a row of a file cannot be read; its other rows still can. */
export type RowFault = LineFault | 'other_fields' | 'open_quote' | 'malformed_record' | 'broken_sample' | 'open_array';

/** A line, or a record of CSV, of Parquet or of a log as JSON text; `number` then counts the records. */
export type RowLine = Omit<Line, 'content'> & { readonly content: Result<string, RowFault> };

/** A record of a file that is no text of lines. */
export type FileRecord = { readonly number: number; readonly record: Result<JsonObject, RowFault> };

export const ROW_FAULTS: Readonly<Record<RowFault, string>> = {
  not_utf8: 'not UTF-8',
  too_long: `longer than ${MAX_BODY_BYTES} bytes`,
  other_fields:
    'another number of fields than the header (those with commas, quotes or line breaks need quotes around them)',
  open_quote: 'a quote is not closed, so nothing after it can be read',
  malformed_record: 'malformed (a field with commas, quotes or line breaks needs quotes around it)',
  broken_sample: 'the sample cannot be read (inspect log convert --to json may read it)',
  open_array: 'the array is not closed: the end of the file is missing',
};

export const NO_OBJECT = 'expected a JSON object';

/** Parses a line that must hold a JSON object. */
export function recordOfLine(content: RowLine['content']): Result<JsonObject, string> {
  if (!content.ok) return { ok: false, error: ROW_FAULTS[content.error] };
  const parsed = parseJson(content.value);
  if (!parsed.ok) return parsed;
  return isJsonObject(parsed.value) ? { ok: true, value: parsed.value } : { ok: false, error: NO_OBJECT };
}

function parseJson(text: string): Result<unknown, string> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // V8 ends its message with the index of the error. The rest of the message may quote the line, which is untrusted,
    // so it is not shown.
    const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1];
    const problem = 'expected one JSON object a line; this is not JSON';
    if (position !== undefined) return { ok: false, error: `${problem}: wrong from column ${Number(position) + 1}` };
    const ends = error.message.startsWith('Unexpected end');
    return { ok: false, error: ends ? `${problem}: it ends too early` : problem };
  }
}

/** The values of a JSON array, or those of the file if it is no array. An array that is cut off ends with a fault. */
export async function* jsonRowLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RowLine> {
  let number = 0;
  let isOpen = false;
  const values = jsonValueLines(chunks, () => {
    isOpen = true;
  });
  for await (const line of readLines(values, MAX_BODY_BYTES)) {
    number = line.number;
    yield line;
  }
  if (isOpen) yield { number: number + 1, bytesRead: 0, content: { ok: false, error: 'open_array' } };
}
