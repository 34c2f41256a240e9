/** The figures of two runs by step, overlaid. */
import { useMemo } from 'preact/hooks';
import { type Chart, ChartList } from '../charts/chart-list.tsx';
import { numberText, percentText } from '../display/number-text.ts';
import type { Side, SideStep } from './compared-runs.ts';

const SHARE = [0, 1] as const;
const FROM_ZERO = [0, null] as const;

export function CompareCharts({ a, b }: { a: Side; b: Side }) {
  const charts = useMemo(() => chartsOf(a, b), [a, b]);
  if (charts.length === 0) return <p class="note">Neither run has steps, so there are no charts.</p>;
  return (
    <section aria-label="Charts">
      <ChartList charts={charts} />
    </section>
  );
}

function chartsOf(a: Side, b: Side): Chart[] {
  const [ofA, ofB] = [a, b].map((side) => new Map(side.steps.map((step) => [step.step, step])));
  const steps = [...new Set([...a.steps, ...b.steps].map(({ step }) => step))].sort((one, other) => one - other);
  if (steps.length === 0) return [];
  const lines = (valueOfStep: (step: SideStep) => number | null): Chart['lines'] =>
    [
      { name: 'A', side: ofA },
      { name: 'B', side: ofB },
    ].map(({ name, side }) => ({
      name,
      values: steps.map((number) => {
        const step = side?.get(number);
        return step === undefined ? null : valueOfStep(step);
      }),
    }));
  const components = [...new Set([...a.steps, ...b.steps].flatMap((step) => [...step.components.keys()]))];
  return [
    {
      title: 'Reward',
      hint: 'mean over scored rollouts',
      axis: 'reward',
      steps,
      lines: lines(({ reward }) => reward.mean),
      text: numberText,
    },
    ...components.map((name) => ({
      title: name.replaceAll('_', ' '),
      hint: 'mean value of the component',
      axis: 'value',
      steps,
      lines: lines((step) => step.components.get(name)?.mean ?? null),
      text: numberText,
    })),
    {
      title: 'Group spread',
      hint: 'standard deviation of the rewards of one prompt',
      axis: 'reward',
      steps,
      lines: lines(({ spread }) => spread.mean),
      range: FROM_ZERO,
      text: numberText,
    },
    {
      title: 'Degenerate groups',
      hint: 'all rewards equal, or fewer than two scored',
      axis: 'share of groups',
      steps,
      lines: lines(({ degenerate, groups }) => degenerate / groups),
      range: SHARE,
      text: percentText,
    },
    {
      title: 'Not scored',
      hint: 'share of rollouts',
      axis: 'share of rollouts',
      steps,
      lines: lines(({ reward, rollouts }) => 1 - reward.count / rollouts),
      range: SHARE,
      text: percentText,
    },
  ];
}
