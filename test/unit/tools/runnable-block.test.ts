import { describe, expect, it } from 'vitest';
import { runnableBlock } from '../../../src/tools/runnable-block.ts';

describe('the program of a code answer', () => {
  it.each([
    ['one block', 'Here:\n```python\nprint(1)\n```\nDone', 'print(1)\n'],
    ['the last of several', '```python\na\n```\n```python\nb\n```', 'b\n'],
    ['an empty block', '```python\n```', ''],
    ['a block that opens within a line', 'so ```python\na```', 'a'],
    ['a last block that is not closed', '```python\na\n```\n```python\nb', 'a\n'],
    ['a fence inside a string ends the program', '```python\nx = "```"\n```', 'x = "'],
    ['a label on a closing fence opens nothing', '```python\na\n```python\nb\n```', 'a\n'],
    ['another label', '```py\na\n```', null],
    ['no label', '```\na\n```', null],
    ['a longer label', '```python3\na\n```', null],
    ['a block in another block: the inner one', '```\n```python\na\n```\n```', 'a\n'],
    ['no block', 'print(1)', null],
    ['nothing', '', null],
    ['a block while thinking only', '<think>```python\na\n```</think>done', null],
    ['a block after the thinking', '<think>```python\na\n```</think>```python\nb\n```', 'b\n'],
    ['a block after the last thought', '</think>```python\na\n```<think></think>```python\nb\n```', 'b\n'],
    ['a block between two thoughts', '</think>```python\na\n```<think></think>none', null],
  ])('%s', (_what, response, expected) => expect(runnableBlock(response)).toBe(expected));
});

/** Hostile texts. Quadratic work on any of them would take minutes, far beyond the timeout of the test. */
describe('four megabytes of hostile text take linear time', () => {
  it.each([
    ['openings', '```python\n', ''],
    ['backticks', '`', null],
    ['thoughts', '</think>', null],
    ['blocks', '```python\na```', 'a'],
    ['labels', 'python\n', null],
  ])('%s', (_what, unit, expected) => {
    expect(runnableBlock(unit.repeat(Math.ceil((4 * 1024 * 1024) / unit.length)))).toBe(expected);
  });
});
