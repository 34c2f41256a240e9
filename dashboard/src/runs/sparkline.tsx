/** A small line without axes; steps without a value are gaps. The table beside it holds the numbers. */
import '../styles/sparkline.css';

const WIDTH = 96;
const HEIGHT = 22;

export function Sparkline({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const x = (position: number): string =>
    (values.length === 1 ? WIDTH / 2 : 2 + (position / (values.length - 1)) * (WIDTH - 4)).toFixed(1);
  const y = (value: number): string =>
    (most === least ? HEIGHT / 2 : HEIGHT - 3 - ((value - least) / (most - least)) * (HEIGHT - 6)).toFixed(1);
  let isDrawing = false;
  const path = values
    .map((value, position) => {
      const command = value === null ? '' : `${isDrawing ? 'L' : 'M'}${x(position)} ${y(value)}`;
      isDrawing = value !== null;
      return command;
    })
    .join('');
  const last = values.findLastIndex((value) => value !== null);
  const end = values[last];
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={path} />
      {end != null && <circle cx={x(last)} cy={y(end)} r="2.2" />}
    </svg>
  );
}
