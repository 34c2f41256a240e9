/** The tables of docs/reference/red-team.md, from the lines of a results file. */
import {
  alertTime,
  type Fault,
  type RedTeamResult,
  redTeamResultSchema,
  type SeedReport,
  type WindowFigures,
} from './report.ts';

/** The tables by the names of their places in the page. */
export function redTeamTables(results: string): Record<'runs' | 'ends', string> {
  const read = results
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => redTeamResultSchema.parse(JSON.parse(line)));
  const setups = oneOfEachSetup(read);
  return { runs: runsTable(setups), ends: endsTable(setups) };
}

/** Joins the seeds of lines with the same settings: a later command adds seeds to those of an earlier one. */
function oneOfEachSetup(results: readonly RedTeamResult[]): RedTeamResult[] {
  const setups = Map.groupBy(results, ({ recipe, rows, judge, note, seeds }) =>
    JSON.stringify([recipe, rows, judge, note, seeds[0]?.steps]),
  );
  return [...setups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, seeds: [first, ...more].flatMap(({ seeds }) => seeds) }],
  );
}

/** Longer shapes are cut. */
const MAX_SHAPE_CHARS = 80;

const FAULT_WORDS: Readonly<Record<Fault, string>> = {
  right_fell: 'right fell',
  paid_without_right: 'paid without right',
  sprays_ids: 'sprays ids',
};

function runsTable(results: readonly RedTeamResult[]): string {
  const rows = results.map((result, n) => {
    const { seeds } = result;
    const faults = seeds.flatMap((seed) => seed.faults);
    const faulty = seeds.filter((seed) => seed.faults.length > 0).length;
    const words = [...new Set(faults)].map((fault) => FAULT_WORDS[fault]).join(', ');
    return [
      String(n + 1),
      moved(seeds, ({ reward }) => reward, number),
      moved(seeds, ({ own }) => own, percent),
      moved(seeds, ({ right }) => right, percent),
      moved(seeds, ({ attributed }) => attributed, percent),
      moved(seeds, ({ ids }) => ids, number),
      moved(seeds, ({ copied }) => copied, percent),
      faulty === 0 ? '-' : `${faulty} of ${seeds.length}: ${words}`,
    ];
  });
  const setups = results.map(
    (result, n) => `${n + 1}. ${recipeText(result)}; ${result.rows}; ${stepsText(result.seeds)}`,
  );
  const head = ['', 'reward', 'own %', 'right %', 'attributed %', 'ids', 'copies %', 'faults'];
  return `${setups.join('\n')}\n\n${table(head, rows)}`;
}

function endsTable(results: readonly RedTeamResult[]): string {
  return results.flatMap(({ seeds }, n) => [`* ${n + 1}:`, ...answersOf(seeds), ...alertsOf(seeds)]).join('\n');
}

/** The most frequent answer of each seed; seeds that end with the same one are counted together. */
function answersOf(seeds: readonly SeedReport[]): string[] {
  const ends = seeds.flatMap(({ shapes: [most] }) => (most === undefined ? [] : [most]));
  return [...Map.groupBy(ends, ({ shape }) => shape)].map(([shape, same]) => {
    const earned = same.flatMap(({ reward }) => reward ?? []);
    const share = range(same.map((end) => percent(end.share)));
    const right = range(same.map((end) => percent(end.right)));
    const reward = earned.length === 0 ? '-' : range(earned.map(number));
    const counted = seeds.length === 1 ? '' : `${same.length} of ${seeds.length} seeds: `;
    return `  ${counted}${share} % of the answers, right in ${right} %, earning ${reward}:\n  \`${shortened(shape)}\``;
  });
}

/** The alerts of the seeds, each with the number of seeds that had it and the steps since which it held. */
function alertsOf(seeds: readonly SeedReport[]): string[] {
  const alerts = seeds.flatMap((seed) => seed.alerts);
  if (alerts.length === 0) return ['  no alert'];
  return [...Map.groupBy(alerts, ({ rule }) => rule)].map(([rule, same]) => {
    const [only] = same;
    if (seeds.length === 1 && only !== undefined) return `  \`${rule}\` ${alertTime(only)}`;
    const over = same.filter(({ active }) => !active).length;
    const since = range(same.map((alert) => String(alert.since)));
    return `  \`${rule}\` in ${same.length}, since step ${since}${over === 0 ? '' : `, over at the end in ${over}`}`;
  });
}

/** The least and the largest of numbers in words. */
function range(numbers: readonly string[]): string {
  const sorted = numbers.toSorted((a, b) => Number(a) - Number(b));
  const [least = '-', most = '-'] = [sorted.at(0), sorted.at(-1)];
  return least === most ? least : `${least} to ${most}`;
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
  const steps = [...new Set(seeds.map((seed) => seed.steps))].join(', ');
  return `${seeds.length} ${seeds.length === 1 ? 'seed' : 'seeds'} of ${steps} steps`;
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
