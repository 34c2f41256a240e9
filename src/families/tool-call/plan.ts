/**
 * Plans the judgment of a tool-call rollout: finds the boxed answer or the program, and the questions to the sandbox.
 */
import { citedAnswerProblems, missingFields } from '../../family/requirements.ts';
import type { Rollout } from '../../family/rollout.ts';
import type { InputProblem } from '../../input-problem.ts';
import type { EquivalenceRequest } from '../../judgments/kinds/equivalence/equivalence.ts';
import type { ExecutionRequest } from '../../judgments/kinds/execution/execution.ts';
import { MAX_TEST_SECONDS } from '../../limits.ts';
import type { Result } from '../../result.ts';
import { lastBoxedAnswer, scoreBoxedAnswer } from '../../tools/math-answer.ts';
import { respelled } from '../../tools/math-spelling.ts';
import { runnableBlock } from '../../tools/runnable-block.ts';
import { trajectoryOf } from '../../trajectory/rollout-messages.ts';
import { type TranscriptStyle, writeTranscript } from '../../trajectory/transcript.ts';
import type { ToolCallRecipe } from './recipe.ts';

export type ToolCallPlan = {
  readonly num_turns: number;
  readonly response_tokens: number;
  readonly outcome:
    | {
        readonly kind: 'math';
        readonly exact: boolean;
        /** `settled`: equal by the strict rules, or the response has no box. */
        readonly equivalence: EquivalenceRequest | 'settled' | 'not_needed';
      }
    | { readonly kind: 'code'; readonly execution: ExecutionRequest | 'no_program' };
};

/**
 * @param measureAll ask the sandbox even if the recipe applies only the strict rules.
 */
export function planToolCall(
  rollout: Rollout,
  recipe: ToolCallRecipe,
  measureAll: boolean,
): Result<ToolCallPlan, readonly InputProblem[]> {
  const { reference, tests, num_turns, response_tokens } = rollout;
  const problems = [
    ...missingFields(rollout, ['num_turns', 'response_tokens'], 'tool-call'),
    ...citedAnswerProblems(rollout, 'tool-call'),
  ];
  if ((reference === undefined) === (tests === undefined)) {
    const message = 'give exactly one of reference (mathematics) and tests (code)';
    problems.push({ path: [reference === undefined ? 'reference' : 'tests'], message });
  }
  problems.push(...testTimeProblems(tests, recipe));
  if (problems.length > 0 || num_turns === undefined || response_tokens === undefined) {
    return { ok: false, error: problems };
  }
  const response = solutionOf(rollout);
  const outcome =
    tests === undefined
      ? mathOf(response, reference ?? '', recipe, measureAll)
      : { kind: 'code' as const, execution: executionOf(response, tests, recipe) };
  return { ok: true, value: { num_turns, response_tokens, outcome } };
}

/**
 * The text that verl would pass to the reward function: all turns. Boxes and programs of tools and users do not count.
 */
function solutionOf(rollout: Rollout): string {
  const trajectory = trajectoryOf(rollout);
  return trajectory === null ? rollout.response : writeTranscript(trajectory, SOLUTION).text;
}

const SOLUTION: TranscriptStyle = {
  call: ({ name, arguments_text }) => ({
    open: '<tool_call>\n',
    query: `{"name": ${JSON.stringify(name)}, "arguments": ${arguments_text}}`,
    close: '\n</tool_call>',
  }),
  result: { open: '<tool_response>\n', close: '\n</tool_response>' },
  policyMarkup: { tags: ['think'], texts: ['\\boxed{', '```'] },
  sourceMarkup: { tags: [], texts: [] },
};

function testTimeProblems(tests: Rollout['tests'], { time_limit_s }: ToolCallRecipe): InputProblem[] {
  const seconds = (tests?.length ?? 0) * time_limit_s;
  if (seconds <= MAX_TEST_SECONDS) return [];
  const message = `expected tests times time_limit_s of at most ${MAX_TEST_SECONDS} s, got ${seconds}: lower the recipe's time_limit_s`;
  return [{ path: ['tests'], message }];
}

function mathOf(
  response: string,
  reference: string,
  recipe: ToolCallRecipe,
  measureAll: boolean,
): Extract<ToolCallPlan['outcome'], { kind: 'math' }> {
  const exact = scoreBoxedAnswer(response, reference).correct;
  const answer = lastBoxedAnswer(response);
  // An exact match needs no comparison; without a box there is nothing to compare.
  if (exact || answer === null) return { kind: 'math', exact, equivalence: 'settled' };
  const wanted = measureAll || recipe.math_equivalence === 'symbolic';
  return {
    kind: 'math',
    exact,
    equivalence: wanted ? { kind: 'equivalence', ...respelled({ answer, reference }) } : 'not_needed',
  };
}

function executionOf(
  response: string,
  tests: NonNullable<Rollout['tests']>,
  { time_limit_s, memory_limit_mb }: ToolCallRecipe,
): ExecutionRequest | 'no_program' {
  const program = runnableBlock(response);
  if (program === null) return 'no_program';
  return { kind: 'execution', language: 'python', program, tests, time_limit_s, memory_limit_mb };
}
