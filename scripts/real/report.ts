/** The report of `npm run test:real`, kept in test/real/report.json, and its list in docs/reference/compat.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { wrapped } from '../markdown.ts';
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

/** The list of the page, in the order of the entries; an entry without a result says so. */
export function realList(report: Report): string {
  const points = ENTRIES.map(({ name, page }) => {
    const link = `* [${name}](../${page.replace(/^docs\//, '')})`;
    const found = report[name];
    if (found === undefined) return `${link}: not run`;
    const what = `${link}: ${found.package} ${found.version}, Python ${found.python}, ${found.date}:`;
    return `${what}\n${wrapped(found.result, '  ', '  ')}`;
  });
  return points.join('\n');
}
