/**
 * A trajectory as one text: what the policy's tokens and the tools' results are when they are decoded in a row, without
 * special tokens. That is what the training run's reward reads (`solution_str`): verl's reward managers decode all response
 * ids of the loop, tool results and the template's role names among them, with `skip_special_tokens`; the tags of Hermes
 * calls are no special tokens of Qwen's tokenizer and stay. So a final answer is at its end, and calls stand where they
 * were made.
 */
import type { NativeToolCall } from '../generation/generator.ts';

export type RenderedTurn = {
  readonly text: string;
  readonly thinking: string;
  readonly native: readonly NativeToolCall[];
};

/** The text of one assistant turn as the policy wrote it, put together again where the server took it apart. */
export function turnText({ text, thinking, native }: RenderedTurn): string {
  const calls = native.map((call) => `\n<tool_call>\n${callJson(call)}\n</tool_call>`);
  return `${writtenText({ text, thinking })}${calls.join('')}`;
}

/** The same without its calls. */
export function writtenText({ text, thinking }: Omit<RenderedTurn, 'native'>): string {
  return thinking === '' ? text : `<think>\n${thinking}\n</think>\n\n${text}`;
}

/** Whether some of a turn is thinking, wherever the server leaves it. */
export function hasThinking({ text, thinking }: Pick<RenderedTurn, 'text' | 'thinking'>): boolean {
  return thinking !== '' || text.includes('</think>');
}

/** Arguments are JSON text already, and stand as they were written. */
function callJson({ name, arguments: given }: NativeToolCall): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${given}}`;
}

/** Results as a user's message holds them: one after the other, each in its element. */
export function toolResponses(contents: readonly string[]): string {
  return contents.map((content) => `<tool_response>\n${content}\n</tool_response>`).join('\n');
}

/** What stands between two assistant turns in the decoded text. */
export function betweenTurns(contents: readonly string[]): string {
  return `user\n${toolResponses(contents)}\nassistant\n`;
}
