/**
 * A trajectory as one text: what the policy's tokens and the tools' results are when they are decoded in a row, without
 * special tokens. That is what the training run's reward reads (`solution_str`): verl's reward managers decode all response
 * ids of the loop, tool results and the template's role names among them, with `skip_special_tokens`; the tags of Hermes
 * calls are no special tokens of Qwen's tokenizer and stay. So a final answer is at its end, and calls stand where they
 * were made.
 */
import type { GenerationEvent, GenerationMessage, NativeToolCall } from '../generation/generator.ts';
import type { TokenUsage } from '../judgments/types.ts';
import type { AgentCall } from './types.ts';

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

export class OpenTurn {
  text = '';
  thinking = '';
  readonly native: NativeToolCall[] = [];
  /** `null` = it has not ended, or broke off. */
  finish_reason: string | null = null;
  usage: TokenUsage | null = null;
  /** Whether its `max_tokens` is all that is left of the response budget, and not what fits into the context. */
  readonly fills_budget: boolean;

  constructor(fills_budget: boolean) {
    this.fills_budget = fills_budget;
  }

  take(event: GenerationEvent): void {
    switch (event.type) {
      case 'text':
        this.text += event.text;
        return;
      case 'thinking':
        this.thinking += event.text;
        return;
      case 'tool_call':
        this.native.push(event.call);
        return;
      case 'finish':
        this.finish_reason = event.finish_reason;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
    }
  }

  /** All of it as the policy wrote it. */
  get whole(): string {
    return turnText(this);
  }

  get thinks(): boolean {
    return hasThinking(this);
  }

  /** The same without calls that the server took out. */
  get written(): string {
    return writtenText(this);
  }
}

/** @param answered the calls that have a result; `contents` holds it at the same position. */
export function answeredTurn(
  { whole, written, native }: Pick<OpenTurn, 'whole' | 'written' | 'native'>,
  answered: readonly AgentCall[],
  contents: readonly string[],
): GenerationMessage[] {
  if (!answered.every(isNative)) {
    return [
      { role: 'assistant', content: whole },
      { role: 'user', content: toolResponses(contents) },
    ];
  }
  // A call without a result is refused by strict servers, so that those which nobody answers are left out.
  const tool_calls = native.filter(({ id }) => answered.some((call) => call.id === id));
  return [
    { role: 'assistant', content: written, tool_calls },
    ...answered.map(({ id }, position) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: contents[position] ?? '',
    })),
  ];
}

/**
 * Whether a call can be repeated to the server in its own field. vLLM reads the arguments of earlier calls as JSON and
 * refuses a conversation with others, so that a malformed call goes back as the text that its template would make of it.
 */
function isNative(call: AgentCall): call is AgentCall & { readonly id: string } {
  return call.id !== null && call.problem !== 'not_json' && call.problem !== 'arguments_not_object';
}
