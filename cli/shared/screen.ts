/**
 * Where a run writes: results to standard output, everything else to standard error, with the progress line kept out of
 * the way of both.
 */
import { once } from 'node:events';
import { type Style, styleFor } from './style.ts';
import { plainLine } from './text-width.ts';

/** Something that is drawn over itself and makes room for other output. */
type Clearable = { clear(): void };

/** Columns where nobody says how many there are. */
const DEFAULT_WIDTH = 120;

export class Screen {
  /** Columns for results. */
  readonly width: number;
  readonly resultStyle: Style;
  readonly messageStyle: Style;
  #progress: Clearable | null = null;

  constructor(noColorFlag: boolean) {
    this.width = process.stdout.columns ?? DEFAULT_WIDTH;
    this.resultStyle = styleFor(process.stdout, noColorFlag);
    this.messageStyle = styleFor(process.stderr, noColorFlag);
  }

  show(progress: Clearable): void {
    this.#progress = progress;
  }

  /** One line of results. Waits for a slow reader, so that output does not pile up in memory. */
  async result(line: string): Promise<void> {
    this.#progress?.clear();
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
  }

  /** One line for the user. Whatever it quotes, it stays one line. */
  message(text: string, colour: Parameters<Style>[0] = null): void {
    this.#progress?.clear();
    process.stderr.write(`${this.messageStyle(colour, plainLine(text))}\n`);
  }
}
