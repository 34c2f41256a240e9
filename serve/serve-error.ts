/** The server cannot start. */
export class ServeError extends Error {
  /** Says what to do about the error. */
  readonly hint: string | null;

  constructor(message: string, hint: string | null) {
    super(message);
    this.name = 'ServeError';
    this.hint = hint;
  }
}
