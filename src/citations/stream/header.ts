/**
 * Where the header of a tag ends, unit by unit: the same reading as `readTag` (tags.ts), but able to stop anywhere. It
 * only finds the end; `readTag` then reads the header once. Closures and slices a unit would cost more than the reading.
 */
import { EQUALS, GREATER_THAN, isSpace, SLASH } from '../../text/characters.ts';
import { closingQuote, isIdSeparator } from '../tags.ts';

const BETWEEN = 0;
const NAME = 1;
const AFTER_NAME = 2;
const AFTER_EQUALS = 3;
const QUOTED = 4;
const UNQUOTED = 5;
const UNQUOTED_SPACE = 6;

export class HeaderEnd {
  #phase = BETWEEN;
  /** The quote that would close the value. */
  #quote = 0;
  /** Whether an id separator stands right before the place, inside an unquoted value. */
  #separated = false;

  begin(): void {
    this.#phase = BETWEEN;
  }

  /**
   * A value is quoted and not closed yet. If it never is, the quote counts as a mark inside an unquoted value, and the
   * header may have ended before: only `readTag` on the whole header can tell.
   */
  get inQuotes(): boolean {
    return this.#phase === QUOTED;
  }

  /** Takes one unit behind the tag's name. True if it is the `>` that ends the header. */
  takes(code: number): boolean {
    switch (this.#phase) {
      case BETWEEN:
        return this.#between(code);
      case NAME:
        return this.#name(code);
      case AFTER_NAME:
        if (isSpace(code)) return false;
        if (code !== EQUALS) return this.#between(code);
        this.#phase = AFTER_EQUALS;
        return false;
      case AFTER_EQUALS:
        return this.#valueStart(code);
      case QUOTED:
        if (code === this.#quote) this.#phase = BETWEEN;
        return false;
      case UNQUOTED:
        return this.#unquoted(code);
      default:
        if (isSpace(code)) return false;
        if (code === GREATER_THAN) return true;
        return this.#separated || isIdSeparator(code) ? this.#unquoted(code) : this.#between(code);
    }
  }

  #between(code: number): boolean {
    if (code === GREATER_THAN) return true;
    this.#phase = isSpace(code) || code === SLASH || code === EQUALS ? BETWEEN : NAME;
    return false;
  }

  #name(code: number): boolean {
    if (code === GREATER_THAN) return true;
    if (code === EQUALS) this.#phase = AFTER_EQUALS;
    else this.#phase = isSpace(code) ? AFTER_NAME : NAME;
    return false;
  }

  #valueStart(code: number): boolean {
    if (isSpace(code)) return false;
    this.#quote = closingQuote(code);
    this.#separated = false;
    if (this.#quote === -1) return this.#unquoted(code);
    this.#phase = QUOTED;
    return false;
  }

  #unquoted(code: number): boolean {
    if (code === GREATER_THAN) return true;
    if (isSpace(code)) {
      this.#phase = UNQUOTED_SPACE;
      return false;
    }
    this.#phase = UNQUOTED;
    this.#separated = isIdSeparator(code);
    return false;
  }
}
