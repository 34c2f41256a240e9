/** An answered turn as the next prompt has it: a result is told in the way in which its call was made. */
import type { GenerationMessage } from '../generation/generator.ts';
import type { OpenTurn } from './open-turn.ts';
import { toolResponses } from './rendering.ts';
import type { AgentCall } from './types.ts';

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
