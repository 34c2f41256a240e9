/**
 * An evaluator for LangSmith and openevals. Contract: openevals 0.2.2, `SimpleEvaluator`; its scores have no null, so an
 * unscored example is an exception, which LangSmith records as a failed evaluator.
 */
import { DEFAULT_NAME, type EvaluationOptions, evaluated, rowOf, UnscoredError } from './evaluation.ts';

/** One example, as LangSmith gives it to an evaluator. */
export type LangSmithExample = {
  /** The question, or the fields of a rollout. */
  readonly inputs?: unknown;
  /** The answer: a text, or an object with `messages`, `response`, `answer` or `output`. */
  readonly outputs?: unknown;
  /** The fields of a rollout. */
  readonly referenceOutputs?: unknown;
  readonly reference_outputs?: unknown;
};

/** A result as LangSmith and openevals read it. */
export type LangSmithResult = {
  readonly key: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly comment: string;
  readonly metadata: Record<string, unknown>;
};

/**
 * Makes an evaluator. @throws UnscoredError for an example that could not be scored.
 *
 * @example
 * ```ts
 * import { createClient, langSmithEvaluator } from 'citeward/client';
 *
 * const client = createClient({ url: new URL('http://127.0.0.1:8799'), key: null });
 * const evaluators = [langSmithEvaluator({ client, recipe: 'refiner-guarded' })]; // for evaluate()
 * ```
 */
export function langSmithEvaluator(
  options: EvaluationOptions,
): (example: LangSmithExample) => Promise<LangSmithResult> {
  const { name = DEFAULT_NAME } = options;
  return async ({ inputs, outputs, referenceOutputs, reference_outputs }) => {
    const question = typeof inputs === 'string' ? { question: inputs } : inputs;
    const row = rowOf([question, referenceOutputs, reference_outputs]);
    const result = await evaluated(outputs, row, options);
    if (result.score === null) throw new UnscoredError(result.reason);
    const { reward, components, contributions } = result.report;
    const parts = Object.entries(components).map(([part, value]) => `${part} ${value ?? 'not measured'}`);
    const comment = `reward ${reward}: ${parts.join(', ')}`;
    return { key: name, score: result.score, comment, metadata: { reward, components, contributions } };
  };
}
