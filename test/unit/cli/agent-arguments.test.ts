/** The requests that `citeward agent` makes of rows and flags. */

import { describe, expect, it } from 'vitest';
import {
  agentFieldsSet,
  agentSyntax,
  applyAgentOptions,
  readAgentOptions,
} from '../../../cli/commands/agent/options.ts';
import { readFlags } from '../../../cli/shared/flags.ts';
import { agentRequestSchema } from '../../../src/wire/agent.ts';

async function asked(...args: string[]) {
  return readAgentOptions(readFlags('agent', agentSyntax.flags, args));
}

const ROW = { question: '6 * 7?' };
const MESSAGES = [{ role: 'user', content: '6 * 7?' }];

describe('a row', () => {
  it('with a question becomes a conversation; messages win over the question', async () => {
    const plain = await asked();
    expect(applyAgentOptions(ROW, plain)).toEqual({ messages: MESSAGES });
    const messages = [{ role: 'user', content: 'other' }];
    expect(applyAgentOptions({ ...ROW, messages }, plain)).toEqual({ messages });
  });

  it('made for scoring loses the fields that only scoring reads', async () => {
    const row = {
      ...{ ...ROW, response: 'old', num_turns: 4, response_tokens: 9, finish_reason: 'stop' },
      ...{ reference: '42', recipe: 'grpo-tcr', run: { id: 'r' } },
    };
    const request = applyAgentOptions(row, await asked());
    expect(request).toEqual({ messages: MESSAGES, reference: '42', recipe: 'grpo-tcr' });
    expect(agentRequestSchema.safeParse(request).success).toBe(true);
    const { reference: _, ...unscored } = row;
    expect(applyAgentOptions(unscored, await asked())).toEqual({ messages: MESSAGES });
  });

  it('keeps unknown fields, so that the schema refuses them by name', async () => {
    expect(applyAgentOptions({ ...ROW, max_turn: 3 }, await asked())).toMatchObject({ max_turn: 3 });
  });

  it('keeps its fields except those of the flags', async () => {
    const flags = await asked('--reference', '42', '--temperature', '0.5', '--max-turns', '3', '--thinking');
    const row = { ...ROW, max_turns: 9, reference: '0', sampling: { seed: 4, temperature: 1 }, tools: [] };
    expect(applyAgentOptions(row, flags)).toEqual({
      ...{ messages: MESSAGES, reference: '42', recipe: 'open-agentrl', max_turns: 3, thinking: true, tools: [] },
      sampling: { seed: 4, temperature: 0.5 },
    });
    expect([...agentFieldsSet(flags)].sort()).toEqual(['max_turns', 'reference', 'sampling', 'thinking']);
  });

  it('gets the changes of --set in its recipe if it has a reference', async () => {
    const flags = await asked('--set', 'tool_call_credit.enabled=false');
    const change = { tool_call_credit: { enabled: false } };
    expect(applyAgentOptions({ ...ROW, reference: '42' }, flags)['recipe']).toEqual({
      base: 'open-agentrl',
      ...change,
    });
    expect(applyAgentOptions({ ...ROW, reference: '42', recipe: 'grpo-tcr' }, flags)['recipe']).toEqual({
      base: 'grpo-tcr',
      ...change,
    });
  });
});

describe('flags', () => {
  it.each([
    ['--temperature', 'warm', '--temperature: expected a number, got "warm"'],
    ['--max-turns', '0', '--max-turns: expected an integer from 1 to 64, got "0"'],
    ['--seed', '-1', '--seed needs a value'],
  ])('refuse a wrong value: %s %s', async (flag, value, message) => {
    await expect(asked(flag, value)).rejects.toThrow(message);
  });
});
