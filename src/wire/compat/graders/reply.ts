/** The reply of OpenAI's `graders/run`. */
import type * as z from 'zod';
import type { graderReplySchema } from './described.ts';
import type { Grader } from './schema.ts';

const NO_ERRORS = {
  formula_parse_error: false,
  invalid_variable_error: false,
  model_grader_parse_error: false,
  model_grader_refusal_error: false,
  model_grader_server_error: false,
  model_grader_server_error_details: null,
  other_error: false,
  python_grader_runtime_error: false,
  python_grader_runtime_error_details: null,
  python_grader_server_error: false,
  python_grader_server_error_type: null,
  sample_parse_error: false,
  truncated_observation_error: false,
  unresponsive_reward_error: false,
} as const;

/** @param execution_time seconds. */
export function graderReply(
  { type, name }: Grader,
  graded: { readonly reward: number; readonly scores: ReadonlyMap<string, number> },
  execution_time: number,
): z.infer<typeof graderReplySchema> {
  const scores = Object.fromEntries(graded.scores);
  return {
    reward: graded.reward,
    sub_rewards: type === 'multi' ? scores : {},
    model_grader_token_usage_per_model: {},
    metadata: {
      ...{ name, type, execution_time, sampled_model_name: null, scores, token_usage: null },
      errors: NO_ERRORS,
    },
  };
}
