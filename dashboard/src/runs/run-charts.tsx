/** Charts of a run over its steps. */
import { useMemo } from 'preact/hooks';
import { type Chart, ChartList } from '../charts/chart-list.tsx';
import { LINE_LOOKS } from '../charts/line-chart.tsx';
import { countText, numberText, percentText } from '../display/number-text.ts';
import { unscoredWords } from '../words/unscored.ts';
import {
  componentLines,
  criterionLines,
  findingLines,
  hasPersistentRewards,
  meanLine,
  type NumberedStep,
  rewardBand,
  unscoredLines,
} from './step-columns.ts';

const SHARE = [0, 1] as const;
const FROM_ZERO = [0, null] as const;

export function RunCharts({ steps }: { steps: readonly NumberedStep[] }) {
  const charts = useMemo(() => chartsOf(steps), [steps]);
  return <ChartList charts={charts} />;
}

function chartsOf(numbered: readonly NumberedStep[]): Chart[] {
  const steps = numbered.map(({ step }) => step);
  const evolves = hasPersistentRewards(numbered);
  const line = lineOver(numbered);
  return [
    {
      title: 'Reward',
      hint: 'mean over scored rollouts',
      axis: 'reward',
      steps,
      lines: [
        ...line(evolves ? 'whole' : 'mean', ({ reward }) => reward.mean),
        ...(evolves
          ? line('persistent criteria alone', ({ persistent_reward }) => persistent_reward?.mean ?? null)
          : []),
      ],
      band: { name: 'one standard deviation', ...rewardBand(numbered) },
      text: numberText,
    },
    // Only a run whose trainer sends outcomes has these charts.
    ...(numbered.some(({ outcome }) => outcome !== undefined)
      ? [
          {
            title: 'Outcome',
            hint: 'sent by the trainer, no part of the reward',
            axis: 'outcome',
            steps,
            lines: line('mean outcome', ({ outcome }) => outcome?.mean ?? null),
            text: numberText,
          },
        ]
      : []),
    ...metricNames(numbered).map((name) => ({
      title: name,
      hint: 'a metric of the trainer, no part of the reward',
      axis: 'value',
      steps,
      lines: line(name, ({ metrics }) => metrics?.[name]?.mean ?? null),
      text: numberText,
    })),
    {
      title: 'Components',
      hint: 'mean values',
      axis: 'value',
      steps,
      lines: componentLines(numbered),
      text: numberText,
    },
    {
      title: 'Group spread',
      hint: 'standard deviation of the rewards of one prompt',
      axis: 'reward',
      steps,
      lines: line('mean within groups', ({ spread }) => spread.mean_std),
      range: FROM_ZERO,
      text: numberText,
    },
    {
      title: 'Degenerate groups',
      hint: 'all rewards equal, or fewer than two scored',
      axis: 'share of groups',
      steps,
      lines: line('degenerate groups', ({ degenerate }) => degenerate.share),
      range: SHARE,
      text: percentText,
    },
    {
      title: 'Not scored',
      hint: 'share of rollouts, by reason',
      axis: 'share of rollouts',
      steps,
      lines: unscoredLines(numbered, LINE_LOOKS - 1, unscoredWords),
      range: FROM_ZERO,
      text: percentText,
    },
    // Only a run with several judges has this chart.
    ...(numbered.some(({ agreement }) => agreement !== undefined)
      ? [
          {
            title: 'Agreement of the judges',
            hint: 'pairs of judges that give the same verdict',
            axis: 'share of pairs',
            steps,
            lines: line('judges agree', ({ agreement }) => agreement?.mean ?? null),
            range: SHARE,
            text: percentText,
          },
        ]
      : []),
    {
      title: 'Cache hit rate',
      hint: 'judgments reused without a judge call',
      axis: 'share of judgments',
      steps,
      lines: line('judgments from the store', ({ judgments }) => judgments.hit_rate),
      range: SHARE,
      text: percentText,
    },
    ...answerCharts(numbered, steps),
  ];
}

/** What the answers contain. Runs of earlier versions recorded none of it, and a chart without values is left out. */
function answerCharts(numbered: readonly NumberedStep[], steps: readonly number[]): Chart[] {
  const line = lineOver(numbered);
  const charts: Chart[] = [
    {
      title: 'Claims and citations',
      hint: 'mean per rollout',
      axis: 'number',
      steps,
      lines: [
        meanLine('claims with a citation', numbered, ({ claims }) => claims),
        meanLine('cited ids', numbered, ({ citations }) => citations),
      ],
      range: FROM_ZERO,
      text: numberText,
    },
    {
      title: 'Copied words',
      hint: 'in spans of 8 words or more that a source contains',
      axis: 'share of the words',
      steps,
      lines: line('copied', ({ copied }) => copied?.mean ?? null),
      range: SHARE,
      text: percentText,
    },
    {
      title: 'Words',
      hint: 'mean of the answer, without citations',
      axis: 'words',
      steps,
      lines: line('words', ({ words }) => words?.mean ?? null),
      range: FROM_ZERO,
      text: numberText,
    },
    {
      title: 'Length',
      hint: 'mean of the whole response',
      axis: 'UTF-16 code units',
      steps,
      lines: [meanLine('characters', numbered, ({ lengths }) => lengths.chars)],
      range: FROM_ZERO,
      text: wholeText,
    },
    {
      title: 'Tokens',
      hint: 'mean per rollout, as the trainer sends it',
      axis: 'tokens',
      steps,
      lines: [meanLine('tokens', numbered, ({ lengths }) => lengths.tokens)],
      range: FROM_ZERO,
      text: wholeText,
    },
    {
      title: 'Findings',
      hint: 'per rollout, the most frequent',
      axis: 'number',
      steps,
      lines: findingLines(numbered, LINE_LOOKS),
      range: FROM_ZERO,
      text: numberText,
    },
    {
      title: 'Criteria passed',
      hint: 'those that changed most; a negative criterion passes if it is avoided',
      axis: 'share of rollouts',
      steps,
      lines: criterionLines(numbered, LINE_LOOKS),
      range: SHARE,
      text: percentText,
    },
  ];
  return charts.filter(({ lines }) => lines.some(({ values }) => values.some((value) => value !== null)));
}

/** Makes the one line of a chart. */
function lineOver(numbered: readonly NumberedStep[]) {
  return (name: string, valueOfStep: (step: NumberedStep) => number | null): Chart['lines'] => [
    { name, values: numbered.map(valueOfStep) },
  ];
}

function metricNames(numbered: readonly NumberedStep[]): string[] {
  return [...new Set(numbered.flatMap(({ metrics = {} }) => Object.keys(metrics)))].sort();
}

function wholeText(value: number): string {
  return countText(Math.round(value));
}
