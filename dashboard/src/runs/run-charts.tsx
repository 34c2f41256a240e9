/** Charts of a run over its steps. */
import { useMemo } from 'preact/hooks';
import { LINE_LOOKS, LineChart } from '../charts/line-chart.tsx';
import { numberText, percentText } from '../display/number-text.ts';
import { unscoredWords } from '../words/unscored.ts';
import { componentLines, type NumberedStep, rewardBand, unscoredLines } from './step-columns.ts';

const SHARE = [0, 1] as const;
const FROM_ZERO = [0, null] as const;

export function RunCharts({ steps }: { steps: readonly NumberedStep[] }) {
  const curves = useMemo(
    () => ({
      at: steps.map(({ step }) => step),
      reward: [{ name: 'mean', values: steps.map(({ reward }) => reward.mean) }],
      band: { name: 'one standard deviation', ...rewardBand(steps) },
      components: componentLines(steps),
      spread: [{ name: 'mean within groups', values: steps.map(({ spread }) => spread.mean_std) }],
      degenerate: [{ name: 'degenerate groups', values: steps.map(({ degenerate }) => degenerate.share) }],
      unscored: unscoredLines(steps, LINE_LOOKS - 1, unscoredWords),
      cache: [{ name: 'judgments from the store', values: steps.map(({ judgments }) => judgments.hit_rate) }],
    }),
    [steps],
  );
  const { at } = curves;
  return (
    <div class="charts">
      <LineChart
        title="Reward"
        hint="mean over scored rollouts"
        steps={at}
        lines={curves.reward}
        band={curves.band}
        text={numberText}
      />
      <LineChart title="Components" hint="mean values" steps={at} lines={curves.components} text={numberText} />
      <LineChart
        title="Group spread"
        hint="standard deviation of the rewards of one prompt"
        steps={at}
        lines={curves.spread}
        range={FROM_ZERO}
        text={numberText}
      />
      <LineChart
        title="Degenerate groups"
        hint="all rewards equal, or fewer than two scored"
        steps={at}
        lines={curves.degenerate}
        range={SHARE}
        text={percentText}
      />
      <LineChart
        title="Not scored"
        hint="share of rollouts, by reason"
        steps={at}
        lines={curves.unscored}
        range={FROM_ZERO}
        text={percentText}
      />
      <LineChart
        title="Cache hit rate"
        hint="judgments reused without a judge call"
        steps={at}
        lines={curves.cache}
        range={SHARE}
        text={percentText}
      />
    </div>
  );
}
