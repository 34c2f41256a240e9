/** Counting tokens from the server's usage, with upper estimates in place of missing counts. */
import { describe, expect, it } from 'vitest';
import { TokenLedger, toolTokens } from '../../../src/agent/token-ledger.ts';
import { estimateTokens } from '../../../src/judgments/protocol/token-estimate.ts';

const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

describe('a ledger', () => {
  it("takes the server's counts for turns and for the tokens between them", () => {
    const ledger = new TokenLedger(999);
    ledger.addTurn('a call', usage(100, 20));
    expect(ledger.context).toBe(120);
    ledger.addToolOutput(['42']);
    expect(ledger.of(1)).toEqual({ assistant: 20, tool_output: toolTokens(['42']), counted: 'estimated' });
    ledger.addTurn('an answer', usage(132, 5));
    expect(ledger.of(1)).toEqual({ assistant: 20, tool_output: 12, counted: 'server' });
    expect({ response: ledger.response, context: ledger.context, counted: ledger.counted }).toEqual({
      response: 37,
      context: 137,
      counted: 'server',
    });
    expect(ledger.usage).toEqual(usage(232, 25));
  });

  it('estimates parts that the server does not count, and marks them', () => {
    const ledger = new TokenLedger(50);
    ledger.addTurn('their '.repeat(50), null);
    expect(ledger.of(1)).toEqual({ assistant: 100, tool_output: 0, counted: 'estimated' });
    expect(ledger.counted).toBe('estimated');
    expect(ledger.usage).toBeNull();
  });

  it('ignores a count of 0 for a non-empty text', () => {
    const ledger = new TokenLedger(50);
    ledger.addTurn('their '.repeat(50), usage(10, 0));
    expect(ledger.of(1)).toMatchObject({ assistant: 100, counted: 'estimated' });
    expect(new TokenLedger(0).usage).toBeNull();
  });

  it('derives nothing from a prompt that may have lost earlier thinking', () => {
    const ledger = new TokenLedger(50);
    ledger.addTurn('<think>long</think> call', usage(100, 80), true);
    ledger.addToolOutput(['x'.repeat(256)]);
    // 90 tokens of results, minus 70 of thinking that the template drops.
    ledger.addTurn('answer', usage(200, 5));
    expect(ledger.of(1)).toEqual({ assistant: 80, tool_output: toolTokens(['x'.repeat(256)]), counted: 'estimated' });
    expect(ledger.counted).toBe('estimated');
  });

  it('throws for an unknown turn', () => {
    expect(() => new TokenLedger(0).of(1)).toThrow('no such turn');
    expect(() => new TokenLedger(0).addToolOutput(['x'])).toThrow('before the first turn');
  });
});

describe('an estimate', () => {
  it("counts each digit as a token, as Qwen's tokenizer does", () => {
    expect(estimateTokens('1234567890')).toBe(10);
    expect(estimateTokens('the')).toBe(1);
    expect(estimateTokens('the12')).toBe(3);
    expect(estimateTokens('数学')).toBe(6);
  });

  it('of tool output includes the template around it', () => {
    expect(toolTokens([''])).toBeGreaterThan(15);
    expect(toolTokens(['a', 'b'])).toBeGreaterThan(toolTokens(['ab']));
  });
});
