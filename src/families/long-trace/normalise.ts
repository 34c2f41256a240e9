/**
 * Normalises text for the entity search: lower case, runs of `[a-z0-9_]` and single CJK ideographs, joined by single
 * spaces. Everything else is a separator, accented letters, kana, Hangul and full-width digits included. That loses
 * text, but the published numbers were computed with this definition. Source: THU-KEG/LongTraceRL 415b6433,
 * `launch_server.py`, `normalize_string`.
 *
 * One pass by code unit, without `toLowerCase`: beyond ASCII only two characters have a lower case that begins with an
 * ASCII letter, so the result does not depend on a Unicode version.
 */
import { isAsciiDigit, isAsciiLetter } from '../../text/characters.ts';

const UNDERSCORE = 0x5f;
const FIRST_IDEOGRAPH = 0x4e00;
const LAST_IDEOGRAPH = 0x9fff;
/** The lower case of İ is i and a combining dot, which is a separator. */
const DOTTED_CAPITAL_I = 0x130;
const KELVIN_SIGN = 0x212a;

export function normalise(text: string): string {
  const tokens: string[] = [];
  let word = '';
  const endWord = () => {
    if (word !== '') tokens.push(word);
    word = '';
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiLetter(code)) word += String.fromCharCode(code | 0x20);
    else if (isAsciiDigit(code) || code === UNDERSCORE) word += String.fromCharCode(code);
    else if (code === KELVIN_SIGN) word += 'k';
    else {
      if (code === DOTTED_CAPITAL_I) word += 'i';
      endWord();
      if (code >= FIRST_IDEOGRAPH && code <= LAST_IDEOGRAPH) tokens.push(String.fromCharCode(code));
    }
  }
  endWord();
  return tokens.join(' ');
}
