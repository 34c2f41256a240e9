/** Exit codes, and the expected errors that end a command with one of them. */

export const EXIT_OK = 0;

/** Some lines are invalid or not scored; the others are done. */
export const EXIT_INCOMPLETE = 1;

/** A run has an alert, a probe warns of the recipe, or a rubric has a finding. */
export const EXIT_ALERT = 3;

/** A judge is below the minimum that the command line demands. */
export const EXIT_BELOW_MINIMUM = 4;

/** The command line is wrong; nothing was done. */
export const EXIT_USAGE = 2;

/** An expected error: the command line prints its message and hint, without a stack. */
export class CommandError extends Error {
  readonly exitCode: number;
  /** Says what to do about the error. */
  readonly hint: string | null;

  constructor(exitCode: number, message: string, hint: string | null) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The command line is wrong: exit code 2. */
export class UsageError extends CommandError {
  constructor(message: string, hint: string | null = null) {
    super(EXIT_USAGE, message, hint);
  }
}

/** The command cannot go on, although the command line is right: exit code 1. */
export class RunError extends CommandError {
  constructor(message: string, hint: string | null = null) {
    super(EXIT_INCOMPLETE, message, hint);
  }
}
