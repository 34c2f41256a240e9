/** The facts of a tool-call rollout. */
import * as z from 'zod';
import { countSchema, type Observed, observedSchema } from '../../family/facts.ts';
import { TEST_OUTCOMES, type TestOutcome } from '../../judgments/kinds/execution/test-outcomes.ts';

/** What the answer is worth before turns and length count. */
export type ToolCallOutcomeFact =
  | {
      readonly kind: 'math';
      /** The last boxed answer equals the reference under the strict rules. */
      readonly exact: boolean;
      /** Equal as expressions; asked only if `exact` is false and the recipe compares expressions. */
      readonly equivalent: Observed<boolean>;
    }
  /** `runnable`: the response contains a program. */
  | { readonly kind: 'code'; readonly runnable: boolean; readonly tests: Observed<readonly TestOutcome[]> };

export type ToolCallFacts = {
  readonly v: 1;
  readonly family: 'tool-call';
  readonly outcome: ToolCallOutcomeFact;
  readonly num_turns: number;
  readonly response_tokens: number;
};

export const toolCallFactsSchema = z.strictObject({
  v: z.literal(1),
  family: z.literal('tool-call'),
  outcome: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('math'), exact: z.boolean(), equivalent: observedSchema(z.boolean()) }),
    z.strictObject({
      kind: z.literal('code'),
      runnable: z.boolean(),
      tests: observedSchema(z.array(z.enum(TEST_OUTCOMES)).min(1)),
    }),
  ]),
  num_turns: countSchema,
  response_tokens: countSchema,
});
