/**
 * One turn of a trajectory: collects its events, renders it as text, and converts it to messages for the next prompt.
 *
 * The rendered text is what the reward code of Gen-Verse/Open-AgentRL reads (`solution_str`): verl's reward managers
 * decode all response ids of the loop with `skip_special_tokens`, tool results and the template's role names included.
 * The tags of Hermes calls are ordinary tokens of Qwen's tokenizer and stay. So the final answer is at the end, and
 * each call is where it was made.
 */
import type { GenerationEvent, GenerationMessage, NativeToolCall } from '../generation/generator.ts';
import type { TokenUsage } from '../judgments/protocol/failure.ts';
import type { AgentCall } from './types.ts';

type RenderedTurn = {
  readonly text: string;
  readonly thinking: string;
  readonly native: readonly NativeToolCall[];
};

/** Renders an assistant turn as the policy wrote it, with the calls that the server took out put back. */
function turnText({ text, thinking, native }: RenderedTurn): string {
  const calls = native.map((call) => `\n<tool_call>\n${callJson(call)}\n</tool_call>`);
  return `${writtenText({ text, thinking })}${calls.join('')}`;
}

/** Renders an assistant turn without its calls. */
function writtenText({ text, thinking }: Omit<RenderedTurn, 'native'>): string {
  return thinking === '' ? text : `<think>\n${thinking}\n</think>\n\n${text}`;
}

/** Whether the turn contains thinking, split off by the server or inside the text. */
function hasThinking({ text, thinking }: Pick<RenderedTurn, 'text' | 'thinking'>): boolean {
  return thinking !== '' || text.includes('</think>');
}

/** Keeps the arguments verbatim; they are JSON text already. */
function callJson({ name, arguments: given }: NativeToolCall): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${given}}`;
}

/** Renders tool results as the content of a user message. */
function toolResponses(contents: readonly string[]): string {
  return contents.map((content) => `<tool_response>\n${content}\n</tool_response>`).join('\n');
}

/** The decoded text between two assistant turns. */
export function betweenTurns(contents: readonly string[]): string {
  return `user\n${toolResponses(contents)}\nassistant\n`;
}

export class OpenTurn {
  text = '';
  thinking = '';
  readonly native: NativeToolCall[] = [];
  /** `null` = the turn is in progress or was interrupted. */
  finish_reason: string | null = null;
  usage: TokenUsage | null = null;
  /** Whether `max_tokens` of the turn is the rest of the response budget; false = the context was smaller. */
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

  /** The whole turn as the policy wrote it. */
  get whole(): string {
    return turnText(this);
  }

  get thinks(): boolean {
    return hasThinking(this);
  }

  /** The turn without the tool calls that the server parsed out of the text. */
  get written(): string {
    return writtenText(this);
  }
}

/**
 * Converts an answered turn to messages for the next prompt. Results take the form in which their calls were made: tool
 * messages for native calls, a user message for calls in the text.
 * @param answered the calls that have a result; `contents[i]` is the result of `answered[i]`.
 */
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
  // Strict servers refuse calls without a result, so unanswered calls are left out.
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
 * Returns whether a call can be sent back in the message field `tool_calls`. vLLM parses the arguments of earlier calls
 * as JSON and refuses malformed ones, so a malformed call is sent back as text.
 */
function isNative(call: AgentCall): call is AgentCall & { readonly id: string } {
  return call.id !== null && call.problem !== 'not_json' && call.problem !== 'arguments_not_object';
}
