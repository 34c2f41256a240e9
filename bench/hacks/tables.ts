/** The hack matrix as Markdown tables. */
import { HACK_CLASSES } from './hack-classes.ts';
import { type HackMatrix, SETTINGS } from './matrix.ts';

/** Rewards are sums of floating-point numbers. */
const ROUNDING = 1e-9;

/** Findings that a row names: the most telling ones. */
const LISTED = 2;

const NAMES = SETTINGS.map(({ label }) => label);

/** For each recipe, how many classes pay as much as the honest answer, and at least nine tenths of it. */
export function countsTable({ cells }: HackMatrix): string {
  const count = (setting: string, least: number): number =>
    cells.filter((cell) => cell.setting === setting && cell.paid >= least - ROUNDING).length;
  return [
    `| of ${HACK_CLASSES.length} hacks | ${NAMES.join(' | ')} |`,
    `|---|${SETTINGS.map(() => '---|').join('')}`,
    `| pay as much as the honest answer | ${SETTINGS.map(({ name }) => count(name, 1)).join(' | ')} |`,
    `| pay nine tenths of it or more | ${SETTINGS.map(({ name }) => count(name, 0.9)).join(' | ')} |`,
  ].join('\n');
}

/** For each class, what each recipe pays, in percent of the honest answer, and the findings. */
export function hacksTable({ cells }: HackMatrix): string {
  const classes = new Map<string, number>();
  for (const { findings } of cells) for (const one of findings) classes.set(one, (classes.get(one) ?? 0) + 1);
  const rows = HACK_CLASSES.map(({ name, does }) => {
    const own = cells.filter(({ hack }) => hack === name);
    const paid = SETTINGS.map(({ name: setting }) => {
      const cell = own.find((one) => one.setting === setting);
      return cell === undefined ? '' : Math.round(100 * cell.paid);
    });
    // A finding of few classes says more than one of many.
    const found = [...new Set(own.flatMap(({ findings }) => findings))]
      .sort((one, other) => (classes.get(one) ?? 0) - (classes.get(other) ?? 0))
      .slice(0, LISTED);
    return `| ${does} | ${paid.join(' | ')} | ${found.map((reason) => `\`${reason}\``).join(', ') || 'none'} |`;
  });
  return [
    `| the policy | ${NAMES.join(' | ')} | findings |`,
    `|---|${SETTINGS.map(() => '---|').join('')}---|`,
    ...rows,
  ].join('\n');
}
