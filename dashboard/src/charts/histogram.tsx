/**
 * Reward histogram: one distribution, or recorded and replayed rewards over the same bins. A pointer or a finger on a
 * bin shows its counts.
 */
import '../styles/charts.css';
import '../styles/histogram.css';
import { useState } from 'preact/hooks';
import { countText } from '../display/number-text.ts';

const BINS = 32;
const WIDTH = 640;
const HEIGHT = 120;

type HistogramProps = {
  before: readonly number[] | Float64Array;
  /** Absent: the histogram is of one distribution. */
  after?: readonly number[] | Float64Array;
  text: (value: number) => string;
};

export function Histogram({ before, after, text }: HistogramProps) {
  const [least, most] = rangeOf(before, after ?? []);
  const old = countsOf(before, least, most);
  const other = after === undefined ? null : countsOf(after, least, most);
  const top = Math.max(1, ...old, ...(other ?? []));
  const [bin, setBin] = useState<number | null>(null);
  const point = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setBin(Math.max(0, Math.min(BINS - 1, Math.floor(((event.clientX - left) / width) * BINS))));
  };
  const edge = (at: number): string => text(least + ((most - least) * at) / BINS);
  return (
    <figure class="histogram">
      <figcaption>
        <h2>Rewards</h2>
        <span class="histogram-key">
          {other !== null && (
            <>
              <span class="key-before" aria-hidden="true" /> recorded{' '}
            </>
          )}
          {bin !== null && <b>{countText(old[bin] ?? 0)}</b>}
        </span>
        {other !== null && (
          <span class="histogram-key">
            <span class="key-after" aria-hidden="true" /> replayed {bin !== null && <b>{countText(other[bin] ?? 0)}</b>}
          </span>
        )}
        <span class="muted histogram-bin">
          {bin === null ? `rollouts, at most ${countText(top)} in a bin` : `${edge(bin)} to ${edge(bin + 1)}`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setBin(null)}
        aria-label={`Distribution of the rewards${other === null ? '' : ', recorded and replayed'}, from ${text(least)} to ${text(most)}`}
      >
        {bin !== null && <rect class="pointed" x={(bin * WIDTH) / BINS} y="0" width={WIDTH / BINS} height={HEIGHT} />}
        <path class="after" d={outline(other ?? old, top)} />
        {other !== null && <path class="before" d={outline(old, top)} />}
      </svg>
      <p class="histogram-axis" aria-hidden="true">
        <span>{text(least)}</span>
        <span>{text((least + most) / 2)} · reward</span>
        <span>{text(most)}</span>
      </p>
    </figure>
  );
}

/** NaN marks a missing reward and is ignored. */
function rangeOf(...lists: readonly (readonly number[] | Float64Array)[]): [number, number] {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const list of lists) {
    for (const value of list) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  if (least > most) return [0, 1];
  return least === most ? [least - 0.5, most + 0.5] : [least, most];
}

function countsOf(values: readonly number[] | Float64Array, least: number, most: number): number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    const bin = Math.min(BINS - 1, Math.floor(((value - least) / (most - least)) * BINS));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

function outline(counts: readonly number[], top: number): string {
  const width = WIDTH / counts.length;
  const points = counts.map((count, bin) => {
    const y = (HEIGHT - 2 - (count / top) * (HEIGHT - 8)).toFixed(1);
    return `L${(bin * width).toFixed(1)} ${y}H${((bin + 1) * width).toFixed(1)}`;
  });
  return `M0 ${HEIGHT - 2}${points.join('')}L${WIDTH} ${HEIGHT - 2}`;
}
