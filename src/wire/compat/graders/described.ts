/** Graders' requests, replies and errors for the API description and tests, beside what the Worker itself loads. */
import * as z from 'zod';
import { multiSchemaOf, runFields, SINGLE, singleSchema } from './schema.ts';

const described = z.union([...SINGLE, multiSchemaOf(singleSchema)]);

/** The same for the API description, which cannot express the refusals. */
export const describedRunSchema = z.strictObject({ grader: described, ...runFields });
export const describedValidateSchema = z.strictObject({ grader: described });

const flag = z.literal(false);

export const graderReplySchema = z.strictObject({
  reward: z.number(),
  sub_rewards: z.record(z.string(), z.number()).describe('The scores of a multi grader, by name.'),
  model_grader_token_usage_per_model: z
    .record(z.string(), z.unknown())
    .describe('Empty: judgments may be stored ones.'),
  metadata: z.strictObject({
    name: z.string(),
    type: z.string(),
    execution_time: z.number().min(0).describe('Seconds.'),
    sampled_model_name: z.null(),
    scores: z.record(z.string(), z.number()),
    token_usage: z.null(),
    errors: z
      .strictObject({
        formula_parse_error: flag,
        invalid_variable_error: flag,
        model_grader_parse_error: flag,
        model_grader_refusal_error: flag,
        model_grader_server_error: flag,
        model_grader_server_error_details: z.null(),
        other_error: flag,
        python_grader_runtime_error: flag,
        python_grader_runtime_error_details: z.null(),
        python_grader_server_error: flag,
        python_grader_server_error_type: z.null(),
        sample_parse_error: flag,
        truncated_observation_error: flag,
        unresponsive_reward_error: flag,
      })
      .describe('Never set: an error is an error status, because a reward would stand beside it.'),
  }),
});

export const graderValidReplySchema = z.strictObject({ grader: described });

export const openAiErrorSchema = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: z.enum(['server_error', 'invalid_request_error']),
    param: z.string().nullable(),
    code: z.string().describe('The reason as in Problem.'),
  }),
});
