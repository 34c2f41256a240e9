/** What a command of the command line is. main.ts dispatches; help.ts and the flag reader work from the same description. */
import type { Flags } from './arguments/flags.ts';

export type FlagDescription = {
  readonly name: string;
  /** `switch` takes no value; `text` takes one, the last wins by refusal of the second; `list` may be repeated. */
  readonly kind: 'switch' | 'text' | 'list';
  /** What stands for the value in the help text. */
  readonly value?: string;
  readonly help: string;
};

export type Command = {
  readonly name: string;
  /** One line for `citeward --help`. */
  readonly summary: string;
  /** Usage lines, without the leading `citeward`. */
  readonly usage: readonly string[];
  readonly flags: readonly FlagDescription[];
  /** Paragraphs below the flags, already broken into lines. */
  readonly details: readonly string[];
  /** Runs the command and returns the exit code. */
  readonly run: (flags: Flags) => Promise<number>;
};

/** Commands that belong together: `citeward batch submit`, `citeward batch wait`, … */
export type CommandGroup = {
  readonly name: string;
  /** One line for `citeward --help`. */
  readonly summary: string;
  /** Each with the group's name before its own: `batch submit`. */
  readonly commands: readonly Command[];
  /** Paragraphs below the list of commands, already broken into lines. */
  readonly details: readonly string[];
};

export const EXIT_OK = 0;
/** Some lines were bad or could not be scored; the rest was done. */
export const EXIT_INCOMPLETE = 1;
/** The command line itself is wrong; nothing was done. */
export const EXIT_USAGE = 2;

/** The command line is wrong: exit 2. `hint` says what to do about it. */
export class UsageError extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
  }
}

/** The run cannot go on, through no fault of the command line or of one line of input: exit 1. */
export class RunError extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = 'RunError';
    this.hint = hint;
  }
}
