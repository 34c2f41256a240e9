/** Reads the counts of a rollout that the length and turn terms use (terms.ts), and requires those of the recipe. */
import type { InputProblem } from '../input-problem.ts';
import { estimateTokens } from '../judgments/protocol/token-estimate.ts';
import { trajectoryOf } from '../trajectory/rollout-messages.ts';
import type { Rollout } from './rollout.ts';
import type { Counts, Terms } from './terms.ts';

/** The counts of a rollout, as facts. They are estimated only if the recipe says so, because that reads the text. */
export function countsOf(rollout: Rollout, { length }: Terms): Counts {
  const { response_tokens, num_turns } = rollout;
  return {
    ...(response_tokens !== undefined
      ? { response_tokens }
      : length?.count === 'estimated'
        ? { estimated_tokens: estimatedTokens(rollout) }
        : {}),
    ...(num_turns === undefined ? {} : { num_turns }),
  };
}

/** One problem for each count that a term of the recipe reads and the rollout lacks. */
export function countProblems({ response_tokens, num_turns }: Rollout, { length, turns }: Terms): InputProblem[] {
  const problems: InputProblem[] = [];
  if (length?.count === 'given' && response_tokens === undefined) {
    const message =
      "required by the recipe's length term: give the tokens of the response, tool output included, or set length.count " +
      'to "estimated"';
    problems.push({ path: ['response_tokens'], message });
  }
  if (turns !== undefined && num_turns === undefined) {
    const message =
      "required by the recipe's turns term: give user turns + assistant turns + 1, or the conversation as messages";
    problems.push({ path: ['num_turns'], message });
  }
  return problems;
}

/** Upper estimate of the tokens from the policy's first turn on, with what it thought, called and received. */
function estimatedTokens(rollout: Rollout): number {
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) {
    const { response, reasoning } = rollout;
    return estimateTokens(response) + (reasoning === undefined ? 0 : estimateTokens(reasoning));
  }
  const { turns } = trajectory;
  const first = turns.findIndex(({ by_policy }) => by_policy);
  return turns.slice(first === -1 ? turns.length : first).reduce((sum, { text, thinking, calls, results }) => {
    const texts = [
      text?.text,
      thinking?.text,
      ...calls.flatMap(({ name, arguments_text }) => [name, arguments_text]),
      ...results.map(({ output }) => output.text),
    ];
    return texts.reduce((tokens, one) => (one === undefined ? tokens : tokens + estimateTokens(one)), sum);
  }, 0);
}
