/**
 * A scorer for Braintrust and autoevals. Contract: autoevals 0.3.0, `Scorer`; a score of `null` is left out of averages.
 */
import { DEFAULT_NAME, type EvaluationOptions, evaluated, rowOf } from './evaluation.ts';

/** One example, as Braintrust gives it to a scorer. */
export type BraintrustExample = {
  /** The question, or the fields of a rollout. */
  readonly input?: unknown;
  /** The answer: a text, or an object with `messages` or `response`. */
  readonly output: unknown;
  /** The fields of a rollout. A text is passed over: criteria decide. */
  readonly expected?: unknown;
  readonly metadata?: unknown;
};

/** A score as Braintrust reads it. */
export type BraintrustScore = {
  readonly name: string;
  /** From 0 to 1; `null` = not scored. */
  readonly score: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/**
 * Makes a scorer. Unscored examples have the score `null` and the reason in their metadata.
 *
 * @example
 * ```ts
 * import { braintrustScorer, createClient } from 'citeward/client';
 *
 * const client = createClient({ url: new URL('http://127.0.0.1:8799'), key: null });
 * const scores = [braintrustScorer({ client, recipe: 'refiner-guarded' })]; // Eval('answers', { data, task, scores })
 * ```
 */
export function braintrustScorer(options: EvaluationOptions): (example: BraintrustExample) => Promise<BraintrustScore> {
  const { name = DEFAULT_NAME } = options;
  const scorer = async ({ input, output, expected, metadata }: BraintrustExample): Promise<BraintrustScore> => {
    const question = typeof input === 'string' ? { question: input } : input;
    const result = await evaluated(output, rowOf([question, expected, metadata]), options);
    if (result.score === null) return { name, score: null, metadata: { unscored_reason: result.reason } };
    const { reward, components, contributions } = result.report;
    return { name, score: result.score, metadata: { reward, components, contributions } };
  };
  // Braintrust names a scorer by its function where it fails.
  return Object.defineProperty(scorer, 'name', { value: name });
}
