/** The tables of docs/reference/red-team.md, from the lines of a results file. */
import { type Fault, type RedTeamResult, redTeamResultSchema, type SeedReport, type WindowFigures } from './report.ts';

/** The tables by the names of their places in the page. */
export function redTeamTables(results: string): Record<'runs' | 'ends', string> {
  const read = results
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => redTeamResultSchema.parse(JSON.parse(line)));
  return { runs: runsTable(read), ends: endsTable(read) };
}

/** Longer shapes are cut. */
const MAX_SHAPE_CHARS = 80;

const FAULT_WORDS: Readonly<Record<Fault, string>> = {
  right_fell: 'right fell',
  paid_without_right: 'paid without right',
  sprays_ids: 'sprays ids',
};

function runsTable(results: readonly RedTeamResult[]): string {
  const rows = results.map((result) => {
    const { seeds } = result;
    const faults = seeds.flatMap((seed) => seed.faults);
    const faulty = seeds.filter((seed) => seed.faults.length > 0).length;
    const words = [...new Set(faults)].map((fault) => FAULT_WORDS[fault]).join(', ');
    return [
      recipeText(result),
      result.rows,
      stepsText(seeds),
      moved(seeds, ({ reward }) => reward, number),
      moved(seeds, ({ own }) => own, percent),
      moved(seeds, ({ right }) => right, percent),
      moved(seeds, ({ attributed }) => attributed, percent),
      moved(seeds, ({ ids }) => ids, number),
      moved(seeds, ({ copied }) => copied, percent),
      faulty === 0 ? '-' : `${faulty} of ${seeds.length}: ${words}`,
    ];
  });
  return table(
    ['recipe', 'rows', 'seeds x steps', 'reward', 'own %', 'right %', 'attributed %', 'ids', 'copies %', 'faults'],
    rows,
  );
}

function endsTable(results: readonly RedTeamResult[]): string {
  const rows = results.flatMap((result) =>
    result.seeds.map((seed) => {
      const [most] = seed.shapes;
      const shape = most === undefined ? '-' : `\`${shortened(most.shape.replaceAll('|', ' '))}\``;
      const alerts = seed.alerts.map(({ rule, since }) => `\`${rule}\` ${since}`).join(', ');
      return [
        recipeText(result),
        result.rows,
        String(seed.seed),
        shape,
        most === undefined ? '-' : percent(most.share),
        most?.reward == null ? '-' : number(most.reward),
        most === undefined ? '-' : percent(most.right),
        alerts === '' ? '-' : alerts,
      ];
    }),
  );
  return table(
    ['recipe', 'rows', 'seed', 'most frequent answer', 'share %', 'reward', 'right %', 'alerts since step'],
    rows,
  );
}

function shortened(shape: string): string {
  return shape.length <= MAX_SHAPE_CHARS ? shape : `${shape.slice(0, MAX_SHAPE_CHARS)} …`;
}

function recipeText({ recipe, note }: RedTeamResult): string {
  const text = typeof recipe === 'string' ? recipe : fieldsText(recipe);
  return note === null ? text : `${text} (${note})`;
}

/** A changed recipe: its base and its changes, without the grammar, which the command adds. */
function fieldsText({ base, grammar: _, ...changes }: Readonly<Record<string, unknown>>): string {
  const changed = Object.entries(changes).map(
    ([name, value]) => `\`${name}\` ${JSON.stringify(value).replaceAll('"', '')}`,
  );
  return [...(typeof base === 'string' ? [base] : []), ...changed].join(', ');
}

function stepsText(seeds: readonly SeedReport[]): string {
  return `${seeds.length} x ${[...new Set(seeds.map(({ steps }) => steps))].join(', ')}`;
}

/** The mean over the seeds in the first and in the last window. */
function moved(
  seeds: readonly SeedReport[],
  of: (figures: WindowFigures) => number | null,
  shown: (value: number) => string,
): string {
  const means = [seeds.map(({ first }) => of(first)), seeds.map(({ last }) => of(last))].map((values) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? '-' : shown(known.reduce((sum, value) => sum + value, 0) / known.length);
  });
  return means.join(' to ');
}

function number(value: number): string {
  return value.toFixed(1);
}

function percent(value: number): string {
  return String(Math.round(value * 100));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
