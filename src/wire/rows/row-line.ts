/** A line of a file of rows, or a record of another format, read as an object or refused with the reason. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { MAX_BODY_BYTES } from '../../limits.ts';
import type { Result } from '../../result.ts';
import type { Line, LineFault } from '../../text/lines.ts';

/** Why a row of a file cannot be read; its other rows still can. */
export type RowFault = LineFault | 'other_fields' | 'open_quote' | 'malformed_record' | 'broken_sample';

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

/**
 * The `on_skip` of csv-parse: tells each record that it skips, with the reason. Several errors may be in one record,
 * and their messages may quote the file.
 */
export function faultOfRecord(tell: (fault: RowFault) => void) {
  let last: unknown = null;
  return (error: { readonly code: string; readonly lines?: unknown } | undefined): undefined => {
    const at = error?.lines ?? null;
    if (at === null || at !== last) tell(csvFault(error?.code));
    last = at;
  };
}

function csvFault(code: string | undefined): RowFault {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return 'other_fields';
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'open_quote';
    case 'CSV_MAX_RECORD_SIZE':
      return 'too_long';
    default:
      return 'malformed_record';
  }
}
