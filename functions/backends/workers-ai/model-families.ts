/**
 * How the model families of Workers AI want a JSON schema, and whether their reasoning can be switched off. From the
 * input types of @cloudflare/workers-types 5.20261029.1 and Cloudflare's JSON mode page. A model that is not listed can
 * be configured with `json_schema_shape`.
 */

/** `flat`: `json_schema` is the schema. `wrapped`: OpenAI's `{name, schema, strict}`. */
export type SchemaShape = 'flat' | 'wrapped';

type ModelFamily = {
  readonly schema_shape: SchemaShape;
  /** `none`: it has no reasoning. `switchable`: `enable_thinking` switches it off. `always`: nothing does. */
  readonly thinking: 'none' | 'switchable' | 'always';
};

const FLAT: ModelFamily = { schema_shape: 'flat', thinking: 'none' };
const WRAPPED: ModelFamily = { schema_shape: 'wrapped', thinking: 'switchable' };
const ALWAYS_THINKS: ModelFamily = { schema_shape: 'wrapped', thinking: 'always' };

/** By prefix of the model's id. No prefix is a prefix of another. */
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

/** The family of a model; `undefined` where it is not known. */
export function familyOf(model: string): ModelFamily | undefined {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1];
}
