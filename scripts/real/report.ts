/** The report of `npm run test:real`, kept in test/real/report.json, and its table in docs/reference/compat.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ENTRIES, REAL } from './entries.ts';

export const REPORT = join(REAL, 'report.json');

const resultSchema = z.strictObject({
  /** What ran. */
  package: z.string(),
  version: z.string(),
  python: z.string(),
  /** The day of the run, YYYY-MM-DD. */
  date: z.iso.date(),
  /** What was seen, in the words of the entry's program. */
  result: z.string(),
});

/** The last result of each entry, by its name. */
export const reportSchema = z.record(z.string(), resultSchema);
export type Report = z.infer<typeof reportSchema>;

export function readReport(): Report {
  return reportSchema.parse(JSON.parse(readFileSync(REPORT, 'utf8')));
}

/** The table of the page, in the order of the entries; those without a result say so. */
export function realTable(report: Report): string {
  const rows = ENTRIES.map((entry) => {
    const found = report[entry.name];
    const page = `[${entry.name}](../${entry.page.replace(/^docs\//, '')})`;
    if (found === undefined) return `| ${page} | not run | | |`;
    return `| ${page} | ${found.package} ${found.version}, Python ${found.python} | ${found.date} | ${found.result} |`;
  });
  return ['| example | version | run on | seen |', '|---|---|---|---|', ...rows].join('\n');
}
