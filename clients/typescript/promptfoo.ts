/**
 * An assertion for promptfoo (`type: javascript`, `value: file://…`). Contract: promptfoo, `src/assertions/javascript.ts`:
 * a function of the output and its context that returns a grading result. promptfoo has no value for "not scored":
 * it counts an answer as an error where the file throws, and as failed where a function in a configuration throws.
 */
import { DEFAULT_NAME, type EvaluationOptions, evaluated, rowOf, UnscoredError } from './evaluation.ts';

/** What promptfoo gives to an assertion beside the output, as far as it is read. */
export type PromptfooContext = {
  readonly prompt?: unknown;
  /** The variables of the test: the fields of a rollout. */
  readonly vars?: Readonly<Record<string, unknown>>;
};

/** A grading result as promptfoo reads it. */
export type PromptfooResult = {
  readonly pass: boolean;
  /** From 0 to 1. */
  readonly score: number;
  readonly reason: string;
  readonly namedScores: Readonly<Record<string, number>>;
};

/** @property threshold the score from which an answer passes. Default 0.5. */
export type PromptfooOptions = EvaluationOptions & { readonly threshold?: number };

/**
 * Makes an assertion. @throws UnscoredError for an answer that could not be scored; its message says that this is no
 * score of 0.
 *
 * @example
 * ```ts
 * // citeward.mjs, and in promptfooconfig.yaml: {type: javascript, value: file://citeward.mjs}
 * import { createClient, promptfooAssertion } from 'citeward/client';
 *
 * const client = createClient({ url: new URL('http://127.0.0.1:8799'), key: null });
 * export default promptfooAssertion({ client, recipe: 'refiner-guarded', threshold: 0.7 });
 * ```
 */
export function promptfooAssertion(
  options: PromptfooOptions,
): (output: unknown, context?: PromptfooContext) => Promise<PromptfooResult> {
  const { name = DEFAULT_NAME, threshold = 0.5 } = options;
  return async (output, { prompt, vars = {} } = {}) => {
    const asked = typeof prompt === 'string' ? { question: prompt } : {};
    const result = await evaluated(output, rowOf([asked, parsed(vars)]), options);
    if (result.score === null) throw new UnscoredError(result.reason);
    const { score, report } = result;
    const named = Object.entries(report.components).flatMap(([part, value]) =>
      value === null ? [] : [[`${name} ${part}`, value] as const],
    );
    const reason = `reward ${report.reward}, ${score >= threshold ? 'at least' : 'below'} the threshold of ${threshold}`;
    return { pass: score >= threshold, score, reason, namedScores: Object.fromEntries(named) };
  };
}

/** promptfoo makes lists in `vars` into several tests, so lists and objects may be JSON text. */
function parsed(vars: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [name, typeof value === 'string' ? parsedList(value) : value]),
  );
}

function parsedList(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
