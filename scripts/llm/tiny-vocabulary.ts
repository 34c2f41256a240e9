/**
 * The tokenizer of the tiny model: one token per byte, plus the control tokens of ChatML and Qwen's tags. Without
 * merges it has 288 tokens instead of 151,936, which keeps the model at half a megabyte; prompts need about four times
 * as many tokens as with a real tokenizer.
 */

/** Token types of llama.cpp. */
const TOKEN_TYPE = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;
const ROW_MULTIPLE = 32;

export const END_OF_TEXT = '<|endoftext|>';
export const END_OF_TURN = '<|im_end|>';
export const TOOL_CALL = '<tool_call>';
export const TOOL_CALL_END = '</tool_call>';

const CONTROL = [END_OF_TEXT, '<|im_start|>', END_OF_TURN];
const TAGS = ['<think>', '</think>', TOOL_CALL, TOOL_CALL_END, '<tool_response>', '</tool_response>'];

/** ChatML, with Qwen3's way of disabling thinking: an empty block of thoughts in the prompt. */
export const CHAT_TEMPLATE = [
  '{%- for message in messages %}',
  "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}",
  '{%- endfor %}',
  '{%- if add_generation_prompt %}',
  "{{- '<|im_start|>assistant\\n' }}",
  '{%- if enable_thinking is defined and enable_thinking is false %}',
  "{{- '<think>\\n\\n</think>\\n\\n' }}",
  '{%- endif %}',
  '{%- endif %}',
].join('');

export type Vocabulary = {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  /** The id of a token. @throws RangeError if there is no such token. */
  idOf(token: string): number;
};

export function tinyVocabulary(): Vocabulary {
  const tokens = byteTokens();
  const types: number[] = tokens.map(() => TOKEN_TYPE.normal);
  for (const token of CONTROL) {
    tokens.push(token);
    types.push(TOKEN_TYPE.control);
  }
  for (const token of TAGS) {
    tokens.push(token);
    types.push(TOKEN_TYPE.userDefined);
  }
  while (tokens.length % ROW_MULTIPLE !== 0) {
    tokens.push(`[PAD${tokens.length}]`);
    types.push(TOKEN_TYPE.unused);
  }
  return {
    tokens,
    types,
    idOf(token) {
      const id = tokens.indexOf(token);
      if (id === -1) throw new RangeError(`${token} is not in the vocabulary`);
      return id;
    },
  };
}

/** GPT-2's byte encoding: printable Latin-1 maps to itself, the other 68 bytes to U+0100 and up. The id is the byte. */
function byteTokens(): string[] {
  let shifted = 0x100;
  return Array.from({ length: 256 }, (_unused, byte) => {
    const standsForItself =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
    return String.fromCodePoint(standsForItself ? byte : shifted++);
  });
}
