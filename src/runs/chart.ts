/**
 * Draws a sweep, or the steps of a run, as an SVG: one small line chart per figure, stacked, over common values. The SVG
 * contains no script and no external reference, and follows the light or dark color scheme of the page that shows it.
 */
import type { ReplayFigures } from './replay-report.ts';
import type { SweepValue } from './sweep-value.ts';

export type ChartPoint = { readonly value: SweepValue; readonly figures: ReplayFigures };

const WIDTH = 640;
const PANEL_HEIGHT = 96;
const LEFT = 64;
const RIGHT = 16;
const TOP = 40;
const TITLE_ROOM = 20;
const BOTTOM = 44;
const MOST_LABELS = 11;

type Panel = { readonly title: string; readonly figure: (figures: ReplayFigures) => number | null };

const PANELS: readonly Panel[] = [
  { title: 'mean reward', figure: ({ after }) => after.mean },
  { title: 'standard deviation of the reward', figure: ({ after }) => after.std },
  { title: "mean Kendall's tau-b within groups, against the recorded rewards", figure: ({ tau }) => tau.mean },
  { title: 'share of advantages that change sign', figure: ({ advantages }) => advantages.flipped_share },
];

/** Draws the chart of a sweep. Numeric values are placed to scale, other values at equal distances. */
export function sweepChart(field: string, points: readonly ChartPoint[]): string {
  const panels = PANELS.map(({ title, figure }) => ({ title, values: points.map(({ figures }) => figure(figures)) }));
  const values = points.map(({ value }) => value);
  return stackedCharts({ title: `Sweep of ${field}`, axis: field, values, panels });
}

/** `panels`: the title of each figure, and its value at each of `values`; `null` = undefined there. */
export type StackedCharts = {
  readonly title: string;
  readonly axis: string;
  readonly values: readonly SweepValue[];
  readonly panels: readonly { readonly title: string; readonly values: readonly (number | null)[] }[];
};

/** Draws one small line chart per panel, stacked. */
export function stackedCharts({ title, axis, values, panels }: StackedCharts): string {
  const height = TOP + panels.length * (PANEL_HEIGHT + TITLE_ROOM) + BOTTOM;
  const xs = placesOf(values);
  const drawn = panels.map((one, position) => {
    const top = TOP + position * (PANEL_HEIGHT + TITLE_ROOM) + TITLE_ROOM;
    return panel(
      one.title,
      top,
      one.values.map((y, at) => ({ x: xs[at] ?? LEFT, y })),
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    STYLE,
    `<text x="${LEFT}" y="22" class="name">${escaped(axis)}</text>`,
    ...drawn,
    ...labels(values, xs, height - BOTTOM + 20),
    '</svg>',
  ].join('\n');
}

const STYLE = `<style>
svg { font: 12px system-ui, sans-serif; color: #1b1f24; background: #fff }
text { fill: currentColor } .name { font-weight: 600; font-size: 14px } .axis { stroke: currentColor; opacity: .25 }
.line { fill: none; stroke: #0b62c4; stroke-width: 2 } .dot { fill: #0b62c4 } .quiet { opacity: .65 }
@media (prefers-color-scheme: dark) { svg { color: #e8eaed; background: #16181c } .line { stroke: #6cb0ff } .dot { fill: #6cb0ff } }
</style>`;

/** Horizontal positions of the values. */
function placesOf(values: readonly SweepValue[]): number[] {
  const room = WIDTH - LEFT - RIGHT;
  const numbers = values.filter((value) => typeof value === 'number');
  const least = Math.min(...numbers);
  const range = Math.max(...numbers) - least;
  if (numbers.length === values.length && range > 0) {
    return numbers.map((value) => LEFT + ((value - least) / range) * room);
  }
  return values.map((_, position) => LEFT + ((position + 0.5) / values.length) * room);
}

type Place = { readonly x: number; readonly y: number | null };

/** Draws one chart with its own scale; an undefined figure is a gap in the line. */
function panel(title: string, top: number, places: readonly Place[]): string {
  const known = places.flatMap(({ y }) => (y === null ? [] : [y]));
  const bottom = top + PANEL_HEIGHT - 8;
  const heading = `<text x="${LEFT}" y="${top - 6}" class="quiet">${escaped(title)}</text>`;
  const axis = `<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}"/>`;
  if (known.length === 0) return [heading, axis, `<text x="${LEFT}" y="${top + 24}">not defined</text>`].join('\n');
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const heightOf = (y: number): number =>
    least === most ? (top + bottom) / 2 : bottom - ((y - least) / (most - least)) * (bottom - top - 8);
  const runs: string[][] = [[]];
  const dots: string[] = [];
  for (const { x, y } of places) {
    if (y === null) {
      runs.push([]);
      continue;
    }
    const [cx, cy] = [x.toFixed(1), heightOf(y).toFixed(1)];
    runs.at(-1)?.push(`${cx},${cy}`);
    dots.push(`<circle class="dot" cx="${cx}" cy="${cy}" r="2.5"/>`);
  }
  const lines = runs.flatMap((run) => (run.length < 2 ? [] : [`<polyline class="line" points="${run.join(' ')}"/>`]));
  const scale = least === most ? [least] : [most, least];
  const marks = scale.map(
    (y) =>
      `<text class="quiet" x="${LEFT - 6}" y="${(heightOf(y) + 4).toFixed(1)}" text-anchor="end">${short(y)}</text>`,
  );
  return [heading, axis, ...lines, ...dots, ...marks].join('\n');
}

/** Labels the axis with as many values as fit; the last value always has a label. */
function labels(values: readonly SweepValue[], xs: readonly number[], y: number): string[] {
  const every = Math.ceil(values.length / MOST_LABELS);
  return values.flatMap((value, position) => {
    if ((values.length - 1 - position) % every !== 0) return [];
    return [
      `<text x="${(xs[position] ?? LEFT).toFixed(1)}" y="${y}" text-anchor="middle">${escaped(String(value))}</text>`,
    ];
  });
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** The text as content or attribute of HTML and SVG. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
