/** Schemas of the length and turn terms (terms.ts): the fields of recipes, of facts and of scores. */
import * as z from 'zod';
import { countSchema } from './facts.ts';
import { componentSchema } from './score.ts';

const MAX_TOKENS = 16_777_216;
const MAX_TURNS = 1_000_000;
const MAX_PENALTY = 1_000_000;

/** The optional fields of every recipe; absent = off, so that a recipe without a term keeps its digest. */
export const termFields = {
  length: z
    .strictObject({
      count: z
        .enum(['given', 'estimated'])
        .describe(
          'given: requires response_tokens. estimated: where it is absent, an upper estimate of the text counts, tool ' +
            'output included.',
        ),
      max_response_tokens: z.int().min(1).max(MAX_TOKENS),
      buffer_tokens: z.int().min(1).max(MAX_TOKENS),
      factor: z.number().min(0).max(MAX_PENALTY).describe('Size of the full penalty, in reward units.'),
    })
    .refine(({ max_response_tokens, buffer_tokens }) => buffer_tokens <= max_response_tokens, {
      path: ['buffer_tokens'],
      error: 'at most max_response_tokens',
    })
    .describe(
      'Soft overlong punishment of DAPO, added to the reward: 0 up to max_response_tokens - buffer_tokens, then linear ' +
        'to -factor at max_response_tokens, and -factor beyond. Absent = off.',
    )
    .exactOptional(),
  turns: z
    .strictObject({
      free_turns: z.int().min(0).max(MAX_TURNS),
      cost_per_turn: z.number().min(0).max(MAX_PENALTY).describe('In reward units.'),
    })
    .describe(
      'Cost of the turns of the policy (num_turns / 2, rounded down) beyond free_turns, subtracted from the reward. ' +
        'Absent = off.',
    )
    .exactOptional(),
};

/** The optional facts that the terms read. */
export const countFields = {
  // Tokens of the response as the trainer counts them, tool output included.
  response_tokens: countSchema.exactOptional(),
  // Upper estimate of the same; only if the trainer gave no count and the recipe asks for an estimate.
  estimated_tokens: countSchema.exactOptional(),
  // User turns + assistant turns + 1.
  num_turns: countSchema.exactOptional(),
};

/** The components of the terms; present if the recipe has them. */
export const termComponents = {
  length: componentSchema.exactOptional().describe('The penalty of the length term, 0 or less.'),
  turns: componentSchema.exactOptional().describe('The cost of the turns term, 0 or less.'),
};
