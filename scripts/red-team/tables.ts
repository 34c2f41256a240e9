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
  return results.flatMap(({ seeds }, n) => seeds.map((seed) => endOf(n + 1, seed))).join('\n');
}

/** The most frequent answer and the alerts of a seed, as an item of a list. */
function endOf(setup: number, { seed, shapes: [most], alerts }: SeedReport): string {
  const answer =
    most === undefined
      ? ['no answers']
      : [
          `${percent(most.share)} % are right in ${percent(most.right)} % and earn ${most.reward === null ? '-' : number(most.reward)}:`,
          `  \`${shortened(most.shape)}\``,
        ];
  const rules = alerts.map((alert) => `  \`${alert.rule}\` ${alertTime(alert)}`);
  return [`* ${setup}, seed ${seed}: ${answer.join('\n')}`, ...(rules.length === 0 ? ['  no alert'] : rules)].join(
    '\n',
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
