/** Plots a sweep in plain characters: one column for each value, with a * at the height of its figure. */
export type PlotPoint = { readonly label: string; readonly value: number | null };

const PLOT_ROWS = 8;

const WIDEST_COLUMN = 6;

/** The lines of the plot; a single line if no value is defined. @param width of the terminal, in columns. */
export function textPlot(title: string, points: readonly PlotPoint[], width: number): string[] {
  const known = points.flatMap(({ value }) => (value === null ? [] : [value]));
  if (known.length === 0) return [`${title}: not defined`];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const scale = [axisText(most), axisText(least)];
  const margin = Math.max(...scale.map((text) => text.length));
  const column = Math.max(1, Math.min(WIDEST_COLUMN, Math.floor((width - margin - 3) / points.length)));
  // Equal figures take a single row.
  const rows = least === most ? 1 : PLOT_ROWS;
  const rowOf = (value: number): number =>
    rows === 1 ? 0 : Math.round(((most - value) / (most - least)) * (rows - 1));
  const lines = Array.from({ length: rows }, (_, row) => {
    const label = row === 0 ? scale[0] : row === rows - 1 ? scale[1] : '';
    const dots = points.map(({ value }) => (value !== null && rowOf(value) === row ? '*' : ' ').padEnd(column));
    return `${(label ?? '').padStart(margin)} |${dots.join('')}`.trimEnd();
  });
  return [title, ...lines, axisLine(margin, column, points)];
}

/** The labels below the axis, as many as fit. */
function axisLine(margin: number, column: number, points: readonly PlotPoint[]): string {
  let line = `${' '.repeat(margin)}  `;
  for (const [position, { label }] of points.entries()) {
    const at = margin + 2 + position * column;
    if (position > 0 && line.length >= at) continue;
    line = `${line.padEnd(at)}${label}`;
  }
  return line;
}

function axisText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
