/**
 * The lenient reading of a math answer: the last `Answer: …` line, and the normal form in which two answers are compared.
 * Formula: `verl/utils/reward_score/math_dapo.py`, Gen-Verse/Open-AgentRL 1fe5dbd2. The normal form is the reference's,
 * oddities included (`subunits` becomes `sub`): a reward that is reproduced must compare what the reference compares.
 * Only edge cases of Python's own text rules are written out here; every step is one pass.
 */
import { isPythonSpace, stripPythonSpace } from './python-text.ts';

const LABEL = 'answer';
const COLON = 0x3a;
const LINE_FEED = 0x0a;
/** Python's case-insensitive match takes U+017F for an s. */
const LONG_S = 0x17f;

/** The text of the last `Answer: …` line, untrimmed; `null` if there is none. The label counts inside longer words too. */
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

/** A colon, white space over any number of lines, then text up to the end of its line. */
function answerAfterLabel(text: string, from: number): { readonly start: number; readonly end: number } | null {
  const colon = skipSpace(text, from);
  if (text.charCodeAt(colon) !== COLON) return null;
  let start = skipSpace(text, colon + 1);
  // Nothing but white space to the end: the last of it that is no line feed is the (blank) answer.
  if (start === text.length) {
    while (text.charCodeAt(start - 1) === LINE_FEED) start--;
    start--;
    if (start === colon) return null;
  }
  const lineFeed = text.indexOf('\n', start);
  return { start, end: lineFeed === -1 ? text.length : lineFeed };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isPythonSpace(text.charCodeAt(at))) at++;
  return at;
}

/** In this order; each pass sees what the one before it left. */
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

/** Removed after that, in this order, inside longer words too. */
const REMOVED: readonly string[] = [
  ...['square', 'ways', 'integers', 'dollars', 'mph', 'inches', 'hours', 'km', 'units', '\\ldots', 'sue', 'points'],
  ...['feet', 'minutes', 'digits', 'cents', 'degrees', 'cm', 'gm', 'pounds', 'meters', 'meals', 'edges', 'students'],
  // One word in the reference, so neither of the two is removed alone.
  'childrentickets',
  ...['multiples', '\\text{s}', '\\text{.}', '\\text{\ns}', '\\text{}^2', '\\text{}^3', '\\text{\n}', '\\text{}'],
  ...['\\mathrm{th}', '^\\circ', '^{\\circ}', '\\;', ',\\!', '{,}', '"', '\\dots'],
];

/** `str.isdigit`: decimal digits of every script, and the digits that have another form (superscripts, circled ones). */
const ALL_DIGITS =
  /^[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u;

/** The normal form of a final answer; two answers are equal if their normal forms are the same text. */
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

/** Formula delimiters and text commands peeled off one line; none of them reaches over a line break. */
function peelLine(line: string): string {
  let text = firstFormula(line);
  for (const opener of ['\\text{', '\\textbf{', '\\overline{']) text = peelCommand(text, opener);
  return peelBox(text);
}

/** A line with a formula between dollar signs is that formula: the first one. */
function firstFormula(line: string): string {
  const open = line.indexOf('$');
  const close = open === -1 ? -1 : line.indexOf('$', open + 1);
  return close === -1 ? line : line.slice(open, close + 1);
}

/** Each opener with the next closing brace becomes what is between them; braces are not matched. */
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

const BOX = '\\boxed{';

/** The first box reaches to the last closing brace of its line. */
function peelBox(line: string): string {
  const at = line.indexOf(BOX);
  const close = line.lastIndexOf('}');
  if (at === -1 || close < at + BOX.length) return line;
  return line.slice(0, at) + line.slice(at + BOX.length, close) + line.slice(close + 1);
}

/**
 * `\frac12` with its braces, `\sqrt3` with its own: `operands` code points after the command, if the first is no opening
 * brace and the second, where there is one, no line feed.
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

/** The code point at a place as text; empty at the end. */
function codePointAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
