/**
 * The refiner family: LLM rubric judge plus citation quality, for research-refiner policies that answer in
 * `<answer>…<snippet id=…>claim</snippet>…</answer>`.
 *
 * Sources of the parameters: the model cards of qwen3-4b-refiner-gpt54-instance-rubric-gpt54-grpo-step50 (citation
 * weight 0.2, verification reward 10.0, gate off, non-stop penalty off, static V3 set, instance-only flag) and of
 * qwen3-4B-refiner-3201-rl-balanced-step100 (answer_only, weight 0.5, verification reward 10.0). What the cards do not
 * state (mix, metric, the value of not-applicable) is our choice, and always a named field; docs/reference/recipes.md marks
 * each.
 */
import * as z from 'zod';
import { CITATION_POLICIES } from '../../citations/citation-policy.ts';
import { GRAMMAR_NAMES } from '../../citations/grammars.ts';
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
import { MAX_SAMPLE_SEED } from '../../limits.ts';
import { pricedReasonSchema } from './facts.ts';

const WEIGHT_MAX = 100;
const REWARD_MAX = 1_000_000;

const leftOutFields = {
  share: z.number().min(0).max(0.9).describe('Share of the criteria that is left out, by their hashes.'),
  seed: z.int().min(0).max(MAX_SAMPLE_SEED).default(0).describe('Another seed leaves out other criteria.'),
};

export const refinerRecipeSchema = z
  .strictObject({
    family: z.literal('refiner'),
    ...judgingFields,
    judge_static: z.boolean().describe('Judge the static V3 set too.'),
    verbatim_gate: z.boolean().describe('A claim that copies whole source sentences is supported without a judge.'),
    answer: z.enum(['first', 'last']).describe('Which closed answer block outside <think> is judged.'),
    grammar: z
      .enum(GRAMMAR_NAMES)
      .describe(
        'How the answer writes its citations; judges read them as snippet tags in every grammar. Absent = snippet.',
      )
      .exactOptional(),
    citations: z
      .enum(CITATION_POLICIES)
      .describe(
        'required: an answer that cites nothing earns 0. forbidden: one that cites earns 0. Absent = allowed: both count.',
      )
      .exactOptional(),
    mode: z.enum(['answer_only', 'full']).describe('Whether text outside the answer block breaks the format.'),
    citation_weight: z.number().min(0).max(WEIGHT_MAX).describe('Weight w of the citation score; at most 1 if convex.'),
    mix: z.enum(['convex', 'additive']).describe('convex: (1-w)*rubric + w*citation. additive: rubric + w*citation.'),
    gate_judge_score_with_format_bonus: z.boolean().describe('Multiply the rubric score by the format bonus (0 or 1).'),
    instance_rubrics_only: z.boolean().describe('Leave the static V3 set out of the mean.'),
    static_weight: z.number().min(0).max(WEIGHT_MAX).describe('Multiplies the weights of the static criteria.'),
    negatives_require_positive: z
      .boolean()
      .default(true)
      .describe('Scales the negative criteria by the positive ones met. A recipe that does not say it has true.'),
    own_positives_required: z
      .boolean()
      .describe(
        "Scales the citation score, the static positive criteria and the avoided negatives by the row's own positive " +
          'criteria met. A row without any counts as met. Absent = false.',
      )
      .exactOptional(),
    padding_lowers_citation: z
      .boolean()
      .describe('Scales the citation score by 1 - padding, the verdict on Off-Query Padding. Absent = false.')
      .exactOptional(),
    abstentions_need_no_citation: z
      .boolean()
      .describe(
        'An answer without citations that only says, in English, that the sources or its writer do not know has the ' +
          "row's own positives met as its citation score. Not for rows without any. Absent = false.",
      )
      .exactOptional(),
    holdout: z
      .strictObject(leftOutFields)
      .describe(
        "Leaves a share of a row's own positive criteria out of the reward, although they are judged; at least one pays. " +
          'Absent = all pay.',
      )
      .exactOptional(),
    dropout: z
      .strictObject(leftOutFields)
      .describe(
        "Leaves out a share of a row's own criteria. All samples of a group at a step of a run share a draw; without step " +
          'and group the question decides. At least one criterion pays. Absent = none.',
      )
      .exactOptional(),
    verification_reward: z.number().positive().max(REWARD_MAX).describe('Scale of the reward.'),
    non_stop_penalty: z
      .strictObject({ enabled: z.boolean(), value: z.number().min(-REWARD_MAX).max(REWARD_MAX) })
      .describe('Replaces the reward when finish_reason is not "stop".'),
    citation_metric: z
      .enum(['answer_f1', 'claim_f1', 'precision_squared'])
      .describe(
        'answer_f1: harmonic mean of recall and precision. claim_f1: mean F1 of the statements, as dr-tulu averages. ' +
          'precision_squared: recall * precision^2, ids that a claim repeats counted; guessing more ids never pays.',
      ),
    uncited_ok: z.enum(['exclude', 'credit']).describe('How an uncited statement that needs no citation counts.'),
    citation_not_applicable: z
      .enum(['zero', 'credit', 'drop'])
      .describe('Citation score of an answer with nothing to cite.'),
    unverified_quote: z.enum(['keep', 'zero']).describe('How the support of a claim with an unverified quote counts.'),
    finding_penalty: z
      .partialRecord(pricedReasonSchema, z.number().min(0).max(REWARD_MAX))
      .describe(
        'Price of each finding of a reason, in reward units: {"id_in_prose": 0.5} takes half a point for each id in the ' +
          'text. The reward falls to 0 at most. Absent = findings cost nothing.',
      )
      .exactOptional(),
    ask_contradiction: z
      .boolean()
      .describe(
        'The judge also says which claims the cited sources contradict, and which words of a claim they lack: another ' +
          'prompt, so other judgment keys. Absent = false.',
      )
      .exactOptional(),
    contradiction: z
      .number()
      .min(1)
      .max(WEIGHT_MAX)
      .describe(
        'A contradicted claim counts as so many unsupported ones in recall. Above 1 it needs ask_contradiction. Absent = 1.',
      )
      .exactOptional(),
    ...judgeOptionsField,
    ...termFields,
    ...voteFields,
  })
  .refine((recipe) => recipe.mix === 'additive' || recipe.citation_weight <= 1, {
    path: ['citation_weight'],
    error: 'at most 1 when mix is "convex"',
  })
  .refine((recipe) => recipe.padding_lowers_citation !== true || recipe.judge_static, {
    path: ['padding_lowers_citation'],
    error: 'needs judge_static: true, because padding is a static criterion; otherwise set it to false',
  })
  .refine((recipe) => recipe.abstentions_need_no_citation !== true || recipe.own_positives_required === true, {
    path: ['abstentions_need_no_citation'],
    error: 'needs own_positives_required: true, or every answer may abstain; otherwise set it to false',
  })
  .refine(({ ask_contradiction, contradiction = 1 }) => contradiction === 1 || ask_contradiction === true, {
    path: ['contradiction'],
    error: 'needs ask_contradiction: true, because only then the judge says which claims are contradicted',
  })
  .refine(hasBatch, NO_BATCH)
  .refine(hasEvidence, NO_EVIDENCE);

