/** Formats the report: per requirement its result, the observation, and what to change if it failed. */
import { styleText } from 'node:util';
import type { Finding, Outcome } from './finding.ts';
import type { CheckReport } from './run-checks.ts';

const MARK: Readonly<Record<Outcome, string>> = { pass: 'pass', fail: 'FAIL', not_reported: 'not reported' };
const COLOUR = { pass: 'green', fail: 'red', not_reported: 'yellow' } as const;
const MARK_WIDTH = 'not reported'.length;
const INDENT = ' '.repeat(MARK_WIDTH + 2);

/** The lines of one finding. `colours` only for a terminal. */
export function findingText({ outcome, title, saw, change }: Finding, colours: boolean): string {
  const mark = MARK[outcome].padEnd(MARK_WIDTH);
  const painted = colours ? styleText(COLOUR[outcome], mark, { validateStream: false }) : mark;
  const lines = [`${painted}  ${title}`, `${INDENT}${saw}`];
  if (change !== null) lines.push(`${INDENT}-> ${change}`);
  return lines.join('\n');
}

/** The last line. */
export function summaryText({ ok, findings }: CheckReport): string {
  const count = (outcome: Outcome): number => findings.filter((finding) => finding.outcome === outcome).length;
  const verdict = ok ? 'The backend can be used.' : 'The backend needs changes.';
  return `${count('pass')} pass, ${count('fail')} fail, ${count('not_reported')} not reported. ${verdict}`;
}
