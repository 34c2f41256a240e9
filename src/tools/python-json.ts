/**
 * Reads and prints JSON like Python's `json` module, because verl passes the arguments of a call on as `json.dumps`
 * text. Unlike JavaScript, Python keeps the order of integer-like keys, prints `1.0` as `1.0`, keeps all digits of
 * integers, and accepts `NaN` and `Infinity`. Source: Python 3 documentation of `json`, and golden rows tcr-s108 to
 * tcr-s112.
 */

/**
 * A JSON value. An object is a map; of two equal keys, the value of the later one is kept at the place of the first.
 */
export type PythonJson = null | boolean | string | PythonNumber | readonly PythonJson[] | PythonObject;
type PythonObject = ReadonlyMap<string, PythonJson>;
/** A number as Python prints it. An integer may have more digits than a JavaScript number can hold. */
export class PythonNumber {
  readonly printed: string;
  constructor(printed: string) {
    this.printed = printed;
  }
}

/**
 * Deepest nesting of arrays and objects. Python stops at its recursion limit, at about 1000; the exact number is ours.
 */
const MAX_JSON_DEPTH = 900;
/** Most digits of an integer: Python's default limit, `sys.int_info.default_max_str_digits`. */
const MAX_INTEGER_DIGITS = 4300;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const WORDS: readonly (readonly [string, PythonJson])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', new PythonNumber('NaN')],
  ['Infinity', new PythonNumber('Infinity')],
  ['-Infinity', new PythonNumber('-Infinity')],
];

/**
 * Reads a text that is one JSON value, with optional white space around it. Returns `undefined` if it is not, or if it
 * exceeds the limits above. Takes linear time. Never throws, because hostile text can hold many elements that are not
 * JSON, and an exception costs more than reading one of them.
 */
export function readPythonJson(text: string): PythonJson | undefined {
  const reader = new JsonReader(text);
  const value = reader.value(0);
  return reader.atEnd() ? value : undefined;
}

/** A recursive-descent parser. A method returns `undefined` if the text is invalid; then the whole text is. */
class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): PythonJson | undefined {
    this.#skipBlanks();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#wordOrNumber();
    }
  }

  atEnd(): boolean {
    this.#skipBlanks();
    return this.#at === this.#text.length;
  }

  #object(depth: number): PythonObject | undefined {
    const entries = new Map<string, PythonJson>();
    if (depth >= MAX_JSON_DEPTH) return undefined;
    this.#at++;
    if (this.#take('}')) return entries;
    do {
      const key = this.#key();
      const value = key === undefined ? undefined : this.value(depth + 1);
      if (key === undefined || value === undefined) return undefined;
      entries.set(key, value);
    } while (this.#take(','));
    return this.#take('}') ? entries : undefined;
  }

  /** Reads a key and its colon. */
  #key(): string | undefined {
    this.#skipBlanks();
    const key = this.#text[this.#at] === '"' ? this.#string() : undefined;
    return this.#take(':') ? key : undefined;
  }

  #array(depth: number): readonly PythonJson[] | undefined {
    const items: PythonJson[] = [];
    if (depth >= MAX_JSON_DEPTH) return undefined;
    this.#at++;
    if (this.#take(']')) return items;
    do {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#take(','));
    return this.#take(']') ? items : undefined;
  }

  /** Reads a string: finds its end, and lets `JSON.parse` decode it, since both languages agree on strings. */
  #string(): string | undefined {
    const start = this.#at;
    for (let at = start + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code < SPACE) return undefined;
      if (code === BACKSLASH) {
        at++;
        if (!this.#isEscape(at)) return undefined;
      } else if (code === QUOTE) {
        this.#at = at + 1;
        return JSON.parse(this.#text.slice(start, this.#at));
      }
    }
    return undefined;
  }

  /** Returns whether an escape sequence follows the backslash before `at`. */
  #isEscape(at: number): boolean {
    const character = this.#text[at];
    if (character !== 'u') return character !== undefined && '"\\/bfnrt'.includes(character);
    for (let digit = at + 1; digit <= at + 4; digit++) {
      const folded = this.#text.charCodeAt(digit) | 0x20;
      if (!this.#isDigit(digit) && !(folded >= 0x61 && folded <= 0x66)) return false;
    }
    return true;
  }

  #wordOrNumber(): PythonJson | undefined {
    if (this.#isDigit(this.#at)) return this.#number();
    const found = WORDS.find(([word]) => this.#text.startsWith(word, this.#at));
    if (found === undefined) return this.#number();
    this.#at += found[0].length;
    return found[1];
  }

  #number(): PythonNumber | undefined {
    const start = this.#at;
    if (this.#text[this.#at] === '-') this.#at++;
    const firstDigit = this.#at;
    if (this.#text[this.#at] === '0') this.#at++;
    else this.#skipDigits();
    const integerEnd = this.#at;
    if (integerEnd === firstDigit) return undefined;
    this.#skipFraction();
    this.#skipExponent();
    const written = this.#text.slice(start, this.#at);
    if (this.#at > integerEnd) return new PythonNumber(printFloat(Number(written)));
    if (integerEnd - firstDigit > MAX_INTEGER_DIGITS) return undefined;
    return new PythonNumber(written === '-0' ? '0' : written);
  }

  /** Skips a fraction. A point without a digit after it is no part of the number, which makes the text invalid. */
  #skipFraction(): void {
    if (this.#text[this.#at] === '.' && this.#isDigit(this.#at + 1)) {
      this.#at++;
      this.#skipDigits();
    }
  }

  #skipExponent(): void {
    const letter = this.#text[this.#at];
    if (letter !== 'e' && letter !== 'E') return;
    const sign = this.#text[this.#at + 1];
    const digits = this.#at + (sign === '+' || sign === '-' ? 2 : 1);
    if (!this.#isDigit(digits)) return;
    this.#at = digits;
    this.#skipDigits();
  }

  #skipDigits(): void {
    while (this.#isDigit(this.#at)) this.#at++;
  }

  #isDigit(at: number): boolean {
    const character = this.#text[at];
    return character !== undefined && character >= '0' && character <= '9';
  }

  #take(character: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipBlanks(): void {
    for (;;) {
      const character = this.#text[this.#at];
      if (character !== ' ' && character !== '\t' && character !== '\n' && character !== '\r') return;
      this.#at++;
    }
  }
}

/** Returns the text of `json.dumps(value, ensure_ascii=False)`. */
export function printPythonJson(value: PythonJson): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'string') return printString(value);
  if (value instanceof PythonNumber) return value.printed;
  if (isPythonObject(value)) {
    return `{${[...value].map(([key, item]) => `${printString(key)}: ${printPythonJson(item)}`).join(', ')}}`;
  }
  return `[${value.map(printPythonJson).join(', ')}]`;
}

export function isPythonObject(value: PythonJson): value is PythonObject {
  return value instanceof Map;
}

/** Prints a string like JavaScript, but does not escape lone surrogates. */
function printString(text: string): string {
  if (text.isWellFormed()) return JSON.stringify(text);
  const printed = Array.from(text, (character) =>
    character.isWellFormed() ? JSON.stringify(character).slice(1, -1) : character,
  );
  return `"${printed.join('')}"`;
}

/** Prints like `float.__repr__`: the shortest digits that round-trip, with an exponent below 1e-4 and from 1e16 on. */
function printFloat(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  // JavaScript prints no exponent in this range.
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
