/**
 * The model families of Workers AI: the form of JSON schema that they expect, and whether their reasoning can be
 * switched off. Source: the input types of @cloudflare/workers-types 5.20261029.1 and Cloudflare's page on JSON mode.
 * For a model that is not listed, the operator sets `json_schema_shape`.
 */

/** `flat`: `json_schema` is the schema. `wrapped`: OpenAI's `{name, schema, strict}`. */
export type SchemaShape = 'flat' | 'wrapped';

type ModelFamily = {
  readonly schema_shape: SchemaShape;
  /** `none` = no reasoning. `switchable` = `enable_thinking` switches it off. `always` = it cannot be switched off. */
  readonly thinking: 'none' | 'switchable' | 'always';
};

const FLAT: ModelFamily = { schema_shape: 'flat', thinking: 'none' };
const WRAPPED: ModelFamily = { schema_shape: 'wrapped', thinking: 'switchable' };
const ALWAYS_THINKS: ModelFamily = { schema_shape: 'wrapped', thinking: 'always' };

/** The families by prefix of the model id. No prefix is a prefix of another. */
const FAMILIES: readonly (readonly [prefix: string, family: ModelFamily])[] = [
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

/** Returns the family of a model; `undefined` if it is not listed. */
export function familyOf(model: string): ModelFamily | undefined {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1];
}
