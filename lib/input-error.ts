/** The error of the library's entry points for wrong input. */
import { type InputProblem, pathText } from '../src/input-problem.ts';

/**
 * The caller's input is wrong. `problems` names each field and what was expected; a value is never repeated.
 *
 * @example
 * ```ts
 * import { createScorer, InputError, lexicalJudge } from 'citeward';
 *
 * const scorer = createScorer({ judge: lexicalJudge });
 * try {
 *   await scorer.score({ response: '<answer>No question.</answer>', sources: [] }, 'refiner-guarded');
 * } catch (error) {
 *   if (!(error instanceof InputError)) throw error;
 *   console.log(error.problems);   // [{ path: ['question'], message: 'required by the recipe' }, …]
 * }
 * ```
 */
export class InputError extends Error {
  override readonly name = 'InputError' as const;
  readonly problems: readonly InputProblem[];

  constructor(problems: readonly InputProblem[]) {
    super(problems.map(({ path, message }) => `${pathText(path)}: ${message}`).join('; '));
    this.problems = problems;
  }
}
