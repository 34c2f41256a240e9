/** Prints results to standard output and messages to standard error, and erases the progress line before both. */
import { once } from 'node:events';
import { plainLine, terminalText } from '../../src/text/foreign-line.ts';
import { type Style, styleFor } from './style.ts';

/** Something that is redrawn in place and can be erased before other output. */
type Clearable = { clear(): void };

/** Columns if standard output is no terminal. */
const DEFAULT_WIDTH = 120;

export class Screen {
  /** Width of standard output in columns. */
  readonly width: number;
  readonly resultStyle: Style;
  readonly messageStyle: Style;
  #progress: Clearable | null = null;

  constructor(noColorFlag: boolean) {
    this.width = process.stdout.columns ?? DEFAULT_WIDTH;
    this.resultStyle = styleFor(process.stdout, noColorFlag);
    this.messageStyle = styleFor(process.stderr, noColorFlag);
  }

  /** Makes `progress` the line that is erased before other output. */
  show(progress: Clearable): void {
    this.#progress = progress;
  }

  /**
   * Prints one line of results. Waits for a slow reader, so that output does not fill the memory. A file or pipe gets the
   * line as it is, a terminal without what could command it.
   */
  async result(line: string): Promise<void> {
    this.#progress?.clear();
    const shown = process.stdout.isTTY === true ? terminalText(line) : line;
    if (!process.stdout.write(`${shown}\n`)) await once(process.stdout, 'drain');
  }

  /** Prints one line for the user. Line breaks and control characters in it become spaces. */
  message(text: string, colour: Parameters<Style>[0] = null): void {
    this.#progress?.clear();
    process.stderr.write(`${this.messageStyle(colour, plainLine(text))}\n`);
  }
}
