/** Charts of a run over its steps. */
import { useMemo } from 'preact/hooks';
import { type Chart, ChartList } from '../charts/chart-list.tsx';
import { LINE_LOOKS } from '../charts/line-chart.tsx';
import { numberText, percentText } from '../display/number-text.ts';
import { unscoredWords } from '../words/unscored.ts';
import { componentLines, type NumberedStep, rewardBand, unscoredLines } from './step-columns.ts';

const SHARE = [0, 1] as const;
const FROM_ZERO = [0, null] as const;

export function RunCharts({ steps }: { steps: readonly NumberedStep[] }) {
  const charts = useMemo(() => chartsOf(steps), [steps]);
  return <ChartList charts={charts} />;
}

function chartsOf(numbered: readonly NumberedStep[]): Chart[] {
  const steps = numbered.map(({ step }) => step);
  const line = (name: string, valueOfStep: (step: NumberedStep) => number | null): Chart['lines'] => [
    { name, values: numbered.map(valueOfStep) },
  ];
  return [
    {
      title: 'Reward',
      hint: 'mean over scored rollouts',
      axis: 'reward',
      steps,
      lines: line('mean', ({ reward }) => reward.mean),
      band: { name: 'one standard deviation', ...rewardBand(numbered) },
      text: numberText,
    },
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
    {
      title: 'Cache hit rate',
      hint: 'judgments reused without a judge call',
      axis: 'share of judgments',
      steps,
      lines: line('judgments from the store', ({ judgments }) => judgments.hit_rate),
      range: SHARE,
      text: percentText,
    },
  ];
}
