/**
 * Origins of the dr-tulu recipes, from whose code the refiners' trainer derives. No model card describes them: each
 * parameter comes from the public code, or is our choice where a recipe departs from the code.
 */
import { codeOf, ours, type ParameterOrigins, type RecipeOrigin } from '../../family/provenance.ts';
import type { DR_TULU_RECIPES } from './composer.ts';
import type { DrTuluRecipe } from './recipe.ts';

const code = codeOf('rlresearch/dr-tulu', '6188f34c');

const SCRIPT = 'rl/open-instruct/train_dr_tulu.sh';
const TRAINER = 'rl/open-instruct/open_instruct/grpo_fast.py';
const REWARDS = 'rl/open-instruct/open_instruct/search_rewards/longform_rubric_rewards.py';
const SEARCH_TURNS = 'rl/open-instruct/open_instruct/search_rewards/utils/search_utils.py';

const WITH_CITATION = code(REWARDS, 'REWARD_WEIGHTS');
const WITHOUT_CITATION = code(REWARDS, 'REWARD_WEIGHTS_WITHOUT_CITATION, with no_citation_reward');

const DR_TULU = {
  compat: ours('the defects of the public code are not part of the intended reward'),
  call_form: code(SCRIPT, '--mcp_parser_name v20250824'),
  judging: code(REWARDS, 'one judge call for each rubric'),
  rubric_weight: WITH_CITATION,
  citation_weight: WITH_CITATION,
  format_weight: WITH_CITATION,
  search_turns_weight: WITH_CITATION,
  search_turns_bound: code(SEARCH_TURNS, 'upper_bound = 3'),
  verification_reward: code(TRAINER, 'default 10.0; the script does not pass --verification_reward'),
  non_stop_penalty: {
    enabled: code(SCRIPT, '--non_stop_penalty False'),
    value: code(SCRIPT, '--non_stop_penalty_value 0.0'),
  },
} as const satisfies ParameterOrigins<DrTuluRecipe>;

export const DR_TULU_ORIGINS = {
  'dr-tulu': {
    model: null,
    summary: 'Rubric, citation, format and search turns, with the defects of the public code corrected.',
    not_said: null,
    training: {},
    parameters: DR_TULU,
  },
  'dr-tulu-exact': {
    model: 'rl-research/DR-Tulu-8B',
    summary: 'As dr-tulu, with the numbers of the public code, including its defects.',
    not_said:
      'a model card. The script trains with adaptive rubrics, which change during the run: requests must contain them. ' +
      'The script also mentions a run without citations after 650 steps (dr-tulu-no-citation)',
    training: {
      algorithm: { value: 'GRPO', ...code(SCRIPT) },
      trainer: { value: 'grpo_fast.py (open-instruct)', ...code(SCRIPT) },
      base_model: { value: 'rl-research/DR-Tulu-SFT-8B', ...codeOf('rlresearch/dr-tulu', '701b6bdc')(SCRIPT) },
      dataset: { value: 'rl-research/dr-tulu-rl-data', ...code(SCRIPT, '--dataset_mixer_list') },
      judge: {
        value: 'gpt-4.1-mini for rubrics, gpt-4o-mini for citations',
        ...code(SCRIPT, 'RUBRIC_JUDGE_MODEL; CITATION_JUDGE_MODEL is not set, so the default of the code'),
      },
      group_size: { value: 8, ...code(SCRIPT, '--num_samples_per_prompt_rollout 8') },
      prompts_per_step: { value: 32, ...code(SCRIPT, '--num_unique_prompts_rollout 32') },
      learning_rate: { value: '5e-7', ...code(SCRIPT, '--learning_rate 5e-7') },
      kl: { value: 'kl3, beta 0.001', ...code(SCRIPT, '--kl_estimator kl3 --beta 0.001') },
      advantage_normalisation: {
        value: 'standard: (r - mean) / (std + 1e-8)',
        ...code(TRAINER, 'default; the script does not pass --advantage_normalization_type'),
      },
      max_prompt_tokens: { value: 2048, ...code(SCRIPT, '--max_prompt_token_length 2048') },
      max_response_tokens: { value: 16_384, ...code(SCRIPT, '--response_length 16384') },
      max_total_tokens: { value: 10_240, ...code(SCRIPT, '--max_token_length 10240, a filter of the data set') },
      pack_tokens: { value: 18_500, ...code(SCRIPT, '--pack_length 18500') },
      max_turns: { value: 10, ...code(SCRIPT, '--max_tool_calls 10') },
      temperature: { value: 1, ...code(SCRIPT, '--temperature 1.0') },
    },
    parameters: { ...DR_TULU, compat: code(REWARDS) },
  },
  'dr-tulu-no-citation': {
    model: null,
    summary: 'As dr-tulu, with the weights that the public code uses without a citation term.',
    not_said: null,
    training: {},
    parameters: {
      ...DR_TULU,
      rubric_weight: WITHOUT_CITATION,
      citation_weight: WITHOUT_CITATION,
      format_weight: WITHOUT_CITATION,
      search_turns_weight: WITHOUT_CITATION,
    },
  },
} as const satisfies Record<keyof typeof DR_TULU_RECIPES, RecipeOrigin<DrTuluRecipe>>;
