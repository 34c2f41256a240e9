/**
 * Reads the values that Python, pandas and numpy print, as a CSV cell has them: lists, tuples, dictionaries, arrays,
 * texts with all escapes of Python, numbers and constants. What cannot be read exactly is an error, never a guess.
 */
import type { Result } from '../../result.ts';

/**
 * The JSON value of a printed list, tuple, dictionary or array: `['a', "b"]`, `('a', None)`, `{'weight': 1.0}`,
 * `['a' 'b']` and `array(['a'], dtype=object)` of numpy, `[np.str_('a')]` of numpy 2. None, nan and NaT are null.
 * Linear time.
 * @returns the value, or what is not read and where, such as `\N{…} at character 3: write the character itself`.
 * @example pythonValue("['caf\\xe9', None]") // { ok: true, value: ['café', null] }
 */
export function pythonValue(text: string): Result<unknown, string> {
  try {
    return { ok: true, value: new PythonReader(text).whole() };
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
    return { ok: false, error: error.message };
  }
}

/** Why a text is no value; caught by `pythonValue` alone. */
class Unread extends Error {}

/** Deeper lists are not read, so that the depth of calls is bounded. */
const MAX_DEPTH = 64;

const NUMPY = /^(?:np|numpy)\./;
const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['None', 'nan', 'NaN', 'NaT', '<NA>', 'null'].map((name) => [name, null] as const),
  ...['True', 'True_', 'true'].map((name) => [name, true] as const),
  ...['False', 'False_', 'false'].map((name) => [name, false] as const),
]);
/** Calls around a list. */
const LISTS: ReadonlySet<string> = new Set(['array', 'list', 'tuple']);
/** Calls around a single value that JSON has: scalars of numpy 2, and texts of dates and ids. */
const SCALARS = /^(?:str_|bool_?|u?int(?:8|16|32|64)|float(?:16|32|64)|datetime64|Timestamp|UUID)$/;

