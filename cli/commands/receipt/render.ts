/** `citeward receipt verify`: whether a reward is what its deployment signed, for what was asked. */

import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import { plainLine } from '../../shared/text-width.ts';
import type { Finding } from './findings.ts';

const COLOURS: Readonly<Record<Finding['verdict'], Colour | null>> = { holds: 'green', fails: 'red', open: null };

const SUBJECT_WIDTH = 9;

export function findingLine({ what, verdict, said }: Finding, screen: Screen): string {
  return `  ${what.padEnd(SUBJECT_WIDTH)}  ${screen.resultStyle(COLOURS[verdict], plainLine(said))}`;
}

export function summaryText({ held, failed, unread }: { held: number; failed: number; unread: number }): string {
  const parts = [`${held} ${held === 1 ? 'receipt holds' : 'receipts hold'}`];
  if (failed > 0) parts.push(`${failed} ${failed === 1 ? 'does' : 'do'} not`);
  if (unread > 0) parts.push(`${unread} not read`);
  return parts.join(' · ');
}
