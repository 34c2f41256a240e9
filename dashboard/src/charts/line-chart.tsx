/**
 * Lines over steps, drawn by uPlot. What a canvas shows stands beside it as a table as well; here it is an image with its
 * last values in the legend, which follow the pointer.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import '../styles/charts.css';
import { shownTheme } from '../settings/theme.ts';
import { useWatched } from '../settings/watched-value.ts';
import { colourAt, LINE_DASHES, LINE_LOOKS } from './chart-colours.ts';

export type Values = readonly (number | null)[];
export type ChartLine = { readonly name: string; readonly values: Values };

type LineChartProps = {
  title: string;
  /** What is drawn, in a few words. */
  hint: string;
  /** Ascending; one for each value of every line. */
  steps: readonly number[];
  lines: readonly ChartLine[];
  /** A shade around the first line. */
  band?: { readonly name: string; readonly low: Values; readonly high: Values };
  /** Ends of the axis; `null` = as the values have it. */
  range?: readonly [number | null, number | null];
  text: (value: number) => string;
};

const HEIGHT_PX = 190;
const AXIS_PX = 52;
const FONT = '11px system-ui, sans-serif';
/** Charts of one page share their pointer. */
const SYNC = 'steps';

export function LineChart({ title, hint, steps, lines, band, range, text }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useWatched(shownTheme);
  const [pointed, setPointed] = useState<number | null>(null);

  useEffect(() => {
    const target = place.current;
    if (target === null) return;
    const colour = (variable: string): string => colourAt(target, variable);
    const axis = { stroke: colour('--muted'), font: FONT, grid: { stroke: colour('--line'), width: 1 } };
    const series: uPlot.Series[] = lines.map((_, position) => ({
      stroke: colour(`--line-${(position % LINE_LOOKS) + 1}`),
      width: 2,
      dash: [...(LINE_DASHES[position % LINE_LOOKS] ?? [])],
      points: { size: 5 },
    }));
    const edge: uPlot.Series = { stroke: 'transparent', width: 0, points: { show: false } };
    const plot = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, points: { size: 7 } },
        scales: {
          x: { time: false, range: (_plot, least, most) => (least === most ? [least - 1, most + 1] : [least, most]) },
          y: { range: (_plot, least, most) => rangeOf(least, most, range) },
        },
        axes: [
          { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000], size: 30 },
          { ...axis, size: AXIS_PX, values: (_plot, ticks) => ticks.map(text) },
        ],
        series: [{}, ...series, ...(band === undefined ? [] : [edge, edge])],
        bands:
          band === undefined ? [] : [{ series: [lines.length + 2, lines.length + 1], fill: colour('--line-1-wash') }],
        hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)] },
      },
      [
        [...steps],
        ...lines.map(({ values }) => [...values]),
        ...(band === undefined ? [] : [[...band.low], [...band.high]]),
      ],
      target,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HEIGHT_PX }));
    observer.observe(target);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [steps, lines, band, range, text, theme]);

  const shown = pointed !== null && pointed < steps.length ? pointed : steps.length - 1;
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <small>{hint}</small>
      </figcaption>
      <ul class="chart-legend">
        {lines.map(({ name, values }, position) => (
          <li key={name}>
            <svg class={`line-look is-line-${(position % LINE_LOOKS) + 1}`} viewBox="0 0 24 6" aria-hidden="true">
              <path d="M0 3h24" stroke-dasharray={LINE_DASHES[position % LINE_LOOKS]?.join(' ') ?? ''} />
            </svg>
            {name} <b>{valueText(values[shown] ?? null, text)}</b>
          </li>
        ))}
        {band !== undefined && (
          <li>
            <span class="band-look" aria-hidden="true" /> {band.name}
          </li>
        )}
        <li class="muted chart-step">step {steps[shown]}</li>
      </ul>
      <div ref={place} class="chart-place" role="img" aria-label={`${title}. ${spoken(steps, lines, text)}`} />
    </figure>
  );
}

function rangeOf(least: number, most: number, asked: LineChartProps['range']): [number, number] {
  const from = asked?.[0] ?? least - (most - least) * 0.08;
  const to = asked?.[1] ?? most + (most - least) * 0.08;
  if (!Number.isFinite(from) || !Number.isFinite(to)) return [0, 1];
  return from < to ? [from, to] : [from - 0.5, from + 0.5];
}

function valueText(value: number | null, text: (value: number) => string): string {
  return value === null ? 'n/a' : text(value);
}

/** First and last value of every line: what a glance would tell. */
function spoken(steps: readonly number[], lines: readonly ChartLine[], text: (value: number) => string): string {
  const ends = lines.map(({ name, values }) => {
    const first = values.findIndex((value) => value !== null);
    const last = values.findLastIndex((value) => value !== null);
    if (first === -1) return `${name}: nothing`;
    const at = (position: number): string => `${valueText(values[position] ?? null, text)} at step ${steps[position]}`;
    return first === last ? `${name}: ${at(first)}` : `${name}: ${at(first)}, ${at(last)}`;
  });
  return `${ends.join('; ')}. All values stand in the table of steps.`;
}
