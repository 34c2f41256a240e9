/** Prints the rows and the summary of `citeward verify`. */
import type { Verification } from '../../../src/citations/verify.ts';
import type { RequestedVerification } from '../../../src/wire/verify.ts';
import { countOf, countText, durationText } from '../../shared/number-text.ts';
import { remarksOfFindings, remarksText } from '../../shared/remarks.ts';
import type { Labels } from '../../shared/rows.ts';
import { colourOfShare } from '../../shared/style.ts';
import { badLinesText } from '../../shared/summary.ts';
import type { Cell, Column, TableRow } from '../../shared/table.ts';
import type { VerifyMode } from './options.ts';

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

/** A verified row. @param mode under which the format is well formed or not. */
export function verifyRow(line: number, labels: Labels, reply: RequestedVerification, mode: VerifyMode): TableRow {
  const { ratios } = reply;
  const support = meanSupport(reply);
  return {
    cells: [
      { text: String(labels.id ?? `line ${line}`) },
      { text: String(ratios.claims) },
      { text: String(ratios.uncited_statements) },
      shareCell(ratios.cited_share),
      shareCell(ratios.known_id_share),
      // Lexical support is a hint and no verdict, so it has no colour. An empty column is not shown.
      { text: support === undefined ? '' : shareText(support) },
      { text: ratios.copied_share === undefined ? '' : shareText(ratios.copied_share) },
      reply.format[mode] === 1 ? { text: 'ok' } : { text: 'bad', colour: 'yellow' },
      { text: remarksText(remarksOf(reply), FINDINGS_WIDTH) },
      { text: labels.note ?? '', colour: 'dim' },
    ],
  };
}

/** The findings of the parser; first those about pointers of a vendor's answer that lead to other text. */
function remarksOf({ finding_counts, cited_answer }: RequestedVerification): ReturnType<typeof remarksOfFindings> {
  const wrong = cited_answer?.findings.filter(({ reason }) => reason === 'cited_text_not_in_source').length ?? 0;
  const others = (cited_answer?.finding_count ?? 0) - wrong;
  return [
    ...(wrong === 0 ? [] : [{ count: wrong, one: 'wrong quotation', many: 'wrong quotations' }]),
    ...remarksOfFindings(finding_counts),
    ...(others === 0 ? [] : [{ count: others, one: 'remark on the format', many: 'remarks on the format' }]),
  ];
}

/** Support of a claim without a source that could support it. */
const UNSUPPORTED = 0;

/** Mean lexical support of the claims; `undefined` without lexical evidence, `null` without claims. */
function meanSupport({ claims, ratios }: Verification): number | null | undefined {
  if (ratios.copied_share === undefined) return undefined;
  const counted = claims.filter(({ duplicate_of }) => duplicate_of === null);
  if (counted.length === 0) return null;
  let sum = 0;
  for (const { evidence } of counted) {
    // A claim without evidence is empty or cites only invented ids, so nothing supports it: this is no failure.
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

/** `19 rows verified · 15 well formed · 1 bad line · checked citations, words, numbers, names · 0.31 s` */
export function summaryText(
  evidence: 'none' | 'lexical',
  { verified, wellFormed, bad }: { readonly verified: number; readonly wellFormed: number; readonly bad: number },
  seconds: number,
): string {
  const parts = [`${countOf(verified, 'row')} verified`];
  if (verified > 0) parts.push(`${countText(wellFormed)} well formed`);
  if (bad > 0) parts.push(badLinesText(bad));
  parts.push(evidence === 'none' ? 'checked citations only' : 'checked citations, words, numbers, names');
  return [...parts, durationText(seconds)].join(' · ');
}
