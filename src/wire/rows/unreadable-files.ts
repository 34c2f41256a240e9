/** Files that hold no answers, told by their first bytes, and the encoding of those that may. */

/** A file that holds no answers. */
export type Unreadable = { readonly kind: 'unreadable'; readonly problem: string; readonly hint: string };

export function unreadable(problem: string, hint: string): Unreadable {
  return { kind: 'unreadable', problem, hint };
}

/** What an archive is that is no inspect log. */
export const ARCHIVE_WITHOUT_ROWS: Unreadable = unreadable(
  'is a zip file, such as an Excel workbook, without rows',
  'Save a workbook as "CSV UTF-8"; unpack another archive.',
);

/**
 * What a file is whose first bytes no reader of rows takes, and what to do; `null` = it may be text with rows, Parquet
 * or an archive. @param head as text, decoded by its byte order mark, else as UTF-8.
 */
export function unreadableBytes(head: string): Unreadable | null {
  if (KNOWN_BINARY.test(head)) return null;
  const known = FORMATS.find(({ start }) => start.test(head));
  if (known !== undefined) return unreadable(known.problem, known.hint);
  return head.slice(0, BINARY_CHARS).includes('\0')
    ? unreadable('is binary data of no known kind', 'Give JSON, CSV or Parquet.')
    : null;
}

/** The encoding that a byte order mark of UTF-16 names; `null` = none. @param head the first four bytes or more. */
export function utf16Of(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  // Two null bytes more are the mark of UTF-32.
  if (head[0] === 0xff && head[1] === 0xfe) return head[2] === 0 && head[3] === 0 ? null : 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null;
}

/** A null character among these first ones means binary data. */
const BINARY_CHARS = 200;
/** Parquet, and an archive. */
const KNOWN_BINARY = /^(?:PAR1|PK)/u;

const AS_TABLE = 'Save the rows with to_parquet or to_json(orient="records", lines=True).';
const PACKED = 'Unpack it, or pack it with gzip.';

/** U+FFFD is a byte that is no UTF-8. */
const FORMATS: readonly { readonly start: RegExp; readonly problem: string; readonly hint: string }[] = [
  {
    start: /^\s*<(?:!doctype|html|\?xml|table)/iu,
    problem: 'is a page, not data',
    hint: 'Save the data as JSON or CSV.',
  },
  { start: /^(?:ARROW1|\uFFFD{4}.\0\0\0)/su, problem: 'is an Arrow file', hint: AS_TABLE },
  { start: /^\uFFFD\p{Cc}/u, problem: 'is a pickle', hint: AS_TABLE },
  { start: /^\uFFFDHDF/u, problem: 'is an HDF5 file', hint: AS_TABLE },
  { start: /^SQLite format 3/u, problem: 'is a database', hint: 'Export the rows as JSON or CSV.' },
  { start: /^%PDF/u, problem: 'is a PDF', hint: 'Give the file of its data.' },
  {
    start: /^(?:BZh\d|\uFFFD7zXZ|\(\uFFFD\/\uFFFD|7z\uFFFD\uFFFD)/u,
    problem: 'is packed with another program than gzip',
    hint: PACKED,
  },
  { start: /^\uFFFD\uFFFD\0\0/u, problem: 'is UTF-32', hint: 'Save it as UTF-8.' },
  {
    start: /^(?:[^\0]\0){4}|^(?:\0[^\0]){4}/u,
    problem: 'is UTF-16 without a byte order mark',
    hint: 'Save it as UTF-8.',
  },
  {
    start: /^(?:---\s*\n|(?:version|evalId|results):[ \t]*(?:\n|\S))/u,
    problem: 'is YAML',
    hint: 'Save it as JSON: promptfoo eval -o results.json.',
  },
  {
    start: /^\s*\{\s*(?:"[^"\\]*"\s*:\s*\{\s*"0"\s*:|"columns"\s*:\s*\[)/u,
    problem: 'is a table by columns, not rows',
    hint: 'Save it with to_json(orient="records", lines=True).',
  },
];
