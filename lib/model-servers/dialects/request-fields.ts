/** Writes the parameters of a chat completion in the dialect of a server; src/judgments/chat-dialects.ts has the table. */
import {
  type ChatDialect,
  type DialectRow,
  dialectRow,
  type Refusable,
  sentSampling,
} from '../../../src/judgments/chat-dialects.ts';
import type { Thinking } from '../../../src/judgments/protocol/asking.ts';
import type { JsonSchema } from '../../../src/judgments/protocol/prompt.ts';

/** The dialect of a server, and what its model refuses beyond it. */
export type Speaking = { readonly dialect?: ChatDialect; readonly refuses?: readonly Refusable[] };

/** The sampling parameters that are sent. A `seed` of `null` is not sent. */
export function samplingFields(
  { dialect = 'vllm', refuses = [] }: Speaking,
  sampling: { readonly temperature: number; readonly top_p: number; readonly seed: number | null },
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    sentSampling(dialect, refuses).flatMap((field) => {
      const value = sampling[field];
      return value === null ? [] : [[field, value]];
    }),
  );
}

/** The fields that ask for the usage at the end of a stream. */
export function usageFields({ dialect = 'vllm', refuses = [] }: Speaking): object {
  const sent = dialectRow(dialect).stream_options && !refuses.includes('stream_options');
  return sent ? { stream_options: { include_usage: true } } : {};
}

/** Alternatives of each token: the most that OpenAI and vLLM give by default. */
const TOP_LOGPROBS = 20;

/** The fields that ask for log-probabilities. */
export function logprobFields(areWanted: boolean): object {
  return areWanted ? { logprobs: true, top_logprobs: TOP_LOGPROBS } : {};
}

/** The number of choices. Servers without `n` give one; they are asked for more only by the setting `native_n`. */
export function choiceFields({ dialect = 'vllm' }: Speaking, n: number): object {
  return dialectRow(dialect).n || n > 1 ? { n } : {};
}

/** The form of the reply: its schema, or for servers without schemas one JSON object. */
export function schemaFields(
  { dialect = 'vllm', refuses = [] }: Speaking,
  schema: { readonly name: string; readonly schema: JsonSchema } | null,
): object {
  if (schema === null) return {};
  if (dialectRow(dialect).schema === 'json_object' || refuses.includes('json_schema')) {
    return { response_format: { type: 'json_object' } };
  }
  const json_schema = { name: schema.name, schema: schema.schema, strict: true };
  return { response_format: { type: 'json_schema', json_schema } };
}

/** How a model is to think; `on`: as long as it wants. */
type AskedThinking = Thinking | 'on';

/** Switches a repetition penalty off that a model's configuration may set, and says how the model is to think. */
export function modelFields({ dialect = 'vllm', refuses = [] }: Speaking, thinking: AskedThinking): object {
  const row = dialectRow(dialect);
  return {
    ...(row.repetition === null || refuses.includes('repetition_penalty') ? {} : { [row.repetition]: 1 }),
    ...(refuses.includes('thinking') ? {} : thinkingFields(row, thinking)),
    ...(row.require_parameters ? { provider: { require_parameters: true } } : {}),
  };
}

/** A budget is only asked for where `thinkingModes` has it. */
function thinkingFields({ thinking: how, thinking_budget }: DialectRow, thinking: AskedThinking): object {
  switch (thinking) {
    case 'model_default':
      return {};
    case 'off':
    case 'on':
      return thinkingSwitch(how, thinking === 'on');
    default:
      return {
        ...thinkingSwitch(how, true),
        ...(thinking_budget === null ? {} : { [thinking_budget]: thinking.budget_tokens }),
      };
  }
}

function thinkingSwitch(how: DialectRow['thinking'], on: boolean): object {
  switch (how) {
    case 'chat_template_kwargs':
      return { chat_template_kwargs: { enable_thinking: on } };
    case 'reasoning_effort':
      // Ollama thinks by default where the model can.
      return on ? {} : { reasoning_effort: 'none' };
    case 'thinking':
      return { thinking: { type: on ? 'enabled' : 'disabled' } };
    case 'reasoning':
      return { reasoning: { enabled: on } };
    case null:
      return {};
  }
}

/**
 * The parameter of a generation that changes its distribution and is not sent; `null` = there is none. 1 is the default
 * of `temperature` and `top_p` in OpenAI's API, so leaving it out changes nothing there.
 */
export function unsentSampling(
  { dialect = 'vllm', refuses = [] }: Speaking,
  {
    temperature,
    top_p,
    top_k,
  }: { readonly temperature: number; readonly top_p: number; readonly top_k: number | null },
): 'temperature' | 'top_p' | 'top_k' | null {
  const sent = sentSampling(dialect, refuses);
  if (temperature !== 1 && !sent.includes('temperature')) return 'temperature';
  if (top_p !== 1 && !sent.includes('top_p')) return 'top_p';
  return top_k !== null && dialectRow(dialect).all_candidates === null ? 'top_k' : null;
}

/** The fields that take the sampling out of a model's own configuration: candidates are limited only if asked for. */
export function candidateFields({ dialect = 'vllm' }: Speaking, top_k: number | null): object {
  const { all_candidates, min_p } = dialectRow(dialect);
  return { ...(all_candidates === null ? {} : { top_k: top_k ?? all_candidates }), ...(min_p ? { min_p: 0 } : {}) };
}
