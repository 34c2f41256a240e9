/** The tables within a page: each is between `<!-- name -->` and `<!-- /name -->`. */

/** Returns the page with the tables in their places. @throws Error if the page lacks the place of a table. */
export function pageWith(page: string, tables: Readonly<Record<string, string>>): string {
  let written = page;
  for (const [name, table] of Object.entries(tables)) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [start, end] = [written.indexOf(open), written.indexOf(close)];
    if (start === -1 || end < start) throw new Error(`the page has no place for the table ${name}: ${open} … ${close}`);
    written = `${written.slice(0, start + open.length)}\n${table}\n${written.slice(end)}`;
  }
  return written;
}
