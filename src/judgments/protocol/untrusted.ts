/**
 * Delimits untrusted text in a prompt: answers, tool output, titles, ids, rubrics, questions. Such text cannot close its
 * delimiters, because delimiters and the control tokens of chat templates need characters that are replaced in it: `<` and
 * `>` become `‹` and `›`, and the brackets around an upper-case word (`[INST]`) become `⁅⁆`. The mapping replaces one unit by
 * one unit, so offsets and lengths stay, and the prompt explains it to the judge. As a second safeguard each delimiter
 * contains a nonce of the content, which an imitation does not know.
 */
import { isAsciiDigit, isAsciiLetter, isLowSurrogate, SLASH } from '../../text/characters.ts';

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const UNDERSCORE = 0x5f;
/** Longest word in brackets that counts as a control token; those of known chat templates are shorter. */
const MAX_CONTROL_WORD_CHARS = 32;

/** Full-width bars and block marks, from which the chat templates of DeepSeek and others build control tokens. */
const CONTROL_UNITS: Readonly<Record<string, string>> = { '｜': '¦', '▁': '_', '\u0000': '\ufffd' };

/** Replaces everything that could act as a delimiter or control token. Keeps the length; linear. */
export function neutralise(text: string): string {
  let safe = '';
  let from = 0;
  const replace = (at: number, replacement: string): void => {
    safe += text.slice(from, at) + replacement;
    from = at + 1;
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === LESS_THAN) replace(i, '‹');
    else if (code === GREATER_THAN) replace(i, '›');
    else if (code === OPEN_BRACKET) {
      const close = controlWordEnd(text, i + 1);
      if (close !== -1) {
        replace(i, '⁅');
        replace(close, '⁆');
        i = close;
      }
    } else if (code > 0x7f || code === 0) {
      const control = CONTROL_UNITS[text.charAt(i)];
      if (control !== undefined) replace(i, control);
      // A lone surrogate cannot be sent: it becomes U+FFFD, as in an encoder.
      else if (code >= 0xd800 && code <= 0xdfff) {
        if (code <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) i++;
        else replace(i, '\ufffd');
      }
    }
  }
  return from === 0 ? text : safe + text.slice(from);
}

/**
 * Returns the end of `INST]`, `/INST]`, `TOOL_CALLS]` or `control_8]` after an opening bracket, else -1. A word with digits
 * needs an underscore: `[1]` and `[S1]` are citation markers and stay.
 */
function controlWordEnd(text: string, from: number): number {
  let i = text.charCodeAt(from) === SLASH ? from + 1 : from;
  const start = i;
  const limit = Math.min(text.length, start + MAX_CONTROL_WORD_CHARS);
  let digits = false;
  let underscores = false;
  for (; i < limit; i++) {
    const code = text.charCodeAt(i);
    if (code === UNDERSCORE) underscores = true;
    else if (isAsciiDigit(code)) digits = true;
    else if (!isAsciiLetter(code)) break;
  }
  return i > start && text.charCodeAt(i) === CLOSE_BRACKET && (underscores || !digits) ? i : -1;
}

/** Neutralises a text for an attribute: no quotes, no line breaks. */
export function neutraliseAttribute(text: string): string {
  let safe = '';
  for (const unit of neutralise(text)) safe += unit === '"' ? '”' : /\s/u.test(unit) ? ' ' : unit;
  return safe;
}

/**
 * Twelve hex digits of a 2 x 32 bit FNV-1a hash of the texts. Equal content gives equal nonces, so prompts stay cacheable. The
 * nonce need not be secret: neutralised text cannot contain a delimiter anyway.
 */
export function contentNonce(texts: readonly string[]): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ (code + 0x9e37), 0x85ebca6b);
    }
    a = Math.imul(a ^ 0x1f, 0x01000193);
    b = Math.imul(b ^ 0x1f, 0xc2b2ae35);
  }
  const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');
  return (hex(a) + hex(b)).slice(0, 12);
}

/** One block of data between delimiters. Neutralises the text and the values of the attributes. */
export function dataBlock(
  name: string,
  nonce: string,
  attributes: Readonly<Record<string, string>>,
  text: string,
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${neutraliseAttribute(value)}"`);
  return `<${name}-${nonce}${written.join('')}>\n${neutralise(text)}\n</${name}-${nonce}>`;
}
