/** Origins of the tool-call recipes: the card gives the lengths and the overlong penalty, public code the formulas. */
import { cardOf, codeOf, ours, type ParameterOrigins, type RecipeOrigin } from '../../family/provenance.ts';
import type { TOOL_CALL_RECIPES } from './composer.ts';
import type { ToolCallRecipe } from './recipe.ts';

const MODEL = 'qwen3-4b-grpo-tcr-agent';
const REWARD = 'recipe/demystify/reward.py';
const SCRIPT = 'recipe/demystify/grpo_tcr_qwen3_4b.sh';

const card = cardOf(MODEL);
const code = codeOf('Gen-Verse/Open-AgentRL', '1fe5dbd2');

/** Values from the code that no model card states. */
const FROM_CODE = {
  math_equivalence: code(REWARD, 'math_dapo.compute_score with strict_box_verify=True'),
  time_limit_s: ours('the code has 30 s; with 6 s, 60 tests that all time out still fit into one judgment'),
  memory_limit_mb: code(
    'recipe/demystify/sandbox_fusion_tool_config.yaml',
    "memory_limit_mb of the policy's code_interpreter; the same limit for tests is our choice",
  ),
} as const satisfies Partial<ParameterOrigins<ToolCallRecipe>>;

const CEILING = code(REWARD, 'min(-0.6, …)');
const PER_ROUND = code(REWARD, '(num_turns - 2) / 2 * 0.1');

/** Values of the model card, and of the code behind it. */
const FROM_CARD = {
  tool_call_credit: {
    enabled: card('Reward tool usage even on wrong answers to prevent exploration collapse'),
    ceiling: CEILING,
    per_round: PER_ROUND,
  },
  overlong_penalty: {
    enabled: card('Suppress verbose responses, encourage efficient tool use'),
    max_response_tokens: card('Max response length 10,480'),
    buffer_tokens: card('Overlong penalty buffer=3000, factor=1.0'),
    factor: card('Overlong penalty buffer=3000, factor=1.0'),
  },
} as const satisfies Partial<ParameterOrigins<ToolCallRecipe>>;

export const TOOL_CALL_ORIGINS = {
  'grpo-tcr': {
    model: MODEL,
    summary:
      '1 for a right answer, -1 for a wrong one; credit for tool rounds if wrong; a penalty near the length limit.',
    not_said:
      'the formula of the tool call reward; whether its run counted turns (Gen-Verse/Open-AgentRL#13: the public ' +
      'script does not, so a wrong answer has -1.1 independent of its calls); limits of the sandbox; sampling temperature',
    training: {
      algorithm: { value: 'GRPO', ...card('GRPO (Group Relative Policy Optimization)') },
      trainer: { value: 'Open-AgentRL (verl)', ...card('Training framework Open-AgentRL (verl) Apache-2.0') },
      base_model: {
        value: 'Qwen3-4B-Instruct-2507, after SFT',
        ...card('a full fine-tuned model based on Qwen3-4B-Instruct-2507, trained in two stages'),
      },
      dataset: {
        value: 'open_agentrl_grpo_2k',
        ...card('open_agentrl_grpo_2k (2K balanced sample, Apache-2.0)'),
      },
      epochs: { value: 3, ...card('Epochs: 3, Algorithm: GRPO + 5 enhancements') },
      group_size: { value: 8, ...card('Responses per prompt 8') },
      batch_size: { value: 4, ...card('Train batch size 4') },
      learning_rate: { value: '1e-6', ...card('Learning rate 1e-6') },
      kl: { value: 'off', ...card('KL divergence Disabled (kl_coef=0.0)') },
      clip_range: { value: '0.2 low, 0.28 high', ...card('Clip ratio low=0.2, high=0.28 (asymmetric)') },
      loss_aggregation: { value: 'token-mean', ...card('Loss aggregation token-mean') },
      max_prompt_tokens: { value: 2560, ...card('Max prompt length 2,560') },
      max_response_tokens: { value: 10_480, ...card('Max response length 10,480') },
      max_turns: { value: 16, ...card('Max turns 16') },
      tool_format: { value: 'Hermes', ...card('Tool format Hermes') },
      rollout_engine: { value: 'vLLM, sync', ...card('Rollout engine vLLM (sync mode)') },
    },
    parameters: {
      ...FROM_CODE,
      ...FROM_CARD,
    },
  },
  'grpo-tcr-symbolic': {
    model: null,
    summary:
      'As grpo-tcr, and a refused answer is right if the sandbox finds it equal to the reference, as 1/2 and 0.5.',
    not_said: null,
    training: {},
    parameters: {
      ...FROM_CODE,
      ...FROM_CARD,
      math_equivalence: ours('the strict rule of grpo-tcr refuses 31 of 42 answers that math-verify decides otherwise'),
    },
  },
  'open-agentrl': {
    model: null,
    summary: 'As grpo-tcr, with the lengths of the public training script.',
    not_said: null,
    training: {
      algorithm: { value: 'GRPO', ...code(SCRIPT) },
      trainer: { value: 'Open-AgentRL (verl)', ...code(SCRIPT) },
      group_size: { value: 16, ...code(SCRIPT) },
      max_prompt_tokens: { value: 2560, ...code(SCRIPT) },
      max_response_tokens: { value: 20_480, ...code(SCRIPT) },
      max_turns: { value: 16, ...code(SCRIPT) },
      tool_format: { value: 'Hermes', ...code(SCRIPT) },
    },
    parameters: {
      ...FROM_CODE,
      tool_call_credit: {
        enabled: code(REWARD, 'compute_score; the script names a reward manager that passes it no turn count'),
        ceiling: CEILING,
        per_round: PER_ROUND,
      },
      overlong_penalty: {
        enabled: code(SCRIPT, 'enable_overlong_buffer=True'),
        max_response_tokens: code(SCRIPT, 'max_response_length=20480'),
        buffer_tokens: code(SCRIPT, 'overlong_buffer_len=4096'),
        factor: code(SCRIPT, 'overlong_penalty_factor=1.0'),
      },
    },
  },
} as const satisfies Record<keyof typeof TOOL_CALL_RECIPES, RecipeOrigin<ToolCallRecipe>>;
