import { describe, expect, it } from 'vitest';
import {
  lastAnswerLine,
  lastBoxedAnswer,
  normalizeFinalAnswer,
  scoreAnswerLine,
  scoreBoxedAnswer,
} from '../../../src/tools/math-answer.ts';

describe('the last box', () => {
  it.each([
    ['a brace after it', '\\boxed{1}}', '1'],
    ['an escaped brace counts as a brace', '\\boxed{\\{1\\}}', '\\{1\\}'],
    ['an escaped closing brace closes the box', '\\boxed{x\\}y}', 'x\\'],
    ['a box in a box: the inner one is the last', '\\boxed{1+\\boxed{2}}', '2'],
    ['braces out of order', '}}\\boxed{3}', '3'],
    ['an unclosed inner group', '\\boxed{\\frac{1}{2}', null],
    ['the command without a brace', '\\boxed 4', null],
    ['nothing', '', null],
  ])('%s', (_what, text, expected) => expect(lastBoxedAnswer(text)).toBe(expected));

  it('is searched for in the last 100 code points, whatever their size', () => {
    expect(lastBoxedAnswer(`\\boxed{3}${'🚲'.repeat(91)}`)).toBe('3');
    expect(lastBoxedAnswer(`\\boxed{3}${'🚲'.repeat(92)}`)).toBeNull();
    // A lone surrogate counts as one code point.
    expect(lastBoxedAnswer(`\\boxed{3}${'\udeb2'.repeat(91)}`)).toBe('3');
    expect(lastBoxedAnswer(`\\boxed{3}${'\udeb2'.repeat(92)}`)).toBeNull();
  });

  it('is compared as text', () => {
    expect(scoreBoxedAnswer('\\boxed{é}', 'e\u0301').score).toBe(-1);
    expect(scoreBoxedAnswer('no box', '')).toEqual({ score: -1, correct: false, prediction: null });
  });
});

describe('the last answer line', () => {
  it.each([
    ['blanks of other scripts around the colon', 'Answer\u2003:\u00a07', '7'],
    ['a byte-order mark is no white space in Python', 'Answer\ufeff: 7', null],
    ['a separator control is white space in Python', 'Answer\x1c: 7', '7'],
    ['a long s is an s', 'An\u017fwer: 7', '7'],
    ['the label twice in one line is one answer', 'Answer: 1 Answer: 2', '1 Answer: 2'],
    ['a label that nothing follows', 'Answer: 1\nAnswer:', '1'],
    ['a label that line breaks follow', 'Answer: 1\nAnswer:\n\n', '1'],
    ['a label that a blank line follows', 'Answer: 1\nAnswer:\n \n', ' '],
    ['a label whose answer is the next label', 'Answer:\nAnswer: 2', 'Answer: 2'],
  ])('%s', (_what, text, expected) => expect(lastAnswerLine(text)).toBe(expected));

  it('is compared in its normal form; a solution without one is wrong', () => {
    expect(scoreAnswerLine('Answer: $\\frac12$', '\\frac{1}{2}').correct).toBe(true);
    expect(scoreAnswerLine('nothing', '5')).toEqual({ score: -1, correct: false, prediction: '[INVALID]' });
  });
});

describe('normal form', () => {
  it.each([
    ['the first formula of each line', 'a$1$b$2$\nc$3$d', '1\n3'],
    ['one dollar sign is no formula', 'x$1', 'x1'],
    ['a command ends at the next closing brace', '\\text{x{y}z}', 'x{yz}'],
    ['a command that is never closed', '\\text{x', '\\text{x'],
    ['a box reaches to the last closing brace', '\\boxed{1}+{2}', '1}+{2'],
    ['operands are code points', '\\frac🚲2', '\\frac{🚲}{2}'],
    ['an operand that is missing', '\\frac1', '\\frac1'],
    ['a root of nothing', '\\sqrt', '\\sqrt'],
    ['operands that begin the next command', 'fracfracfrac', 'frac{f}{r}acfrac'],
    ['roots one after another', '\\sqrt2\\sqrt{3}\\sqrt5', '\\sqrt{2}\\sqrt{3}\\sqrt{5}'],
    ['commas between digits of any kind', '²,٣', '²٣'],
    ['commas alone', ',', ','],
    ['a word with white space that only Python trims', '\x857\x1c', '7'],
    ['a byte-order mark stays', '\ufeff7', '\ufeff7'],
  ])('%s', (_what, text, expected) => expect(normalizeFinalAnswer(text)).toBe(expected));
});

/** Hostile texts. Quadratic work on any of them would take minutes, far beyond the timeout of the test. */
describe('four megabytes of hostile text take linear time', () => {
  it.each([
    ['boxes', '\\boxed{'],
    ['braces', '{'],
    ['answers', 'Answer:'],
    ['answers with breaks', 'Answer:\n'],
    ['answers with spaces', 'Answer:        '],
    ['commands', '\\text{'],
    ['closed commands', '\\text{}'],
    ['fractions', '\\frac'],
    ['dollar signs', '$'],
    ['equals signs', '='],
    ['digits and commas', '1,'],
    ['line breaks', '\n'],
    ['dots before dollars', '.$'],
  ])('%s', { timeout: 20_000 }, (_what, unit) => {
    const text = unit.repeat(Math.ceil((4 * 1024 * 1024) / unit.length));
    expect(scoreBoxedAnswer(text, text).score).toBe(-1);
    expect(scoreAnswerLine(text, 'no such answer').score).toBe(-1);
    expect(lastAnswerLine(text)?.includes('no such answer')).not.toBe(true);
    expect(normalizeFinalAnswer(text)).not.toBe('no such answer');
  });
});
