/**
 * How the model families of Workers AI want a JSON schema, and whether their reasoning can be switched off. From the
 * input types of @cloudflare/workers-types 5.20261029.1 and Cloudflare's JSON mode page. A model that is not listed can
 * be configured with `json_schema_shape`.
 */
import type { SchemaShape } from '../config.ts';

export type Family = {
  readonly schema_shape: SchemaShape;
  /** `none`: it has no reasoning. `switchable`: `enable_thinking` switches it off. `always`: nothing does. */
  readonly thinking: 'none' | 'switchable' | 'always';
};

const FLAT: Family = { schema_shape: 'flat', thinking: 'none' };
const WRAPPED: Family = { schema_shape: 'wrapped', thinking: 'switchable' };
const ALWAYS_THINKS: Family = { schema_shape: 'wrapped', thinking: 'always' };

/** By prefix of the model's id. No prefix is a prefix of another. */
const FAMILIES: readonly (readonly [prefix: string, family: Family])[] = [
  ['@cf/meta/llama-', FLAT],
  ['@cf/mistralai/mistral-small-', FLAT],
  ['@hf/nousresearch/hermes-', FLAT],
  ['@cf/qwen/qwen2.5-', FLAT],
  ['@cf/qwen/qwen3.8-', WRAPPED],
  ['@cf/google/gemma-4-', WRAPPED],
  ['@cf/zai-org/glm-4.7-', WRAPPED],
  ['@cf/deepseek-ai/deepseek-v4-', WRAPPED],
  ['@cf/nvidia/nemotron-3-', WRAPPED],
  ['@cf/moonshotai/kimi-k2.6', WRAPPED],
  ['@cf/openai/gpt-oss-', ALWAYS_THINKS],
  ['@cf/zai-org/glm-5.3', ALWAYS_THINKS],
  ['@cf/qwen/qwq-', ALWAYS_THINKS],
  ['@cf/deepseek-ai/deepseek-r1-', ALWAYS_THINKS],
];

/** The family of a model; `undefined` where it is not known. */
export function familyOf(model: string): Family | undefined {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1];
}
