/**
 * The dr-tulu family: rubric, citation, format and search turns. The refiners' trainer derives from its code.
 *
 * Source: rlresearch/dr-tulu 6188f34c, `rl/open-instruct/open_instruct/search_rewards/longform_rubric_rewards.py` and
 * `utils/`. `compat: "exact"` reproduces the numbers of that code, its defects included; `"corrected"` fixes the
 * defects. origin.ts gives the source of each parameter.
 */
import * as z from 'zod';
import {
  hasBatch,
  hasEvidence,
  judgeOptionsField,
  judgingFields,
  NO_BATCH,
  NO_EVIDENCE,
} from '../../family/judging-schemas.ts';
import { termFields } from '../../family/term-schemas.ts';
import { TERM_FORMULA } from '../../family/terms.ts';
import { voteFields } from '../../family/vote-schemas.ts';
import { VOTE_FORMULA } from '../../family/votes.ts';

const WEIGHT_MAX = 100;
const REWARD_MAX = 1_000_000;
const MAX_TURNS_BOUND = 1_000;

const weight = z.number().min(0).max(WEIGHT_MAX);

export const drTuluRecipeSchema = z
  .strictObject({
    family: z.literal('dr-tulu'),
    compat: z.enum(['corrected', 'exact']).describe("exact: the public code's numbers, its defects included."),
    call_form: z
      .enum(['search', 'unified', 'v20250824'])
      .describe(
        'How the transcript writes its tool calls (--mcp_parser_name): <search>, <tool name=…>, <call_tool name=…>.',
      ),
    ...judgingFields,
    rubric_weight: weight.describe('Weight of the rubric term.'),
    citation_weight: weight.describe('Weight of the citation term; 0 = citations are not judged.'),
    format_weight: weight.describe("Weight of dr-tulu's own format term."),
    search_turns_weight: weight.describe('Weight of the search-turns term.'),
    search_turns_bound: z
      .int()
      .min(1)
      .max(MAX_TURNS_BOUND)
      .describe('Number of search queries that earns the whole term.'),
    verification_reward: z.number().positive().max(REWARD_MAX).describe('Scale of the reward.'),
    non_stop_penalty: z
      .strictObject({ enabled: z.boolean(), value: z.number().min(-REWARD_MAX).max(REWARD_MAX) })
      .describe('Replaces the reward when finish_reason is not "stop".'),
    unverified_quote: z
      .enum(['keep', 'zero'])
      .describe('How the support of a claim with an unverified quote counts. Absent = keep; quotes are not recorded.')
      .exactOptional(),
    ...judgeOptionsField,
    ...termFields,
    ...voteFields,
  })
  .refine(hasBatch, NO_BATCH)
  .refine(hasEvidence, NO_EVIDENCE);

export type DrTuluRecipe = Readonly<z.infer<typeof drTuluRecipeSchema>>;

export const DR_TULU_FORMULA = [
  'rubric       = sum(s * w) / max(sum of the positive w, 1), s = verdict (0, 1, 2) / 2; w may be negative, unclamped',
  'citation     = 0.6 * mean F1 of the claims + 0.4 * share of the distinct cited ids that exist',
  'format       = 0.5 if there is an answer + 0.3 if a citation + 0.2 if a tool call',
  'search_turns = min(search queries / search_turns_bound, 1)',
  'no answer: rubric = citation = 0; format is still paid, and search turns too (compat exact: lost)',
  'base         = rubric_weight * rubric + citation_weight * citation + format_weight * format',
  '               + search_turns_weight * search_turns',
  'reward       = verification_reward * base',
  '             = non_stop_penalty.value if enabled and finish_reason is not "stop", whatever came before',
  ...TERM_FORMULA,
  ...VOTE_FORMULA,
] as const;
