/**
 * The defaults of the tool agent: the training run's. Sources: `recipe/demystify/grpo_tcr_qwen3_4b.sh` and
 * `sandbox_fusion_tool_config.yaml` of Gen-Verse/Open-AgentRL 1fe5dbd2 (turns, prompt and response length, tool limits), and
 * verl's own defaults where the script sets nothing (`verl/trainer/config/rollout/rollout.yaml`: sampling of rollouts, one
 * parallel call, 256 characters of tool response, cut in the middle). Validation in that run samples with top_p 0.6; a
 * rollout that is to be scored as training scores it is sampled as training samples it.
 */

export const AGENT_DEFAULTS = {
  sampling: { temperature: 1, top_p: 1, top_k: null, seed: null },
  max_turns: 16,
  max_prompt_tokens: 2_560,
  max_response_tokens: 20_480,
  max_tool_response_chars: 256,
  truncate: 'middle',
  print_last_line: true,
  tool_time_limit_s: 30,
  tool_memory_limit_mb: 2_048,
  /** Ours: the loop leaves malformed calls out and ends at an unknown tool, with a note to show them to the model one day. */
  bad_calls: 'show',
  further_calls: 'ignore',
} as const;
