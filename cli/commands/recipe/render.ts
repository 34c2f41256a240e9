/** Prints the report of `citeward recipe probe`. */
import {
  type ProbeReport,
  SAMPLE_FIGURES,
  type SampleFigure,
  type TriedChange,
} from '../../../src/probe/probe-report.ts';
import type { ProbeReply } from '../../../src/wire/probe.ts';
import { countOf } from '../../shared/number-text.ts';
import type { Screen } from '../../shared/screen.ts';
import { recipeText } from '../../shared/summary.ts';
import { type Column, resultTable } from '../../shared/table.ts';

const COLUMNS: readonly Column[] = [
  { title: 'share', align: 'right', most: 6 },
  { title: 'reward', align: 'right', most: 9 },
  { title: 'rows', align: 'right', most: 6 },
  { title: 'an answer that', align: 'left', most: 64 },
  { title: 'lower with', align: 'left', most: 60 },
];

export async function printReport(report: ProbeReply, screen: Screen): Promise<void> {
  const { recipe, judges } = report;
  const models = [...new Set(judges.map(({ model }) => model))].join(', ');
  await screen.result(`recipe ${recipeText(recipe)}${models === '' ? '' : ` · judge ${models}`}`);
  await screen.result(knownText(report));
  await screen.result('');
  const table = resultTable(COLUMNS, screen);
  for (const { share, reward, rows, does, warns, lowered_by } of report.answers) {
    if (rows === 0) continue;
    await table.add({
      cells: [
        { text: shareText(share), colour: warns ? 'yellow' : null },
        { text: reward?.toFixed(2) ?? '-' },
        { text: String(rows), colour: 'dim' },
        { text: does },
        { text: lowered_by.slice(0, 1).map(changeText).join(), colour: 'dim' },
      ],
    });
  }
  await table.end();
  const lines = [...togetherText(report), ...sampleText(report.samples)];
  if (lines.length > 0) await screen.result('');
  for (const line of lines) await screen.result(line);
}

/** `best known answer: 9.91 on average in 64 rows (64 constructed from the sources), meets 97 % of the own criteria` */
function knownText({ best_known: { reward, rows, criteria_met, from } }: ProbeReport): string {
  const origins = [
    from.reference === 0 ? '' : `${from.reference} by the reference`,
    from.sample === 0 ? '' : `${from.sample} the best sample`,
    from.constructed === 0 ? '' : `${from.constructed} constructed from the sources`,
  ].filter((text) => text !== '');
  if (reward === null) return 'best known answer: none has a reward';
  const met = criteria_met === null ? '' : `, meets ${shareText(criteria_met)} of the rows' own criteria`;
  return `best known answer: ${reward.toFixed(2)} on average in ${countOf(rows, 'row')} (${origins.join(', ')})${met}`;
}

/** `citations=required: 0 %` */
function changeText({ set, share }: TriedChange): string {
  return `${changesText(set).join(' ')}: ${shareText(share)}`;
}

function changesText(set: TriedChange['set']): string[] {
  return Object.entries(set).map(([field, value]) => `${field}=${value}`);
}

function togetherText({ together }: ProbeReport): string[] {
  if (together === null) return [];
  const { set, best_known, share, warns } = together;
  const left = warns.length === 0 ? 'no warning is left' : `${countOf(warns.length, 'warning')} left`;
  const paid = best_known === null ? '' : `, best known answer ${best_known.toFixed(2)}`;
  const flags = changesText(set).map((change) => `--set ${change}`);
  return [`together ${flags.join(' ')}: ${left}, largest share ${shareText(share)}${paid}`];
}

const FIGURE_TEXTS: Readonly<Record<SampleFigure, string>> = {
  words: 'length',
  copied: 'copied words',
  citations: 'citations',
  criteria_met: 'own criteria met',
  outcome: 'outcome',
};

function sampleText(samples: ProbeReport['samples']): string[] {
  if (samples === null) return [];
  const follows = SAMPLE_FIGURES.map((figure) => {
    const { correlation } = samples.follows[figure];
    return `${FIGURE_TEXTS[figure]} ${correlation === null ? '-' : correlation.toFixed(2)}`;
  });
  return [
    `samples: ${samples.samples} in ${countOf(samples.groups, 'group')}, ${samples.with_signal} with signal`,
    `inside groups the reward follows (rank correlation; - = fewer than 16 groups): ${follows.join(' · ')}`,
  ];
}

function shareText(share: number | null): string {
  return share === null ? '-' : `${Math.round(100 * share)} %`;
}
