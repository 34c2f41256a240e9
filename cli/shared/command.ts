/** The types that describe a command: dispatch.ts finds and runs it, help.ts prints it. */
import type { FlagDescription, Flags } from './flags.ts';

/** How a command is written, and its help text. */
export type CommandSyntax = {
  /** Usage lines, without the leading `npx citeward`. */
  readonly usage: readonly string[];
  /** What a line of `--json` is, in Markdown, with the name of its schema; absent = the command has no `--json`. */
  readonly json?: string;
  readonly flags: readonly FlagDescription[];
  /** Paragraphs below the flags, already broken into lines. */
  readonly details: readonly string[];
};

export type Command = CommandSyntax & {
  /** Runs the command and returns the exit code. */
  readonly run: (flags: Flags) => Promise<number>;
};

/**
 * A command in the list of commands. Its code is loaded when it is needed, so that `citeward --help` starts quickly.
 */
export type CommandEntry = {
  /** With the name of its group, if it has one: `batch submit`. */
  readonly name: string;
  /** One line for `citeward --help`. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
};

/** Commands that belong together: `citeward batch submit`, `citeward batch wait`, … */
export type CommandGroup = {
  readonly name: string;
  /** One line for `citeward --help`. */
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
  /** Paragraphs below the list of commands, already broken into lines. */
  readonly details: readonly string[];
};
