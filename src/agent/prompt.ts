/** The first prompt of an agent, as a generator gets it, and how long it is. */
import type { GenerationRequest, Generator } from '../generation/generator.ts';
import { estimatePrompt } from './token-ledger.ts';
import { promptWithTools, toolDescriptions } from './tool-prompt.ts';
import type { AgentSettings } from './types.ts';

/** The generator as the loop needs to know it. */
export type GeneratorTraits = Pick<Generator, 'native_tools' | 'context_tokens'>;

type Asked = Pick<AgentSettings, 'messages' | 'tools'>;

export function agentPrompt(
  { messages, tools }: Asked,
  { native_tools }: Pick<GeneratorTraits, 'native_tools'>,
): Pick<GenerationRequest, 'messages' | 'tools'> {
  if (native_tools) return { messages, tools: toolDescriptions(tools) };
  return { messages: promptWithTools(messages, tools), tools: [] };
}

/** Upper estimate of its tokens, tools included. */
export function agentPromptTokens(asked: Asked, generator: Pick<GeneratorTraits, 'native_tools'>): number {
  const { messages, tools } = agentPrompt(asked, generator);
  return estimatePrompt([...messages.map(({ content }) => content), ...tools.map((tool) => JSON.stringify(tool))]);
}
