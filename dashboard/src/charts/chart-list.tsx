/** Charts over the same steps. Charts whose values are all 0 are one line of text instead. */
import { type ChartLine, LineChart, type LineChartProps } from './line-chart.tsx';

export type Chart = LineChartProps;

export function ChartList({ charts }: { charts: readonly Chart[] }) {
  const flat = charts.filter(({ lines }) => lines.every(isZero));
  return (
    <>
      <div class="charts">
        {charts
          .filter((chart) => !flat.includes(chart))
          .map((chart) => (
            <LineChart key={chart.title} {...chart} />
          ))}
      </div>
      {flat.length > 0 && (
        <p class="note flat-charts">
          0 at every step: {flat.map(({ title, hint }) => `${title.toLowerCase()} (${hint})`).join('; ')}.
        </p>
      )}
    </>
  );
}

/** Whether the line has values, and all of them are 0: a line without values is unknown, not 0. */
function isZero({ values }: ChartLine): boolean {
  return values.some((value) => value !== null) && values.every((value) => value === null || value === 0);
}
