/**
 * Builds an agent's first prompt and estimates its length. A server with a `tools` field renders the tools with its own
 * chat template. For other servers the system message gets a `# Tools` part in the structure of Qwen3's template
 * (Hermes function calling): one tool description per line inside `<tools>`, a call as a JSON object inside
 * `<tool_call>`. The sentences in between are Citeward's own.
 */
import type { GenerationMessage, GenerationRequest, Generator, ToolDescription } from '../generation/generator.ts';
import { estimatePrompt } from './token-ledger.ts';
import type { AgentSettings, AgentTool, PromptMessage } from './types.ts';

/** The properties of a generator that the loop depends on. */
export type GeneratorTraits = Pick<Generator, 'native_tools' | 'context_tokens'>;

type Asked = Pick<AgentSettings, 'messages' | 'tools'>;

export function agentPrompt(
  { messages, tools }: Asked,
  { native_tools }: Pick<GeneratorTraits, 'native_tools'>,
): Pick<GenerationRequest, 'messages' | 'tools'> {
  if (native_tools) return { messages, tools: toolDescriptions(tools) };
  return { messages: promptWithTools(messages, tools), tools: [] };
}

/** Upper estimate of the prompt's tokens, tools included. */
export function agentPromptTokens(asked: Asked, generator: Pick<GeneratorTraits, 'native_tools'>): number {
  const { messages, tools } = agentPrompt(asked, generator);
  return estimatePrompt([...messages.map(({ content }) => content), ...tools.map((tool) => JSON.stringify(tool))]);
}

/** One required text parameter, as in `sandbox_fusion_tool_config.yaml` of Gen-Verse/Open-AgentRL 1fe5dbd2. */
const DESCRIPTIONS: Readonly<Record<AgentTool, ToolDescription>> = {
  code_interpreter: {
    name: 'code_interpreter',
    description: 'Runs Python code and gives back what it prints.',
    parameters: {
      type: 'object',
      properties: { code: { type: 'string', description: 'The Python code to run.' } },
      required: ['code'],
    },
  },
};

function toolDescriptions(tools: readonly AgentTool[]): ToolDescription[] {
  return tools.map((tool) => DESCRIPTIONS[tool]);
}

/** Adds the tool descriptions to the system message; without tools it returns the messages unchanged. */
function promptWithTools(messages: readonly PromptMessage[], tools: readonly AgentTool[]): GenerationMessage[] {
  if (tools.length === 0) return [...messages];
  const [head, ...rest] = messages;
  if (head?.role !== 'system') return [{ role: 'system', content: toolPart(tools) }, ...messages];
  return [{ role: 'system', content: `${head.content}\n\n${toolPart(tools)}` }, ...rest];
}

function toolPart(tools: readonly AgentTool[]): string {
  const lines = toolDescriptions(tools).map((tool) => JSON.stringify({ type: 'function', function: tool }));
  return [
    '# Tools',
    '',
    'These functions are there for you to call while you work on the request, each described by its JSON signature:',
    '<tools>',
    ...lines,
    '</tools>',
    '',
    'To call one, write a JSON object with its name and its arguments between <tool_call> and </tool_call>, and end your turn:',
    '<tool_call>',
    '{"name": <name of the function>, "arguments": <object with its arguments>}',
    '</tool_call>',
  ].join('\n');
}
