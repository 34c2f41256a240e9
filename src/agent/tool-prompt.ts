/**
 * How tools are told to a model. Where the server takes a `tools` field, its own chat template does it; where it does not,
 * the system message gets a `# Tools` part with the structure that Qwen3's template gives it (reference: Hermes function
 * calling): tool descriptions one a line inside `<tools>`, and a call as a JSON object inside `<tool_call>`. The sentences
 * between are ours.
 */
import type { GenerationMessage, ToolDescription } from '../generation/generator.ts';
import type { AgentTool, PromptMessage } from './types.ts';

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

export function toolDescriptions(tools: readonly AgentTool[]): ToolDescription[] {
  return tools.map((tool) => DESCRIPTIONS[tool]);
}

/** The conversation as it is sent to a server that does not know tools; nothing is added where there are none. */
export function promptWithTools(messages: readonly PromptMessage[], tools: readonly AgentTool[]): GenerationMessage[] {
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
