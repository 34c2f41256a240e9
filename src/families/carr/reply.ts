/** The reply for a carr rollout: the score, and for each criterion why it counts or not. */
import * as z from 'zod';
import { indexSchema } from '../../citations/finding-schema.ts';
import { componentSchema, decidedBy, rewardFields, shareSchema } from '../../family/score.ts';
import { termComponents } from '../../family/term-schemas.ts';

const scoreFields = {
  family: z.literal('carr'),
  ...rewardFields,
  decided_by: decidedBy(['components', 'ill_formed']),
  components: z.strictObject({ outcome: componentSchema, rubric: componentSchema, ...termComponents }),
  details: z.strictObject({
    rubric_share: shareSchema.describe(
      "u, not yet divided by the group's maximum; null = unknown, or of weight 0 in the recipe.",
    ),
    group_max: shareSchema.describe(
      'The largest u of the group; null for a rollout that was scored alone, where it is unknown, and where u is not ' +
        'divided.',
    ),
    final: z
      .boolean()
      .describe("false: the recipe divides by the group's maximum, and no group was given; the reward is not final."),
  }),
};

const CRITERION_FAILURES = ['not_named', 'not_cited', 'not_supported', 'not_connected'] as const;

const criterionSchema = z.strictObject({
  criterion: z.string().describe('As the row has it, with its labels.'),
  statement: z
    .string()
    .nullable()
    .describe('With the names of the answer in place of the labels; null = not all are named.'),
  labels: z.array(z.string()),
  counts: z.boolean().nullable().describe('Supported and, in a recipe with `connected`, connected; null = unknown.'),
  failed: z
    .enum(CRITERION_FAILURES)
    .nullable()
    .describe(
      'Why the criterion does not count: the answer does not name every label; cites no page that was seen; the pages do ' +
        'not support the statement; no chain of supported criteria connects it to <E0>. null = it counts, or is unknown.',
    ),
});

export const carrReplySchema = z.strictObject({
  ...scoreFields,
  entity_rubrics: z.array(criterionSchema),
  names: z
    .record(z.string(), z.string().nullable())
    .nullable()
    .describe(
      'What the answer calls each label; null = it does not name it. null in place of all: unknown, or not asked.',
    ),
  citations: z.strictObject({
    cited: indexSchema.describe('Distinct addresses that the answer cites.'),
    pages: indexSchema.describe('Cited pages that the trajectory saw, and that the judge sees; at most 20.'),
    unseen: z.array(z.string()).describe('Cited addresses that the trajectory never saw, at most 20.'),
  }),
});

export type CarrScore = z.infer<z.ZodObject<typeof scoreFields>>;
export type CarrReply = z.infer<typeof carrReplySchema>;
