import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listed, plainLine, quotedJson, quotedLine, quotedName, terminalText } from '../../../src/text/foreign-line.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not be there.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{E0000}-\u{E007F}]/u;

/** Text that is full of what could act as a command, a line or a tag. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b[2J', '\u001b]0;t\u0007', '\u009b31m', '\r\n', '\u2028', '\u202e', '\u{E0041}', '"', '\\'),
      fc.constantFrom(
        '<tool_call>',
        '</tool_call>',
        '<|im_end|>',
        '[TOOL_CALLS]',
        '＜｜User｜＞',
        '[/INST]',
        'ok',
        ' ',
      ),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((all) => all.join(''));

describe('foreign text', () => {
  it('is one line without commands in every form', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of [plainLine(text), quotedLine(text), quotedName(text), quotedJson({ [text]: [text] })]) {
          expect(line).not.toMatch(CONTROLS);
          expect(line.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('cannot close its quotation marks or act as a control token in a text for a model', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const quoted = quotedLine(text);
        expect(typeof JSON.parse(quoted)).toBe('string');
        for (const line of [quoted, quotedName(text), quotedJson({ [text]: [text] })]) {
          expect(line).not.toMatch(/[<>＜＞]|\[\/?(TOOL_CALLS|INST)\]/u);
        }
      }),
    );
  });

  it('is cut, without a half of a character', () => {
    expect(quotedLine('a'.repeat(1_000_000))).toHaveLength(502);
    expect(quotedLine('👍'.repeat(1_000), 10).isWellFormed()).toBe(true);
    expect(
      listed(
        Array.from({ length: 203 }, (_, n) => n),
        String,
      ).slice(-2),
    ).toEqual(['199', 'and 3 more']);
  });

  it('stays as it is where it is a word', () => {
    expect(quotedName('Qwen/Qwen3-8B')).toBe('Qwen/Qwen3-8B');
    expect(quotedName('a b')).toBe('"a b"');
    expect(quotedName('-')).toBe('"-"');
  });

  it('takes linear time', () => {
    const start = performance.now();
    for (const text of ['\u001b[', '\u001b]', '\u001b ', '\u009b1', '\u0090', '<', '['])
      plainLine(text.repeat(500_000));
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});

describe('text for a terminal', () => {
  it('keeps colours, line feeds and tabs, and nothing else that a terminal obeys', () => {
    const text = '\u001b[31mred\u001b[39m\n\tx\u001b[2J\u001b]0;t\u0007\u009b1A\u202ey\rz';
    expect(terminalText(text)).toBe('\u001b[31mred\u001b[39m\n\tx' + 'y z');
  });
});
