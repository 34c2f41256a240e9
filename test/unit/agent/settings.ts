/** Agent settings from a request, without the fields that the loop ignores. */
import type { AgentSettings } from '../../../src/agent/types.ts';
import { type AgentRequest, agentRequestSchema } from '../../../src/wire/agent.ts';

export type AgentSettingsInput = Readonly<Record<string, unknown>>;

export const QUESTION = 'What is 6 times 7?';

export function agentRequest(fields: AgentSettingsInput = {}): AgentRequest {
  return agentRequestSchema.parse({ messages: [{ role: 'user', content: QUESTION }], ...fields });
}

export function settingsWith(fields: AgentSettingsInput = {}): AgentSettings {
  return { max_response_tokens: 20_480, ...agentRequest(fields) };
}
