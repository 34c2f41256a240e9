import { LINE_FEED, POINT, STOP_MARK } from './byte-roles.ts';
import type { TokenList } from './token-list.ts';

/** A sentence for windows ends after this many tokens at the latest: a table or list without full stops is no sentence. */
const MAX_SENTENCE_TOKENS = 80;
/** "Dr.", "Jan.", "Inc.": a capitalised word this short before a full stop does not end a sentence. */
const MAX_ABBREVIATION_UNITS = 3;

// What lies between two tokens, as bits.
const SAW_POINT = 1;
const SAW_STOP = 2;
const SAW_NEWLINE = 4;
const SAW_BLANK_LINE = 8;

/** Where sentences begin in the text being read; rough, for windows only. */
export class SentenceBreaks {
  /** Index of the token that begins a sentence whatever lies before it. */
  latest = -1;
  private between = 0;

  begin(): void {
    this.latest = -1;
    this.between = 0;
  }

  /** Whether the next token may begin a sentence. */
  isPossible(list: TokenList): boolean {
    return this.between !== 0 || list.count >= this.latest;
  }

  /** Notes a mark between two tokens. */
  note(role: number): void {
    if (role === POINT) this.between |= SAW_POINT;
    else if (role === STOP_MARK) this.between |= SAW_STOP;
    else if (role === LINE_FEED) this.between |= (this.between & SAW_NEWLINE) === 0 ? SAW_NEWLINE : SAW_BLANK_LINE;
  }

  /** The same for a mark beyond ASCII. */
  noteUnit(unit: number): void {
    if (unit === 0x3002 || unit === 0xff01 || unit === 0xff1f || unit === 0x0964) this.between |= SAW_STOP;
  }

  /** To be told of the next token, which begins at `at`, before it is added. */
  beforeToken(list: TokenList, text: string, at: number): void {
    if (list.count >= this.latest || (this.between !== 0 && this.endsSentence(list, text, at))) {
      // A percent sign may have opened the first sentence already.
      if (this.latest >= 0 || list.count === list.first) list.startSentence();
      this.latest = list.count + MAX_SENTENCE_TOKENS;
    }
    this.between = 0;
  }

  private endsSentence(list: TokenList, text: string, at: number): boolean {
    const { between } = this;
    if ((between & (SAW_STOP | SAW_BLANK_LINE)) !== 0) return true;
    const initial = text.charCodeAt(at);
    const lowerCase = initial >= 97 && initial <= 122;
    if ((between & SAW_NEWLINE) !== 0) return !lowerCase || (between & SAW_POINT) !== 0;
    if (lowerCase || text.charCodeAt(at - 1) === 0x2e) return false;
    const last = list.count - 1;
    const start = list.starts[last] ?? 0;
    return (list.ends[last] ?? 0) - start > MAX_ABBREVIATION_UNITS || !isCapital(text, start);
  }
}

function isCapital(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 128) return unit >= 65 && unit <= 90;
  const initial = text.charAt(at);
  return initial !== initial.toLowerCase();
}
