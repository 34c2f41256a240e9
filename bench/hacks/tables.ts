/** The hack matrix as Markdown tables. */
import { HACK_CLASSES } from './hack-classes.ts';
import { type HackMatrix, SETTINGS } from './matrix.ts';

/** Rewards are sums of floating-point numbers. */
const ROUNDING = 1e-9;

const NAMES = SETTINGS.map(({ name }) => (name === 'own recipe' ? name : `\`${name}\``));

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
  const rows = HACK_CLASSES.map(({ name, does }) => {
    const own = cells.filter(({ hack }) => hack === name);
    const paid = SETTINGS.map(({ name: setting }) => {
      const cell = own.find((one) => one.setting === setting);
      return cell === undefined ? '' : Math.round(100 * cell.paid);
    });
    const found = [...new Set(own.flatMap(({ findings }) => findings))];
    return `| ${does} | ${paid.join(' | ')} | ${found.map((reason) => `\`${reason}\``).join(', ') || 'none'} |`;
  });
  return [
    `| the policy | ${NAMES.join(' | ')} | findings |`,
    `|---|${SETTINGS.map(() => '---|').join('')}---|`,
    ...rows,
  ].join('\n');
}
