/** Figures that follow the slider: run statistics, reward histogram, mean reward by step. */
import { useMemo } from 'preact/hooks';
import { Moments } from '../../../src/runs/moments.ts';
import type { PreparedGroup } from '../../../src/runs/replay-group.ts';
import { type ChartLine, LineChart } from '../charts/line-chart.tsx';
import { columnText, countText, numberText, percentText } from '../display/number-text.ts';
import { Histogram } from './histogram.tsx';
import { type LiveFigures, stepsOf } from './live-pass.ts';
import type { ReplayedRun } from './load-run.ts';

type LiveViewProps = { run: ReplayedRun; prepared: readonly PreparedGroup[]; live: LiveFigures };

export function LiveView({ run, prepared, live }: LiveViewProps) {
  const before = useMemo(() => recordedFigures(prepared), [prepared]);
  const steps = useMemo(() => stepsOf(prepared), [prepared]);
  const numbered = useMemo(() => steps.flatMap((step) => (step === null ? [] : [step])), [steps]);
  const lines = useMemo((): ChartLine[] => {
    const ofNumbered = (means: readonly (number | null)[]) => means.filter((_, position) => steps[position] !== null);
    return [
      { name: 'replayed', values: ofNumbered(live.stepMeans) },
      { name: 'recorded', values: ofNumbered(before.stepMeans) },
    ];
  }, [live, before, steps]);
  const groups = run.groups.length;
  const share = (count: number, of: number): string => (of === 0 ? 'n/a' : percentText(count / of));
  return (
    <section class="card" aria-label="Figures">
      <dl class="figures" aria-live="off">
        <Figure name="mean reward" before={textOf(before.mean)} after={textOf(live.mean)} />
        <Figure name="standard deviation" before={textOf(before.std)} after={textOf(live.std)} />
        <Figure
          name="degenerate groups"
          before={share(before.degenerate, groups)}
          after={share(live.degenerate, groups)}
        />
        <Figure
          name="not scored"
          before={countText(run.rollouts - before.scored)}
          after={countText(run.rollouts - live.scored)}
        />
        <Figure name="advantages that changed sign" before="" after={share(live.flipped, live.compared)} />
      </dl>
      <div class="live-charts">
        <Histogram before={before.rewards} after={live.rewards} text={numberText} />
        {numbered.length > 1 && (
          <LineChart title="Mean reward" hint="over steps" steps={numbered} lines={lines} text={numberText} />
        )}
      </div>
    </section>
  );
}

function Figure({ name, before, after }: { name: string; before: string; after: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {after}
        {before !== '' && <small>recorded {before}</small>}
      </dd>
    </div>
  );
}

function textOf(value: number | null): string {
  return value === null ? 'n/a' : columnText(value, 3);
}

type RecordedFigures = Pick<LiveFigures, 'scored' | 'mean' | 'std' | 'degenerate' | 'stepMeans'> & {
  readonly rewards: readonly number[];
};

function recordedFigures(prepared: readonly PreparedGroup[]): RecordedFigures {
  const all = new Moments();
  const rewards: number[] = [];
  const steps: { readonly step: number | null; readonly moments: Moments }[] = [];
  let degenerate = 0;
  for (const { rows, before } of prepared) {
    const step = rows[0]?.step ?? null;
    if (steps.length === 0 || steps.at(-1)?.step !== step) steps.push({ step, moments: new Moments() });
    if (before.degenerate !== null) degenerate++;
    for (const { reward } of before.scores) {
      if (reward === null) continue;
      all.add(reward);
      steps.at(-1)?.moments.add(reward);
      rewards.push(reward);
    }
  }
  const stepMeans = steps.map(({ moments }) => moments.mean);
  return { scored: all.count, mean: all.mean, std: all.std, degenerate, stepMeans, rewards };
}
