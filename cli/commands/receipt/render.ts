/** Prints the findings on a receipt, and the summary. */

import { plainLine } from '../../../src/text/foreign-line.ts';
import { countOf, countText } from '../../shared/number-text.ts';
import type { Screen } from '../../shared/screen.ts';
import type { Colour } from '../../shared/style.ts';
import type { Finding } from './findings.ts';

const COLOURS: Readonly<Record<Finding['verdict'], Colour | null>> = { holds: 'green', fails: 'red', unchecked: null };

const SUBJECT_WIDTH = 9;

/** `  signature  valid, by 1f0c… (current) of keys.json` */
export function findingLine({ subject, verdict, text }: Finding, screen: Screen): string {
  return `  ${subject.padEnd(SUBJECT_WIDTH)}  ${screen.resultStyle(COLOURS[verdict], plainLine(text))}`;
}

/** `2 receipts are valid · 1 is not` */
export function summaryText({ held, failed, unread }: { held: number; failed: number; unread: number }): string {
  const parts = [`${countOf(held, 'receipt is', 'receipts are')} valid`];
  if (failed > 0) parts.push(`${countOf(failed, 'is', 'are')} not`);
  if (unread > 0) parts.push(`${countText(unread)} not read`);
  return parts.join(' · ');
}