const SPACES = /\s*/y;
const NAME = /<NA>|[A-Za-z_][\w.]*/y;
const NUMBER = /[+-]?(?:(?:0|[1-9][\d_]*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
const KEYWORD = /[A-Za-z_]\w*\s*=\s*(?:[A-Za-z_][\w.]*(?:\([\w=., ]*\))?(?![\w.('"]))?/y;
/** A stretch of a text without backslash or the quote that ends it. */
const PLAIN = { "'": /[^\\']*/y, '"': /[^\\"]*/y } as const;
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(\r\n|.))/sy;
const SIMPLE: ReadonlyMap<string, string> = new Map([
  ...[...`\\'"`].map((character) => [character, character] as const),
  ...(['\n', '\r\n', '\r'] as const).map((lineBreak) => [lineBreak, ''] as const),
  ...([...'abfnrtv'] as const).map((letter, n) => [letter, '\x07\b\f\n\r\t\v'.charAt(n)] as const),
]);

class PythonReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    this.#take(SPACES);
    const value = this.#value();
    this.#take(SPACES);
    if (this.#at < this.#text.length) throw this.#unread('more text');
    return value;
  }

  #value(): unknown {
    if (++this.#depth > MAX_DEPTH) throw this.#unread(`more than ${MAX_DEPTH} levels`);
    const value = this.#anyValue();
    this.#depth--;
    return value;
  }

  #anyValue(): unknown {
    const character = this.#peek();
    if (character === "'" || character === '"') return this.#string(character);
    if (character === '[' || character === '(' || character === '{') return this.#bracketed(character);
    const number = this.#take(NUMBER);
    return number === '' ? this.#named() : this.#number(number);
  }

  #bracketed(opening: '[' | '(' | '{'): unknown {
    this.#at++;
    return opening === '{' ? this.#dictionary() : this.#list(opening);
  }

  /** Members are separated by commas; those of a printed array by spaces, where Python itself would join texts. */
  #list(opening: '[' | '('): unknown[] {
    const closing = opening === '[' ? ']' : ')';
    const members: unknown[] = [];
    let separator: ',' | ' ' | null = null;
    while (!this.#ends(closing)) {
      if (this.#text.startsWith('...', this.#at)) {
        throw this.#unread('members that numpy left out (...)', 'save the column as lists, or as JSON');
      }
      members.push(this.#value());
      const hasSpace = /\s/.test(this.#peek());
      const hasComma = this.#comma();
      const isLast = this.#peek() === closing;
      if (isLast && !hasComma) continue;
      if (!hasComma && (opening === '(' || !hasSpace)) throw this.#unread('a missing comma');
      const found = hasComma ? ',' : ' ';
      if (separator !== null && separator !== found) throw this.#unread('commas and spaces between members');
      separator = found;
    }
    if (opening === '(' && members.length === 1 && separator === null)
      throw this.#unread('parentheses without a comma');
    return members;
  }

  #dictionary(): unknown {
    const entries: [string, unknown][] = [];
    while (!this.#ends('}')) {
      const key = this.#value();
      if (typeof key !== 'string') throw this.#unread('a key that is no text');
      this.#take(SPACES);
      if (this.#peek() !== ':') throw this.#unread('a key without a value');
      this.#at++;
      this.#take(SPACES);
      entries.push([key, this.#value()]);
      if (!this.#comma() && this.#peek() !== '}') throw this.#unread('a missing comma');
    }
    return Object.fromEntries(entries);
  }

  /** A constant, a text with a prefix, or a call such as `array(…)`. */
  #named(): unknown {
    const start = this.#at;
    const name = this.#take(NAME).replace(NUMPY, '');
    const next = this.#peek();
    const unread = (what: string, advice?: string): Unread => {
      this.#at = start;
      return this.#unread(what, advice);
    };
    if ((next === "'" || next === '"') && /^u$/i.test(name)) return this.#string(next);
    if ((next === "'" || next === '"') && name !== '')
      throw unread(`a text with the prefix ${name}`, 'write it as text');
    if (next !== '(') {
      const constant = CONSTANTS.get(name);
      if (constant === undefined) throw unread(name === '' ? 'text' : `the word ${name}`);
      return constant;
    }
    if (!LISTS.has(name) && !SCALARS.test(name)) throw unread(`${name}(…), an object`, 'write its text or its fields');
    this.#at++;
    this.#take(SPACES);
    const value = LISTS.has(name) && this.#peek() === ')' ? [] : this.#value();
    while (this.#comma()) {
      if (this.#peek() === ')') break;
      const keyword = this.#take(KEYWORD);
      if (keyword === '') throw unread(`${name}(…) with several values`);
      if (keyword.trimEnd().endsWith('=')) this.#value();
    }
    if (!this.#ends(')') || LISTS.has(name) !== Array.isArray(value)) throw unread(`${name}(…)`);
    return value;
  }

  #number(digits: string): number {
    const value = Number(digits.replaceAll('_', ''));
    const isExact = /[.eE]/.test(digits) ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (!isExact) throw this.#unread('a number that JSON does not hold exactly', 'write it as text');
    return value;
  }

  #string(quote: "'" | '"'): string {
    this.#at++;
    const pieces: string[] = [];
    for (;;) {
      pieces.push(this.#take(PLAIN[quote]));
      if (this.#at >= this.#text.length) throw this.#unread('a text without an end');
      if (this.#peek() === quote) break;
      pieces.push(this.#escape());
    }
    this.#at++;
    return pieces.join('');
  }

  /** An escape as Python reads it: behind another character the backslash stays. */
  #escape(): string {
    ESCAPE.lastIndex = this.#at;
    const [all = '', byte, short, long, octal, other = ''] = ESCAPE.exec(this.#text) ?? [];
    const digits = byte ?? short ?? long;
    const code = octal === undefined ? Number.parseInt(digits ?? '', 16) : Number.parseInt(octal, 8);
    if (other === 'N') throw this.#unread('\\N{…}, the name of a character', 'write the character itself');
    if (all === '' || 'xuU'.includes(other || '-') || code > 0x10ffff) throw this.#unread('an escape that is cut off');
    this.#at += all.length;
    return Number.isNaN(code) ? (SIMPLE.get(other) ?? `\\${other}`) : String.fromCodePoint(code);
  }

  /** Whether the closing bracket is next; it is passed. @throws Unread at the end of the text */
  #ends(closing: string): boolean {
    this.#take(SPACES);
    if (this.#at >= this.#text.length) throw this.#unread('a bracket without an end');
    if (this.#peek() !== closing) return false;
    this.#at++;
    return true;
  }

  /** Whether a comma is next; it is passed with the spaces around it. */
  #comma(): boolean {
    this.#take(SPACES);
    if (this.#peek() !== ',') return false;
    this.#at++;
    this.#take(SPACES);
    return true;
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #unread(what: string, advice?: string): Unread {
    return new Unread(`${what} at character ${this.#at + 1}${advice === undefined ? '' : `: ${advice}`}`);
  }
}
