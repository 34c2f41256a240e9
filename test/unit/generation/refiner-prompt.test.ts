/** The refiner's prompt: its budget, and the reported cut. */
import { describe, expect, it } from 'vitest';
import { REFINER_PROMPT_TOKENS, refinerPrompt } from '../../../src/generation/refiner-prompt.ts';
import { estimateTokens } from '../../../src/judgments/protocol/token-estimate.ts';

const BASE = { question: 'How long is the Aare?', mode: 'answer_only', prompt_tokens: REFINER_PROMPT_TOKENS } as const;

function promptOf(change: Partial<Parameters<typeof refinerPrompt>[0]> & { readonly tool_output: string }) {
  const result = refinerPrompt({ ...BASE, ...change });
  if (!result.ok) throw new Error(`it needs ${result.error} tokens`);
  return result.value;
}

describe('the prompt of a refiner', () => {
  it('contains everything if everything fits', () => {
    const tool_output = '<snippet id=S1>The Aare is 288 km long.</snippet>';
    const { messages, cut } = promptOf({ tool_output, reasoning: 'I looked it up.' });
    expect(cut).toBeNull();
    for (const text of [BASE.question, 'I looked it up.', tool_output]) expect(messages[1].content).toContain(text);
    expect(messages[0].content).toContain('nothing before or after');
    expect(promptOf({ tool_output, mode: 'full' }).messages[0].content).toContain('<think>');
  });

  it('stays within its budget, and reports the cut', () => {
    const tool_output = Array.from({ length: 4_000 }, (_, n) => `<snippet id=S${n}>Fact number ${n}.</snippet>`).join(
      '\n',
    );
    const { messages, cut, tool_output: seen } = promptOf({ tool_output });
    const tokens = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0);
    expect(tokens).toBeLessThanOrEqual(REFINER_PROMPT_TOKENS);
    expect(tokens).toBeGreaterThan(REFINER_PROMPT_TOKENS * 0.9);
    expect(cut).toEqual({ kept_chars: seen.length, chars: tool_output.length });
    expect(tool_output.startsWith(seen)).toBe(true);
    expect(seen.endsWith('</snippet>')).toBe(true);
  });

  it('never cuts a surrogate pair', () => {
    for (let length = 9_000; length < 9_020; length++) {
      const { tool_output } = promptOf({ tool_output: '🌊'.repeat(length) });
      expect(tool_output.isWellFormed()).toBe(true);
    }
  });

  it('refuses a request that leaves no room for tool output', () => {
    expect(refinerPrompt({ ...BASE, tool_output: 'x', reasoning: 'y '.repeat(20_000) })).toMatchObject({ ok: false });
  });
});
