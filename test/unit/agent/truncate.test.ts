/** Truncating tool output as training does (verl, tool_agent_loop.py). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TruncateSide, truncateToolOutput } from '../../../src/agent/truncate.ts';

const cut = (text: string, max: number, side: TruncateSide) => truncateToolOutput(text, max, side).text;

describe('a tool output of 256 characters at most', () => {
  it('stays whole up to 256 and is cut from 257 on', () => {
    const fits = 'a'.repeat(256);
    expect(truncateToolOutput(fits, 256, 'middle')).toEqual({ text: fits, raw_chars: 256, truncated: false });
    const { text, raw_chars, truncated } = truncateToolOutput(`${'a'.repeat(128)}x${'b'.repeat(128)}`, 256, 'middle');
    expect({ raw_chars, truncated }).toEqual({ raw_chars: 257, truncated: true });
    expect(text).toBe(`${'a'.repeat(128)}...(truncated)...${'b'.repeat(128)}`);
  });

  it('keeps the requested side', () => {
    expect(cut('0123456789', 4, 'left')).toBe('0123...(truncated)');
    expect(cut('0123456789', 4, 'right')).toBe('(truncated)...6789');
    expect(cut('0123456789', 4, 'middle')).toBe('01...(truncated)...89');
    // Python: half = 5 // 2.
    expect(cut('0123456789', 5, 'middle')).toBe('01...(truncated)...89');
  });

  it('counts code points as Python does, and splits none', () => {
    const crabs = '🦀'.repeat(256);
    expect(truncateToolOutput(crabs, 256, 'middle')).toEqual({ text: crabs, raw_chars: 256, truncated: false });
    expect(cut('🦀a🦀b🦀', 2, 'middle')).toBe('🦀...(truncated)...🦀');
    expect(cut('🦀a🦀b🦀', 2, 'right')).toBe('(truncated)...b🦀');
    expect(cut('🦀a🦀b🦀', 2, 'left')).toBe('🦀a...(truncated)');
  });

  it('equals slices of code points, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 2, max: 20 }), (text, max) => {
        const points = Array.from(text);
        const half = Math.floor(max / 2);
        const joined = (from: number, to: number) => points.slice(from, to).join('');
        const whole = points.length <= max;
        const end = points.length;
        expect(cut(text, max, 'left')).toBe(whole ? text : `${joined(0, max)}...(truncated)`);
        expect(cut(text, max, 'right')).toBe(whole ? text : `(truncated)...${joined(end - max, end)}`);
        expect(cut(text, max, 'middle')).toBe(
          whole ? text : `${joined(0, half)}...(truncated)...${joined(end - half, end)}`,
        );
      }),
    );
  });
});
