/** Marks that end, close or open a sentence, by committed tables: the splitter's cuts enter judgment keys. */
import { CARRIAGE_RETURN, LINE_FEED } from './characters.ts';

export const FULL_STOP = 0x2e;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
const ELLIPSIS = 0x2026;

export const ORDINARY = 0;
export const STOP = 1;
export const STRONG_STOP = 2;
export const LINE_BREAK = 3;

/** Classes of the ASCII units; the scan looks no further at ordinary ones. */
const ASCII_CLASS = new Uint8Array(128);
ASCII_CLASS[FULL_STOP] = STOP;
ASCII_CLASS[0x21] = STOP;
ASCII_CLASS[0x3f] = STOP;
ASCII_CLASS[LINE_FEED] = LINE_BREAK;
ASCII_CLASS[CARRIAGE_RETURN] = LINE_BREAK;

export function classOf(code: number): number {
  if (code < 128) return ASCII_CLASS[code] ?? ORDINARY;
  switch (code) {
    case ELLIPSIS:
      return STOP;
    case 0x3002: // ideographic full stop
    case 0xff01: // fullwidth exclamation mark
    case 0xff1f: // fullwidth question mark
    case 0xff61: // halfwidth ideographic full stop
    case 0x61f: // Arabic question mark
    case 0x6d4: // Urdu full stop
    case 0x964: // danda
    case 0x965: // double danda
    case 0x589: // Armenian full stop
      return STRONG_STOP;
    case 0x2028:
    case 0x2029:
      return LINE_BREAK;
    default:
      return ORDINARY;
  }
}

/** Quotes and brackets that close after a full stop and still belong to its sentence. */
export function isCloser(code: number): boolean {
  switch (code) {
    case 0x22: // "
    case 0x27: // '
    case 0x29: // )
    case CLOSE_BRACKET:
    case 0x7d: // }
    case 0xbb: // »
    case 0x2019:
    case 0x201d:
    case 0x300d:
    case 0x300f:
    case 0xff09:
      return true;
    default:
      return false;
  }
}

/** Quotes and brackets that may open a sentence. */
export function isOpener(code: number): boolean {
  switch (code) {
    case 0x22:
    case 0x27:
    case 0x28: // (
    case OPEN_BRACKET:
    case 0x2a: // * of Markdown emphasis
    case 0x5f: // _
    case 0xab: // «
    case 0x2018:
    case 0x201c:
    case 0x201e:
    case 0x300c:
    case 0x300e:
    case 0xff08:
      return true;
    default:
      return false;
  }
}
