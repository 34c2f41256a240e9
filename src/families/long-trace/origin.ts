/**
 * Origins of the long-trace recipes: the weight comes from the model card, the rest from the public training script and
 * code.
 */
import { cardOf, codeOf, type ParameterOrigins, type RecipeOrigin } from '../../family/provenance.ts';
import type { LONG_TRACE_RECIPES } from './composer.ts';
import type { LongTraceRecipe } from './recipe.ts';

const MODEL = 'THU-KEG/LongTraceRL-4B';
const SCRIPT = 'scripts/train/train-qwen3-4B-2507.sh';
const ROLLOUT = 'slime/slime/rollout/sglang_rollout.py';

const card = cardOf(MODEL);
const code = codeOf('THU-KEG/LongTraceRL', '415b6433');
/** The revision at which the training script was read for the sampling temperature. */
const codeBefore = codeOf('THU-KEG/LongTraceRL', 'f1dd5ab3');

const LONG_TRACE_RL = {
  variant: code(SCRIPT, '--rubric-only-positive'),
  eta: card('**Rubric Reward Weight (η)**: 0.3'),
  text: code(SCRIPT, '--rubric-use-content, without --rubric-use-reasoning-content'),
  normalise_in_group: code(SCRIPT, '--normalize-rubric-reward'),
  punish_ill_formed: code(ROLLOUT, 'unless --no-punish-for-illform, which the script does not pass'),
} as const satisfies ParameterOrigins<LongTraceRecipe>;

export const LONG_TRACE_ORIGINS = {
  'longtrace-rl': {
    model: MODEL,
    summary: 'A judged outcome; right answers also earn the share of gold entities that the response names.',
    not_said: 'the model that judges the outcome and its sampling; what counts as an ill-formed response',
    training: {
      algorithm: { value: 'GRPO', ...card('GRPO with entity-level rubric reward') },
      trainer: { value: 'slime', ...card('[Slime](https://github.com/THUDM/slime)') },
      base_model: { value: 'Qwen3-4B-Thinking-2507', ...card('Qwen3-4B-Thinking-2507') },
      dataset: { value: 'LongTraceRL, 2,815 samples', ...card('2,815 long-context multi-hop QA samples') },
      steps: { value: 200, ...card('**Training Steps**: 200') },
      group_size: { value: 8, ...card('**GRPO Group Size**: 8') },
      prompts_per_step: { value: 16, ...code(SCRIPT, '--rollout-batch-size 16') },
      batch_size: { value: 128, ...card('**Global Batch Size**: 128') },
      learning_rate: { value: '2e-6, constant', ...card('**Learning Rate**: 2e-6 (constant)') },
      kl: { value: 'off', ...code(SCRIPT, 'coefficients 0') },
      clip_range: { value: '0.2 low, 0.28 high', ...code(SCRIPT, '--eps-clip 0.2 --eps-clip-high 0.28') },
      max_prompt_tokens: { value: '128K', ...card('128K prompt + 32K response') },
      max_response_tokens: {
        value: 32_000,
        ...code(SCRIPT, '--rollout-max-response-len 32000; the card says 32K'),
      },
      max_total_tokens: { value: 160_000, ...code(SCRIPT, 'MAX_CONTEXT_LEN') },
      temperature: { value: 1, ...codeBefore(SCRIPT, '--rollout-temperature 1.0') },
      rollout_engine: { value: 'SGLang', ...card('(Megatron-LM + SGLang)') },
    },
    parameters: LONG_TRACE_RL,
  },
  'longtrace-rl-chunks': {
    model: null,
    summary: 'As longtrace-rl, for the data set longrlvr: F-beta (beta 2) of the useful chunks instead of entities.',
    not_said: null,
    training: {},
    parameters: {
      ...LONG_TRACE_RL,
      variant: code(ROLLOUT, 'dataset_name "longrlvr", independent of the switches'),
      eta: code(SCRIPT, '--rubric-reward-ratio 0.3'),
    },
  },
} as const satisfies Record<keyof typeof LONG_TRACE_RECIPES, RecipeOrigin<LongTraceRecipe>>;
