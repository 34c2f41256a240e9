/** The charts that follow the slider: reward histogram and mean reward by step. */
import { useMemo } from 'preact/hooks';
import type { PreparedGroup } from '../../../src/runs/replay-group.ts';
import { Histogram } from '../charts/histogram.tsx';
import { type ChartLine, LineChart } from '../charts/line-chart.tsx';
import { numberText } from '../display/number-text.ts';
import { type LiveFigures, type RecordedFigures, stepsOf } from './live-pass.ts';

type LiveChartsProps = { prepared: readonly PreparedGroup[]; recorded: RecordedFigures; live: LiveFigures };

export function LiveCharts({ prepared, recorded, live }: LiveChartsProps) {
  const steps = useMemo(() => stepsOf(prepared), [prepared]);
  const numbered = useMemo(() => steps.flatMap((step) => (step === null ? [] : [step])), [steps]);
  const lines = useMemo((): ChartLine[] => {
    const ofNumbered = (means: readonly (number | null)[]) => means.filter((_, position) => steps[position] !== null);
    return [
      { name: 'replayed', values: ofNumbered(live.stepMeans) },
      { name: 'recorded', values: ofNumbered(recorded.stepMeans) },
    ];
  }, [live, recorded, steps]);
  return (
    <section class="card live-charts" aria-label="Charts">
      <Histogram before={recorded.rewards} after={live.rewards} text={numberText} />
      {numbered.length > 1 && (
        <LineChart
          title="Mean reward"
          hint="over steps"
          axis="reward"
          steps={numbered}
          lines={lines}
          text={numberText}
        />
      )}
    </section>
  );
}
