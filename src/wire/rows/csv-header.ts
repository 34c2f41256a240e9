/** What the first lines of a CSV file tell of its layout. */

/** How a file is separated, and the line of its header, from 1. */
export type CsvLayout = { readonly delimiter: string; readonly headerLine: number };

/** Whether a text of any name is CSV: its header has two columns or more, and an answer or a question among them. */
export function hasHeaderOfRows(head: string): boolean {
  const { delimiter, headerLine } = csvLayout(head);
  const header = head.replace(/^\uFEFF/, '').split(/\r?\n/, headerLine)[headerLine - 1] ?? '';
  const columns = header.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  return columns.length > 1 && columns.some((name) => OF_ROWS.has(name));
}

const OF_ROWS: ReadonlySet<string> = new Set(['question', 'response', 'messages', 'cited_answer', 'user_input']);

const DELIMITERS = [',', ';', '\t', '|'] as const;

/**
 * The layout by the header: the one of comma, semicolon, tab and bar that it has most often outside quotes, or the one
 * that the line `sep=;` of Excel names before it.
 */
export function csvLayout(head: string): CsvLayout {
  const named = /^\uFEFF?sep=([^\r\n])\r?\n/.exec(head)?.[1];
  if (named !== undefined) return { delimiter: named, headerLine: 2 };
  const header = head.split(/[\r\n]/, 1)[0]?.replace(/"[^"]*"/g, '') ?? '';
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  const { delimiter } = counted.reduce((best, one) => (one.count > best.count ? one : best));
  return { delimiter, headerLine: 1 };
}
