/** Prints the outcomes of rows: as rows of a table, or with `--json` as JSON lines. */
import type { Flags } from './flags.ts';
import type { Labels } from './rows.ts';
import type { FinishedRow } from './run-rows.ts';
import type { Screen } from './screen.ts';
import { type Cell, type Column, resultTable, type TableRow } from './table.ts';

export type RowPrinter<T> = {
  /** A refused line has no result; its problems are on standard error. */
  readonly print: (finished: FinishedRow<T>) => Promise<void>;
  /** Prints what the table still holds. */
  readonly end: () => Promise<void>;
};

/**
 * @param columns the table, and the row of a reply in it.
 * @param none what the JSON line of a row without a reply has in the place of its rewards.
 */
export function rowPrinter<T extends object>(
  flags: Flags,
  screen: Screen,
  [columns, rowOf]: readonly [readonly Column[], (line: number, labels: Labels, reply: T) => TableRow],
  none: Readonly<Record<string, null>>,
): RowPrinter<T> {
  const table = flags.isOn('json') ? null : resultTable(columns, screen);
  return {
    async print({ line, labels, outcome }) {
      const { id } = labels;
      switch (outcome.kind) {
        case 'done':
          if (table !== null) return table.add(rowOf(line, labels, outcome.reply));
          return screen.result(JSON.stringify({ line, id, ...outcome.reply }));
        case 'failed': {
          const { reason, detail } = outcome;
          if (table !== null) return table.add(unscoredRow(idCell(line, labels), reason, detail));
          return screen.result(JSON.stringify({ line, id, ...none, status: 'unscored', reason, detail }));
        }
        case 'refused':
      }
    },
    end: async () => table?.end(),
  };
}

/** The id of a row, else its line number. */
export function idCell(line: number, labels: Labels): Cell {
  return { text: String(labels.id ?? `line ${line}`) };
}

/** A row without a reward. */
export function unscoredRow(id: Cell, reason: string, detail: string): TableRow {
  const text = detail === '' ? `unscored: ${reason}` : `unscored: ${reason} (${detail})`;
  return { cells: [id], spread: { text, colour: 'yellow' } };
}
