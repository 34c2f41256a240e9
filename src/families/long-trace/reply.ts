/** The reply for a long-trace rollout: the score, and the facts of the response. */
import * as z from 'zod';
import { indexSchema } from '../../citations/finding-schema.ts';
import { componentSchema, decidedBy, rewardFields, shareSchema } from '../../family/score.ts';
import { termComponents } from '../../family/term-schemas.ts';

const scoreFields = {
  family: z.literal('long-trace'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'ill_formed']),
  components: z.strictObject({ outcome: componentSchema, rubric: componentSchema, ...termComponents }),
  details: z.strictObject({
    rubric_share: shareSchema.describe("u, not yet divided by the group's maximum."),
    group_max: shareSchema.describe(
      'The largest u of the group; null for a rollout that was scored alone, and where it is unknown.',
    ),
    final: z
      .boolean()
      .describe("false: the recipe divides by the group's maximum, and no group was given; the reward is not final."),
  }),
};

export const longTraceReplySchema = z.strictObject({
  ...scoreFields,
  observed: z.strictObject({
    well_formed: z.boolean(),
    entities: z
      .strictObject({ total: indexSchema, content: indexSchema, reasoning: indexSchema, both: indexSchema })
      .nullable()
      .describe('Number of gold entities, and how many of them occur in each text.'),
    chunks: shareSchema.describe('F-beta (beta 2) of the useful chunks.'),
  }),
});

export type LongTraceScore = z.infer<z.ZodObject<typeof scoreFields>>;
export type LongTraceReply = z.infer<typeof longTraceReplySchema>;
