/** The reply for a tool-call rollout: the score, and the observations of the answer. */
import * as z from 'zod';
import { indexSchema } from '../../citations/finding-schema.ts';
import { componentSchema, decidedBy, rewardFields } from '../../family/score.ts';
import { termComponents } from '../../family/term-schemas.ts';
import { TEST_OUTCOMES } from '../../judgments/kinds/execution/test-outcomes.ts';
import type { ToolCallFacts } from './facts.ts';

const scoreFields = {
  family: z.literal('tool-call'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'no_runnable_block']),
  components: z.strictObject({
    outcome: componentSchema.describe('Mathematics: 1 or -1. Code: the share of tests passed, or -1.'),
    tool_calls: componentSchema.describe('Credit for tool rounds on a wrong answer.'),
    overlong: componentSchema.describe('The overlong penalty, 0 or less.'),
    ...termComponents,
  }),
  details: z.strictObject({ tests_passed: indexSchema.nullable(), tests_total: indexSchema.nullable() }),
};

export const toolCallReplySchema = z.strictObject({
  ...scoreFields,
  observed: z.strictObject({
    num_turns: indexSchema,
    response_tokens: indexSchema,
    math: z
      .strictObject({
        exact: z.boolean().describe('Equal under the strict boxed rules.'),
        equivalent: z.boolean().nullable().describe('Equal as expressions; null = not asked, or the sandbox failed.'),
      })
      .nullable(),
    code: z
      .strictObject({
        runnable: z.boolean().describe('The response contains a program.'),
        tests: z.array(z.enum(TEST_OUTCOMES)).nullable(),
      })
      .nullable(),
  }),
});

/** `tests_passed`, `tests_total`: `null` for mathematics and for a response without a runnable block. */
export type ToolCallScore = z.infer<z.ZodObject<typeof scoreFields>>;
export type ToolCallReply = z.infer<typeof toolCallReplySchema>;

/** The facts as fields of the reply; a missing value is `null`. */
export function observedReply({ outcome, num_turns, response_tokens }: ToolCallFacts): ToolCallReply['observed'] {
  const common = { num_turns, response_tokens };
  if (outcome.kind === 'math') {
    const { exact, equivalent } = outcome;
    return {
      ...common,
      math: { exact, equivalent: equivalent.status === 'scored' ? equivalent.observed : null },
      code: null,
    };
  }
  const { runnable, tests } = outcome;
  return { ...common, math: null, code: { runnable, tests: tests.status === 'scored' ? [...tests.observed] : null } };
}