export type RefinerRecipe = Readonly<z.infer<typeof refinerRecipeSchema>>;

export const REFINER_FORMULA = [
  'no answer: reward = 0, scored',
  'citations required and the answer has none, or forbidden and it has one: reward = 0, scored',
  'with holdout or dropout, some own criteria are left out of everything below',
  "s'       = s for a positive criterion, 1 - s for a negative one; s = verdict (0, 1, 2) / 2",
  "rubric   = sum(weight * s') / sum(weight), static criteria times static_weight, left out if instance_rubrics_only;",
  "           with negatives_require_positive the negatives' part times the positives' mean",
  "           with own_positives_required the static positives' part times own, and, if the row has positives, the",
  "           negatives' part times own instead",
  "own      = sum(weight * s) / sum(weight) of the row's positive criteria; 1 if it has none",
  'citation = answer_f1: 2 * recall * precision / (recall + precision); claim_f1: mean F1 of the statements;',
  '           precision_squared: recall * precision * precision, with repeated ids among the citations;',
  '           with own_positives_required times own; with padding_lowers_citation times (1 - padding)',
  '           with abstentions_need_no_citation it is own where the answer cites nothing and only abstains, which is',
  '           then no fault under citations required; not in rows without own positives',
  'recall   = mean support of the statements; precision = share of the citations that are relevant;',
  '           with contradiction a contradicted claim counts so many times among the statements',
  'padding  = verdict on Off-Query Padding (0, 1, 2) / 2',
  "rubric'  = rubric * format (0 or 1) if gate_judge_score_with_format_bonus, else rubric",
  "base     = (1 - citation_weight) * rubric' + citation_weight * citation    if mix is convex",
  "         = rubric' + citation_weight * citation                            if mix is additive",
  'reward   = verification_reward * base',
  '         = max(verification_reward * base - sum(price * findings), 0) with finding_penalty',
  '         = non_stop_penalty.value if enabled and finish_reason is not "stop", whatever came before',
  ...TERM_FORMULA,
  ...VOTE_FORMULA,
] as const;
