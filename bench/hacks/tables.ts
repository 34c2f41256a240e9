/** The hack matrix as Markdown tables. */
import { GRAMMAR_NAMES } from '../../src/citations/grammars.ts';
import { HACK_CLASSES } from './hack-classes.ts';
import type { GrammarCell, HackMatrix } from './matrix.ts';
import { SETTINGS } from './settings.ts';

/** Rewards are sums of floating-point numbers. */
const ROUNDING = 1e-9;

const NAMES = SETTINGS.map(({ label }) => label);

/** Whether a share of the honest answer's reward is all of it. */
export function paysInFull(paid: number): boolean {
  return paid >= 1 - ROUNDING;
}

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

/** For each class, what each recipe pays, in percent of the honest answer, and what is reported in every grammar. */
export function hacksTable({ cells, grammars }: HackMatrix): string {
  const classes = new Map<string, number>();
  for (const { grammar, reports } of grammars) {
    if (grammar === 'snippet') for (const one of reports) classes.set(one, (classes.get(one) ?? 0) + 1);
  }
  const rows = HACK_CLASSES.map(({ name, does }) => {
    const paid = SETTINGS.map(({ name: setting }) => {
      const cell = cells.find((one) => one.hack === name && one.setting === setting);
      return cell === undefined ? '' : Math.round(100 * cell.paid);
    });
    const own = grammars.filter(({ hack }) => hack === name);
    // A report on few classes says more than one on many.
    const reported = (own.find(({ grammar }) => grammar === 'snippet')?.reports ?? [])
      .toSorted((one, other) => (classes.get(one) ?? 0) - (classes.get(other) ?? 0))
      .slice(0, 1);
    return `| ${does} | ${paid.join(' | ')} | ${reported.map((report) => `\`${report}\``).join(', ') || 'none'} |`;
  });
  return [
    `| policy | ${NAMES.join(' | ')} | reported |`,
    `|---|${SETTINGS.map(() => '---|').join('')}---|`,
    ...rows,
  ].join('\n');
}

/** For each grammar, how many classes are reported, and what the best paid class earns under each refiner. */
export function grammarsTable({ grammars, alarms }: HackMatrix): string {
  const rows = GRAMMAR_NAMES.map((name) => {
    const own = grammars.filter(({ grammar }) => grammar === name);
    const of = (changes: GrammarCell['changes']) => own.filter((cell) => cell.changes === changes);
    const reported = (changes: GrammarCell['changes']): string => {
      const cells = of(changes);
      return `${cells.filter(({ isReported }) => isReported).length} of ${cells.length}`;
    };
    const most = (changes: GrammarCell['changes']): number =>
      Math.round(100 * Math.max(...of(changes).flatMap(({ paid }) => Object.values(paid))));
    return (
      `| \`${name}\` | ${reported('citations')} | ${most('citations')} | ${reported('content')} | ` +
      `${most('content')} | ${alarms.filter(({ grammar }) => grammar === name).length} |`
    );
  });
  return [
    '| grammar | citation hacks reported | paid at most | content hacks reported | paid at most | false alarms |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
