/**
 * Converts messages and tools of a generation request to OpenAI's format, for OpenAI-compatible servers and Workers AI.
 */
import type { GenerationMessage, GenerationRequest } from '../../../src/generation/generator.ts';

/** Converts the conversation. Tool calls keep the arguments that the model wrote. */
export function openAiMessages(messages: readonly GenerationMessage[]): readonly object[] {
  return messages.map((message) => {
    if (message.role !== 'assistant') return message;
    const { role, content, tool_calls = [] } = message;
    if (tool_calls.length === 0) return { role, content };
    return {
      role,
      content,
      tool_calls: tool_calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      })),
    };
  });
}

/** The tools for a server that parses tool calls. vLLM refuses an empty list, so then there is no field. */
export function openAiTools({ tools }: GenerationRequest): { readonly tools?: readonly object[] } {
  if (tools.length === 0) return {};
  return { tools: tools.map((tool) => ({ type: 'function', function: tool })) };
}
