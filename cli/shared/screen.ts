/** Prints results to standard output and messages to standard error, and erases the progress line before both. */
import { once } from 'node:events';
import { plainLine, terminalText } from '../../src/text/foreign-line.ts';
import type { Flags } from './flags.ts';
import { type Output, writeLine } from './shell.ts';
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
  /** Standard error, for a progress line. */
  readonly errors: Output;
  /** True if a person reads the results on a terminal. */
  readonly isTerminal: boolean;
  readonly #results: Output;
  #progress: Clearable | null = null;

  constructor(flags: Flags) {
    const { shell } = flags;
    const isPlain = flags.isOn('no-color');
    this.#results = shell.stdout;
    this.errors = shell.stderr;
    this.width = shell.stdout.columns ?? DEFAULT_WIDTH;
    this.isTerminal = shell.stdout.isTTY === true;
    this.resultStyle = styleFor(shell.stdout, isPlain, shell.env);
    this.messageStyle = styleFor(shell.stderr, isPlain, shell.env);
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
    const shown = this.isTerminal ? terminalText(line) : line;
    if (!this.#results.write(`${shown}\n`)) await once(this.#results, 'drain');
  }

  /** Prints one line for the user. Line breaks and control characters in it become spaces. */
  message(text: string, colour: Parameters<Style>[0] = null): void {
    this.#progress?.clear();
    writeLine(this.errors, this.messageStyle(colour, plainLine(text)));
  }
}
