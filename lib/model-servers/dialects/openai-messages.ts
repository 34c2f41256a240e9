/** A generation request in OpenAI's shape: the parts that servers of one's own and Workers AI share. */
import type { GenerationMessage, GenerationRequest } from '../../../src/generation/generator.ts';

/** The conversation; what the model called stands in it as it was called. */
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

/** The tools for a server that parses calls by itself. An empty list is refused by vLLM, so then there is no field. */
export function openAiTools({ tools }: GenerationRequest): { readonly tools?: readonly object[] } {
  if (tools.length === 0) return {};
  return { tools: tools.map((tool) => ({ type: 'function', function: tool })) };
}
