/**
 * Scores the answer of a math problem: 1 or -1, by the last `\boxed{…}` (strict) or by the last `Answer: …` line
 * (lenient).
 *
 * Formula: `verl/utils/reward_score/math_dapo.py`, Gen-Verse/Open-AgentRL 1fe5dbd2. GRPO-TCR uses the strict rule. The
 * normal form of an answer follows the formula exactly, oddities included (`subunits` becomes `sub`), because a
 * reproduced reward must compare what the original compares. Both rules read a fixed number of code points at the end
 * of the solution.
 */
import { lastCodePoints, skipPythonSpace, stripPythonSpace } from '../text/python-text.ts';

/** Code points at the end of a solution that the strict and the lenient rule read. */
const BOX_WINDOW = 100;
const ANSWER_LINE_WINDOW = 300;

/** The formula's prediction for a solution without an answer line. */
const INVALID_ANSWER = '[INVALID]';

const BOX = '\\boxed{';
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The outcome of a math answer. `score` is 1 if it is correct, else -1. */
type MathOutcome = {
  readonly score: 1 | -1;
  readonly correct: boolean;
  /** The text that was compared: the content of the box, or the normalised answer line; `null` without a box. */
  readonly prediction: string | null;
};

/**
 * Returns the content of the last `\boxed{…}` in the last 100 code points, with matched braces; an escaped brace counts
 * as a brace. Returns `null` if there is no box, or if the last box is never closed, even if a complete one precedes it
 * (like the formula's code).
 *
 * @example
 * lastBoxedAnswer('So the answer is \\boxed{42}.'); // '42'
 */
export function lastBoxedAnswer(solution: string): string | null {
  const text = lastCodePoints(solution, BOX_WINDOW);
  const box = text.lastIndexOf(BOX);
  if (box === -1) return null;
  const start = box + BOX.length;
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPENING_BRACE) depth++;
    else if (code === CLOSING_BRACE && --depth === 0) return text.slice(start, at);
  }
  return null;
}

/**
 * Scores by the strict rule: the content of the last box must equal the reference answer exactly. Neither side is
 * trimmed or normalised.
 *
 * @example
 * scoreBoxedAnswer('So the answer is \\boxed{42}.', '42').score; // 1
 */
export function scoreBoxedAnswer(solution: string, referenceAnswer: string): MathOutcome {
  return outcome(lastBoxedAnswer(solution), referenceAnswer);
}

/** Scores by the lenient rule: the last answer line and the reference answer must have the same normal form. */
export function scoreAnswerLine(solution: string, referenceAnswer: string): MathOutcome {
  const line = lastAnswerLine(lastCodePoints(solution, ANSWER_LINE_WINDOW)) ?? INVALID_ANSWER;
  return outcome(normalizeFinalAnswer(line), normalizeFinalAnswer(referenceAnswer));
}

function outcome(prediction: string | null, expected: string): MathOutcome {
  const correct = prediction === expected;
  return { score: correct ? 1 : -1, correct, prediction };
}

const LABEL = 'answer';
const COLON = 0x3a;
const LINE_FEED = 0x0a;
/** Python's case-insensitive match treats U+017F as an s. */
const LONG_S = 0x17f;

/** Returns the text of the last `Answer: …` line, untrimmed, or `null`. The label also matches inside longer words. */
export function lastAnswerLine(text: string): string | null {
  let last: string | null = null;
  for (let at = 0; at < text.length; ) {
    const line = isLabel(text, at) ? answerAfterLabel(text, at + LABEL.length) : null;
    if (line === null) at++;
    else {
      last = text.slice(line.start, line.end);
      at = line.end;
    }
  }
  return last;
}

function isLabel(text: string, at: number): boolean {
  for (let n = 0; n < LABEL.length; n++) {
    const code = text.charCodeAt(at + n);
    const folded = code === LONG_S ? 0x73 : code | 0x20;
    if (folded !== LABEL.charCodeAt(n)) return false;
  }
  return true;
}

/** Reads a colon, white space over any number of lines, then text up to the end of its line. */
function answerAfterLabel(text: string, from: number): { readonly start: number; readonly end: number } | null {
  const colon = skipPythonSpace(text, from);
  if (text.charCodeAt(colon) !== COLON) return null;
  let start = skipPythonSpace(text, colon + 1);
  // Only white space follows. The answer is its last unit that is not a line feed.
  if (start === text.length) {
    while (text.charCodeAt(start - 1) === LINE_FEED) start--;
    start--;
    if (start === colon) return null;
  }
  const lineFeed = text.indexOf('\n', start);
  return { start, end: lineFeed === -1 ? text.length : lineFeed };
}

