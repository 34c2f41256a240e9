/**
 * JSON as Python's `json` module reads and prints it, because verl hands a call's arguments on as `json.dumps` text: key
 * order kept (JavaScript moves integer-like keys to the front), `1.0` not `1`, integers in full, `NaN` and `Infinity`
 * accepted. Behaviour: Python 3 documentation of `json`, and golden rows tcr-s108 to tcr-s112.
 */

/** An object is a map: the later of two equal keys wins, at the place of the first. */
export type PythonJson = null | boolean | string | PythonNumber | readonly PythonJson[] | PythonObject;
export type PythonObject = ReadonlyMap<string, PythonJson>;
/** A number by the text that Python prints for it; an integer may be too long for a JavaScript number. */
export class PythonNumber {
  readonly printed: string;
  constructor(printed: string) {
    this.printed = printed;
  }
}

/** Levels of arrays and objects. Python stops at its own recursion limit of about 1000; the exact level is ours. */
export const MAX_JSON_DEPTH = 900;
/** Python's default limit (`sys.int_info.default_max_str_digits`), beyond which it refuses to read an integer. */
export const MAX_INTEGER_DIGITS = 4300;

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
 * Reads one JSON value with nothing but blanks around it; `undefined` if the text is something else, or over one of the
 * limits above. Linear time, and nothing is thrown: a hostile text can hold very many elements that are no JSON, and an
 * exception costs more than reading one of them.
 */
export function readPythonJson(text: string): PythonJson | undefined {
  const reader = new JsonReader(text);
  const value = reader.value(0);
  return reader.atEnd() ? value : undefined;
}

/** Each reading method returns `undefined` where the text is not what it reads; then the whole text is no JSON. */
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

  /** A key and its colon. */
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

  /** Checked here, decoded by `JSON.parse`: within a string the two languages agree. */
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

  /** What stands after a backslash; of `\u…` the digits are checked here and passed over as text. */
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

  /** A point without a digit after it is no part of the number (and then stands where nothing may). */
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

/** The text of `json.dumps(value, ensure_ascii=False)`. */
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

/** As JavaScript prints it, but a lone surrogate stays as it is. */
function printString(text: string): string {
  if (text.isWellFormed()) return JSON.stringify(text);
  const printed = Array.from(text, (character) =>
    character.isWellFormed() ? JSON.stringify(character).slice(1, -1) : character,
  );
  return `"${printed.join('')}"`;
}

/** `float.__repr__`: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16 on. */
function printFloat(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${size}`;
  }
  // In this range JavaScript prints no exponent from 1e-6 up to 1e21.
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
