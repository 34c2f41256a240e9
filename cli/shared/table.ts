/**
 * Prints an aligned table as a stream: the first rows decide the column widths, and later cells are cut to them. The
 * last column takes the rest of the line.
 */

import { plainLine } from '../../src/text/foreign-line.ts';
import type { Screen } from './screen.ts';
import type { Colour, Style } from './style.ts';
import { fitText, textWidth } from './text-width.ts';

export type Column = {
  readonly title: string;
  readonly align: 'left' | 'right';
  /** Maximum width in columns. */
  readonly most: number;
};

export type Cell = { readonly text: string; readonly colour?: Colour | null };

/** `spread` is one text in place of all remaining columns, such as the reason for a missing reward. */
export type TableRow = { readonly cells: readonly Cell[]; readonly spread?: Cell };

/** Rows that decide the column widths. */
const ROWS_TO_MEASURE = 40;

const GAP = '  ';

export class Table {
  readonly #columns: readonly Column[];
  readonly #width: number;
  readonly #style: Style;
  readonly #write: (line: string) => Promise<void>;
  #waiting: TableRow[] = [];
  #widths: readonly number[] | null = null;

  /** @param width of the terminal, in columns. */
  constructor(columns: readonly Column[], width: number, style: Style, write: (line: string) => Promise<void>) {
    this.#columns = columns;
    this.#width = width;
    this.#style = style;
    this.#write = write;
  }

  async add(row: TableRow): Promise<void> {
    const clean = {
      cells: row.cells.map(cleanCell),
      ...(row.spread === undefined ? {} : { spread: cleanCell(row.spread) }),
    };
    if (this.#widths !== null) return this.#print(clean, this.#widths);
    this.#waiting.push(clean);
    if (this.#waiting.length >= ROWS_TO_MEASURE) await this.#start();
  }

  /** Prints the rows that are still buffered. */
  async end(): Promise<void> {
    if (this.#widths === null && this.#waiting.length > 0) await this.#start();
  }

  async #start(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    const widths = settleWidths(this.#columns, rows, this.#width);
    this.#widths = widths;
    const titles = this.#columns.map(({ title }) => ({ text: title, colour: 'bold' as const }));
    await this.#print({ cells: titles }, widths);
    for (const row of rows) await this.#print(row, widths);
  }

  async #print({ cells, spread }: TableRow, widths: readonly number[]): Promise<void> {
    const parts = cells.map((cell, position) => this.#cell(cell, position, widths[position] ?? 0));
    const shown = parts.filter((_, position) => (widths[position] ?? 0) > 0);
    if (spread !== undefined) {
      const used = widths.slice(0, cells.length).reduce((sum, width) => sum + (width > 0 ? width + GAP.length : 0), 0);
      shown.push(this.#style(spread.colour ?? null, fitText(spread.text, this.#width - used)));
    }
    await this.#write(shown.join(GAP).trimEnd());
  }

  #cell({ text, colour }: Cell, position: number, width: number): string {
    const fitted = fitText(text, width);
    const padding = ' '.repeat(Math.max(0, width - textWidth(fitted)));
    const styled = this.#style(colour ?? null, fitted);
    return this.#columns[position]?.align === 'right' ? padding + styled : styled + padding;
  }
}

/** A table for standard output. */
export function resultTable(columns: readonly Column[], screen: Screen): Table {
  return new Table(columns, screen.width, screen.resultStyle, (line) => screen.result(line));
}

function cleanCell({ text, colour }: Cell): Cell {
  return { text: plainLine(text), ...(colour === undefined ? {} : { colour }) };
}

/** The last column is left out if less than this remains for it. */
const LEAST_LAST_WIDTH = 20;

/**
 * Widths by content, within each column's maximum. The last column gets the rest of the line, or 0 if that is too
 * little.
 */
function settleWidths(columns: readonly Column[], rows: readonly TableRow[], total: number): number[] {
  const natural = columns.map(({ title, most }, position) => {
    const widest = Math.max(0, ...rows.map(({ cells }) => textWidth(cells[position]?.text ?? '')));
    // A column without content is not shown.
    return widest === 0 ? 0 : Math.min(most, Math.max(textWidth(title), widest));
  });
  const last = natural.length - 1;
  const before = natural.slice(0, last).reduce((sum, width) => sum + (width > 0 ? width + GAP.length : 0), 0);
  const rest = total - before;
  const wanted = natural[last] ?? 0;
  natural[last] = rest >= LEAST_LAST_WIDTH ? Math.min(wanted, rest) : 0;
  return natural;
}