/** Replacements, applied one after the other in this order. */
const REPLACED: readonly (readonly [string, string])[] = [
  ['an ', ''],
  ['a ', ''],
  ['.$', '$'],
  ['\\$', ''],
  ['\\ ', ''],
  [' ', ''],
  ['mbox', 'text'],
  [',\\text{and}', ','],
  ['\\text{and}', ','],
  ['\\text{m}', '\\text{}'],
];

/** Texts removed after the replacements of `REPLACED`, in this order, also inside longer words. */
const REMOVED: readonly string[] = [
  ...['square', 'ways', 'integers', 'dollars', 'mph', 'inches', 'hours', 'km', 'units', '\\ldots', 'sue', 'points'],
  ...['feet', 'minutes', 'digits', 'cents', 'degrees', 'cm', 'gm', 'pounds', 'meters', 'meals', 'edges', 'students'],
  // The formula lacks a comma here, so neither "children" nor "tickets" is removed alone.
  'childrentickets',
  ...['multiples', '\\text{s}', '\\text{.}', '\\text{\ns}', '\\text{}^2', '\\text{}^3', '\\text{\n}', '\\text{}'],
  ...['\\mathrm{th}', '^\\circ', '^{\\circ}', '\\;', ',\\!', '{,}', '"', '\\dots'],
];

/** Python's `str.isdigit`: decimal digits of every script, superscripts and circled digits. */
const ALL_DIGITS =
  /^[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u;

/** Returns the normal form of an answer. Two answers are equal if their normal forms are equal. */
export function normalizeFinalAnswer(answer: string): string {
  let text = answer.slice(answer.lastIndexOf('=') + 1);
  for (const [from, to] of REPLACED) text = text.split(from).join(to);
  for (const word of REMOVED) text = text.split(word).join('');
  text = text.split('\n').map(peelLine).join('\n');
  text = braceShorthand(text, 'frac', 2);
  text = braceShorthand(text, 'sqrt', 1);
  text = text.split('$').join('');
  const withoutCommas = text.split(',').join('');
  return stripPythonSpace(ALL_DIGITS.test(withoutCommas) ? withoutCommas : text);
}

/** Removes formula delimiters and text commands from one line. None of them spans a line break. */
function peelLine(line: string): string {
  let text = firstFormula(line);
  for (const opener of ['\\text{', '\\textbf{', '\\overline{']) text = peelCommand(text, opener);
  return peelBox(text);
}

/** Reduces a line to its first formula between dollar signs, if it has one. */
function firstFormula(line: string): string {
  const open = line.indexOf('$');
  const close = open === -1 ? -1 : line.indexOf('$', open + 1);
  return close === -1 ? line : line.slice(open, close + 1);
}

/** Replaces each opener and the next closing brace by the text between them. Braces are not matched. */
function peelCommand(line: string, opener: string): string {
  let peeled = '';
  let done = 0;
  for (let at = line.indexOf(opener); at !== -1; at = line.indexOf(opener, done)) {
    const close = line.indexOf('}', at + opener.length);
    if (close === -1) break;
    peeled += line.slice(done, at) + line.slice(at + opener.length, close);
    done = close + 1;
  }
  return peeled + line.slice(done);
}

/** Replaces the first box by its content. It ends at the last closing brace of the line. */
function peelBox(line: string): string {
  const at = line.indexOf(BOX);
  const close = line.lastIndexOf('}');
  if (at === -1 || close < at + BOX.length) return line;
  return line.slice(0, at) + line.slice(at + BOX.length, close) + line.slice(close + 1);
}

/**
 * Adds the braces to `\frac12` and `\sqrt3`: one around each of the `operands` code points after the command. Applies
 * if the first operand is no opening brace and the second is no line feed.
 */
function braceShorthand(text: string, command: string, operands: 1 | 2): string {
  let written = '';
  let done = 0;
  let next = 0;
  for (let at = text.indexOf(command); at !== -1; at = text.indexOf(command, next)) {
    next = at + command.length;
    const first = codePointAt(text, next);
    if (first === '' || first === '{') continue;
    const second = operands === 2 ? codePointAt(text, next + first.length) : '';
    if (operands === 2 && (second === '' || second === '\n')) continue;
    written += `${text.slice(done, at)}${command}{${first}}${operands === 2 ? `{${second}}` : ''}`;
    done = next + first.length + second.length;
    next = done;
  }
  return written + text.slice(done);
}

/** Returns the code point at `at` as text, or '' at the end. */
function codePointAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
