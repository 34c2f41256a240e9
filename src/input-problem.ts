/** Something wrong with an input, at a field of the request; the caller's to mend (HTTP 422). */
export type InputProblem = {
  /** Field names and positions from the request down. */
  readonly path: readonly (string | number)[];
  /** What was expected, without repeating the input. */
  readonly message: string;
};
