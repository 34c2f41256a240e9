/**
 * Splits a stream of JSON values into lines, one value a line: the elements of an array, or objects that are printed
 * over several lines. It follows brackets and strings only, so memory does not grow with the values; whether a value is
 * JSON is found out when its line is read.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const COMMA = 0x2c;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BREAKS: ReadonlySet<number> = new Set([0x0a, 0x0d]);
const SPACE = 0x20;
/** Replaces a line break within a string. JSON allows neither character there, so the value stays invalid. */
const UNIT_SEPARATOR = 0x1f;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Yields the values of an array, or the values of the stream if it is no array.
 * @param onOpenArray called at the end if the array is not closed, and no value of it is cut.
 */
export async function* jsonValueLines(
  chunks: AsyncIterable<Uint8Array>,
  onOpenArray: () => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  let inArray = false;
  /** Open brackets of the value that is being read; `null` = between two values. */
  let depth: number | null = null;
  let inString = false;
  let escaped = false;
  for await (const chunk of chunks) {
    const hasMark = isFirst && BYTE_ORDER_MARK.every((byte, at) => chunk[at] === byte);
    isFirst = false;
    // Each byte becomes one byte, and a value is ended by one more.
    const out = new Uint8Array(2 * chunk.byteLength);
    let written = 0;
    for (const byte of hasMark ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk) {
      if (depth === null) {
        if (SPACES.has(byte) || (inArray && byte === COMMA)) continue;
        if (byte === OPENING_BRACKET && !inArray) {
          inArray = true;
          continue;
        }
        if (byte === CLOSING_BRACKET && inArray) {
          inArray = false;
          continue;
        }
        depth = 0;
      } else if (
        depth === 0 &&
        !inString &&
        (SPACES.has(byte) || (inArray && (byte === COMMA || byte === CLOSING_BRACKET)))
      ) {
        // The end of a number or a word; brackets and strings end below.
        out[written++] = LINE_FEED;
        depth = null;
        if (byte === CLOSING_BRACKET) inArray = false;
        continue;
      }
      out[written++] = !BREAKS.has(byte) ? byte : inString ? UNIT_SEPARATOR : SPACE;
      if (inString) {
        if (!escaped && byte === QUOTE) inString = false;
        escaped = !escaped && byte === BACKSLASH;
      } else if (byte === QUOTE) inString = true;
      else if (OPENING.has(byte)) depth++;
      else if (CLOSING.has(byte)) {
        depth--;
        if (depth <= 0) {
          out[written++] = LINE_FEED;
          depth = null;
        }
      }
    }
    if (written > 0) yield out.subarray(0, written);
  }
  if (inArray && depth === null) onOpenArray();
}
