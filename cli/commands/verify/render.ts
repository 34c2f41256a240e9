/** The table of `citeward verify`. */

import type { Verification } from '../../../src/citations/verify.ts';
import { remarksOfFindings, remarksText } from '../../shared/remarks.ts';
import type { Labels } from '../../shared/rows.ts';
import { colourOfShare } from '../../shared/style.ts';
import type { Cell, Column, TableRow } from '../../shared/table.ts';

const FINDINGS_WIDTH = 34;

export const VERIFY_COLUMNS: readonly Column[] = [
  { title: 'id', align: 'left', most: 24 },
  { title: 'claims', align: 'right', most: 6 },
  { title: 'uncited', align: 'right', most: 7 },
  { title: 'cited', align: 'right', most: 6 },
  { title: 'known', align: 'right', most: 6 },
  { title: 'support', align: 'right', most: 7 },
  { title: 'copied', align: 'right', most: 6 },
  { title: 'fmt', align: 'left', most: 3 },
  { title: 'findings', align: 'left', most: FINDINGS_WIDTH },
  { title: 'note', align: 'left', most: 200 },
];

/** @param mode under which the format is shown. */
export function verifyRow(line: number, labels: Labels, reply: Verification, mode: 'answer_only' | 'full'): TableRow {
  const { ratios } = reply;
  const support = meanSupport(reply);
  return {
    cells: [
      { text: String(labels.id ?? `line ${line}`) },
      { text: String(ratios.claims) },
      { text: String(ratios.uncited_statements) },
      shareCell(ratios.cited_share),
      shareCell(ratios.known_id_share),
      // Lexical support is a flag, not a verdict: no colour that says otherwise. Empty columns are not shown.
      { text: support === undefined ? '' : shareText(support) },
      { text: ratios.copied_share === undefined ? '' : shareText(ratios.copied_share) },
      reply.format[mode] === 1 ? { text: 'ok' } : { text: 'bad', colour: 'yellow' },
      { text: remarksText(remarksOfFindings(reply.finding_counts), FINDINGS_WIDTH) },
      { text: labels.note ?? '', colour: 'dim' },
    ],
  };
}

/** Support of a claim without anything that could support it (REWARDS.md section 2). */
const UNSUPPORTED = 0;

/** Mean lexical support of the claims; `undefined` without lexical evidence, `null` without claims. */
function meanSupport({ claims, ratios }: Verification): number | null | undefined {
  if (ratios.copied_share === undefined) return undefined;
  const counted = claims.filter(({ duplicate_of }) => duplicate_of === null);
  if (counted.length === 0) return null;
  let sum = 0;
  for (const { evidence } of counted) {
    // No evidence is no failure here: such a claim is empty or cites nothing that exists, so nothing supports it.
    sum += evidence === undefined ? UNSUPPORTED : evidence.support;
  }
  return sum / counted.length;
}

function shareCell(share: number | null): Cell {
  return { text: shareText(share), ...(share === null ? {} : { colour: colourOfShare(share) }) };
}

function shareText(share: number | null): string {
  return share === null ? '-' : `${Math.round(share * 100)}%`;
}
