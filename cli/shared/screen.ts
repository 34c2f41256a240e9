/** Prints results to standard output and messages to standard error, and erases the progress line before both. */
import { once } from 'node:events';
import { type Style, styleFor } from './style.ts';
import { plainLine } from './text-width.ts';

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

  /** Prints one line of results. Waits for a slow reader, so that output does not fill the memory. */
  async result(line: string): Promise<void> {
    this.#progress?.clear();
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
  }

  /** Prints one line for the user. Line breaks and control characters in it become spaces. */
  message(text: string, colour: Parameters<Style>[0] = null): void {
    this.#progress?.clear();
    process.stderr.write(`${this.messageStyle(colour, plainLine(text))}\n`);
  }
}
