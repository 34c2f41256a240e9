/**
 * Finds what defines the sources of an answer and so is neither claim nor citation: the list of references at its end,
 * and definitions (`[^1]: title`, `[1]: https://…`) on lines of their own. Reads line by line.
 *
 * - A list begins with a heading. Each later line is blank, holds a web address, has its number here and its address on
 *   the next line, or is a title behind an id in brackets (`- [1] title`). One other line, and there is no list; so no
 *   prose is taken for references. After a blank line, entries `[1] … https://…` need no heading.
 * - A title is short, and an id has one. Ids of titles are numbers or ids of sources. A number without brackets
 *   (`1. title`) is the id of a source.
 * - Indented lines continue a definition, as long as it stays as short as a title.
 */
import {
  hasContent,
  isAsciiDigit,
  isAsciiLetter,
  isHighSurrogate,
  isLowSurrogate,
  isSpace,
} from '../text/characters.ts';
import { isBlank, type Span } from '../text/span.ts';
import { bracketedId, entryNumber, firstUrl, isNumberOfNote, isOpeningBracket } from './links.ts';

/** Headings of a references section, in lower case. */
const HEADINGS: ReadonlySet<string> = new Set(
  (
    'references|reference|reference list|sources|source|citations|works cited|bibliography|notes|' +
    'footnotes|links|sources cited|sources and references|references and sources|sources used|' +
    'cited sources|list of references|further reading|endnotes|see also|quellen|quellenverzeichnis|' +
    'einzelnachweise|literatur|belege|références|sources et références|bibliographie|referencias|fuentes|' +
    'bibliografía|referências|fontes|riferimenti|fonti|bronnen|źródła|kaynaklar|referenzen|källor|kilder|' +
    'lähteet|zdroje|πηγές|kaynakça|nguồn|sumber|מקורות|منابع|แหล่งที่มา|อ้างอิง|источники|' +
    'список литературы|ссылки|джерела|المصادر|المراجع|संदर्भ|स्रोत|参考文献|参考资料|参考来源|引用来源|信息来源|资料来源|参考链接|来源|' +
    '引用|参考|參考文獻|參考資料|資料來源|來源|参考資料|出典|引用文献|참고문헌|참고 문헌|출처'
  ).split('|'),
);
const MAX_HEADING_CHARS = 64;
/** Longest title of a source, in UTF-16 code units: longer text is a statement. */
const MAX_TITLE_CHARS = 200;
/** Longest line of a list, in UTF-16 code units. */
const MAX_LINE_CHARS = 4096;

/** A list that holds until a line disproves it, or the answer ends. */
type List = {
  readonly start: number;
  readonly hasHeading: boolean;
  /** The lines so far, as they are if this is no list. */
  readonly lines: string[];
  readonly definitions: Span[];
  readonly urls: Map<string, string>;
  readonly titles: Set<string>;
  /** The entry whose address may be on the next line, and whether it must be there. */
  pending: { readonly id: string; readonly needsUrl: boolean } | null;
  hasEntry: boolean;
};

/**
 * Replaces references by spaces in a text that arrives in pieces. The length and the line breaks stay. Linear: it holds
 * back a line that may be one of references, and a list until it is disproved.
 */
export class ReferenceMask {
  /** The references so far, in order. */
  readonly spans: Span[] = [];
  /** Addresses by id of the entry or definition, in lower case. The first of an id counts. */
  readonly urls = new Map<string, string>();
  readonly #isSource: (id: string) => boolean;
  /** The undecided part of the line, and its offset. */
  #held = '';
  #at: number;
  /** The rest of the line is no reference. */
  #isPassing = false;
  #isAfterBlank = false;
  /** How many units more the definition of the line before may have. */
  #room = 0;
  #list: List | null = null;

  /** @param start Offset of the first piece. @param isSource Whether a source has an id. */
  constructor(start: number, isSource: (id: string) => boolean) {
    this.#at = start;
    this.#isSource = isSource;
  }

  /** Whether some text waits for what follows it. */
  get isHolding(): boolean {
    return this.#held !== '' || this.#list !== null;
  }

  /** Returns the text that the next piece decides. */
  push(piece: string): string {
    const text = this.#held + piece;
    const decided: string[] = [];
    let at = 0;
    while (at < text.length) {
      const lineFeed = text.indexOf('\n', at);
      const end = lineFeed === -1 ? text.length : lineFeed + 1;
      const line = text.slice(at, end);
      const isShort = line.length <= MAX_LINE_CHARS;
      if (this.#isPassing) this.#emit(decided, line);
      else if (isShort && lineFeed !== -1) decided.push(this.#line(line));
      else if (isShort && (this.#list !== null || this.#room > 0 || mayMatter(line, this.#isAfterBlank))) break;
      else {
        decided.push(this.#release());
        this.#emit(decided, line);
        this.#isAfterBlank = false;
        this.#room = 0;
      }
      this.#isPassing = lineFeed === -1;
      at = end;
    }
    this.#held = text.slice(at);
    return decided.join('');
  }

  /** Returns the rest of the text, which has no more pieces. */
  finish(): string {
    const decided = this.#held === '' ? '' : this.#line(this.#held);
    this.#held = '';
    const list = this.#list;
    if (list === null || !list.hasEntry || list.pending?.needsUrl === true) return decided + this.#release();
    this.#list = null;
    this.spans.push({ start: list.start, end: this.#at });
    for (const [id, url] of list.urls) this.#define(id, url);
    return decided + blanked(list.lines.join(''));
  }

  #emit(decided: string[], text: string): void {
    decided.push(text);
    this.#at += text.length;
  }

  /** Decides a whole line, with its line break. */
  #line(line: string): string {
    const start = this.#at;
    this.#at += line.length;
    const isAfterBlank = this.#isAfterBlank;
    this.#isAfterBlank = isBlank(line);
    const { length } = line.trim();
    const continues = length <= this.#room && isIndented(line);
    this.#room = continues ? this.#room - length : 0;
    if (this.#isAfterBlank) return this.#keep(line);
    if (isSourcesHeading(line)) {
      const released = this.#release();
      this.#list = newList(start, true);
      return released + this.#keep(line);
    }
    const span = { start, end: start + line.trimEnd().length };
    const definition = this.#definitionIn(line);
    if (definition !== null) this.#room = Math.max(0, MAX_TITLE_CHARS - length);
    else if (continues) {
      (this.#list?.definitions ?? this.spans).push(span);
      return this.#keep(blanked(line));
    }
    if (this.#list !== null && (definition !== null || this.#isEntry(this.#list, line))) {
      if (definition === null) return this.#keep(line);
      this.#list.hasEntry = true;
      this.#list.definitions.push(span);
      if (definition.url !== null) this.#list.urls.set(definition.id, definition.url);
      return this.#keep(blanked(line));
    }
    const released = this.#release();
    if (definition !== null) {
      this.spans.push(span);
      if (definition.url !== null) this.#define(definition.id, definition.url);
      return released + blanked(line);
    }
    if (isAfterBlank && !isListItem(line) && isNumberedAddress(line)) {
      this.#list = newList(start, false);
      this.#isEntry(this.#list, line);
      return released + this.#keep(line);
    }
    return released + line;
  }

  /** Holds a line back if there may be a list. */
  #keep(line: string): string {
    if (this.#list === null) return line;
    this.#list.lines.push(line);
    return '';
  }

  /** The list is none: returns its lines. */
  #release(): string {
    const list = this.#list;
    if (list === null) return '';
    this.#list = null;
    for (const span of list.definitions) this.spans.push(span);
    return list.lines.join('');
  }

  #define(id: string, url: string): void {
    if (!this.urls.has(id)) this.urls.set(id, url);
  }

  /** Whether a line belongs to the list, which notes its address. */
  #isEntry(list: List, line: string): boolean {
    const url = firstUrl(line);
    const number = entryNumber(line);
    if (url !== null) {
      if (!list.hasHeading && !isNumberedAddress(line)) return false;
      const id = number ?? list.pending?.id;
      if (id !== undefined && !list.urls.has(id)) list.urls.set(id, url);
      list.pending = null;
      list.hasEntry = true;
      return true;
    }
    if (!list.hasHeading || list.pending?.needsUrl === true) return false;
    const title = this.#titleIn(line);
    if (title !== null) {
      if (list.titles.has(title)) return false;
      list.titles.add(title);
      list.pending = { id: title, needsUrl: false };
      list.hasEntry = true;
      return true;
    }
    if (number === null) return false;
    const isTitle = line.trimStart().startsWith(number) && this.#isNewTitle(list, number, line);
    if (isTitle) list.titles.add(number);
    list.pending = { id: number, needsUrl: !isTitle };
    list.hasEntry ||= isTitle;
    return true;
  }

  /** Whether a line may be the title of the source with a number. */
  #isNewTitle({ titles }: List, number: string, line: string): boolean {
    return this.#isSource(number) && !titles.has(number) && line.trim().length <= MAX_TITLE_CHARS;
  }

  /** The id of a line that is a title behind an id in brackets. */
  #titleIn(line: string): string | null {
    const found = bracketedId(line);
    if (found === null || !this.#isDefinable(found.id)) return null;
    const title = line.slice(found.end).trim();
    const isTitle = title.length <= MAX_TITLE_CHARS && hasContent(title, 0, title.length);
    // Ids alone define nothing.
    return isTitle && !isOpeningBracket(title.charCodeAt(0)) ? found.id.toLowerCase() : null;
  }

  /** `[^1]: title`, `[1]: https://…`, `[label]: https://…` */
  #definitionIn(line: string): { readonly id: string; readonly url: string | null } | null {
    const found = bracketedId(line);
    if (found === null || line[found.end] !== ':' || isListItem(line)) return null;
    const defined = line.slice(found.end + 1).trim();
    const url = firstUrl(defined);
    const isTitle = defined.length <= MAX_TITLE_CHARS && this.#isDefinable(found.id);
    const beginsWithUrl = url !== null && defined.indexOf(url) <= 1;
    return isTitle || beginsWithUrl ? { id: found.id.toLowerCase(), url } : null;
  }

  #isDefinable(id: string): boolean {
    return isNumberOfNote(id) || this.#isSource(id);
  }
}

/** Whether the beginning of a line may become a heading, a definition, or the first entry of a list. */
function mayMatter(line: string, isAfterBlank: boolean): boolean {
  const start = line.replace(/^[\s>*]+/, '');
  if (start === '') return true;
  if (isOpeningBracket(start.charCodeAt(0))) {
    const found = bracketedId(line);
    if (found === null || line.length === found.end || line[found.end] === ':') return true;
    return isAfterBlank && isNumberOfNote(found.id);
  }
  return beginsHeading(line);
}

function newList(start: number, hasHeading: boolean): List {
  return {
    start,
    hasHeading,
    lines: [],
    definitions: [],
    urls: new Map(),
    titles: new Set(),
    pending: null,
    hasEntry: false,
  };
}

/** Spaces in place of all but line breaks. */
function blanked(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** `[1] … https://…` */
function isNumberedAddress(line: string): boolean {
  const found = bracketedId(line);
  return found !== null && isNumberOfNote(found.id) && firstUrl(line) !== null;
}

function isIndented(line: string): boolean {
  return (line.startsWith('\t') || line.startsWith('  ')) && !isListItem(line);
}

function isListItem(line: string): boolean {
  return '-*•'.includes(line.trimStart().charAt(0));
}

const HEADING_MARKS = '>#*_:：-—=【】';

/** A mark around a heading, or half of an emoji. */
function isHeadingMark(code: number): boolean {
  if (isAsciiLetter(code)) return false;
  return (
    isSpace(code) || HEADING_MARKS.includes(String.fromCharCode(code)) || isHighSurrogate(code) || isLowSurrogate(code)
  );
}

/**
 * The words of a line without the marks, the emoji, the number before them and the colon or stop behind them; `null`:
 * too long for a heading.
 */
function headingWords(line: string): string | null {
  if (line.length > 2 * MAX_HEADING_CHARS) return null;
  let start = 0;
  let end = line.length;
  while (start < end && isHeadingMark(line.charCodeAt(start))) start++;
  while (start < end && (isAsciiDigit(line.charCodeAt(start)) || '. '.includes(line.charAt(start)))) start++;
  while (end > start && (isHeadingMark(line.charCodeAt(end - 1)) || line.charAt(end - 1) === '.')) end--;
  return end - start > MAX_HEADING_CHARS ? null : line.slice(start, end).toLowerCase();
}

/** Returns whether a line is a heading of references. */
export function isSourcesHeading(line: string): boolean {
  const words = headingWords(line);
  return words !== null && HEADINGS.has(words);
}

/** Returns whether more text may make a heading of a line. */
function beginsHeading(line: string): boolean {
  const words = headingWords(line);
  if (words === null) return false;
  for (const heading of HEADINGS) if (heading.startsWith(words)) return true;
  return false;
}

/** `text[0, content.end)` with the references of `content` replaced by spaces, where they are, and their addresses. */
export function withoutReferences(
  text: string,
  content: Span,
  isSource: (id: string) => boolean,
): { readonly text: string; readonly spans: readonly Span[]; readonly urls: ReadonlyMap<string, string> } {
  const body = text.slice(content.start, content.end);
  // Every entry and definition has one of these.
  if (!['[', '://', '【', '［'].some((mark) => body.includes(mark))) return { text, spans: [], urls: new Map() };
  const mask = new ReferenceMask(content.start, isSource);
  const masked = mask.push(body) + mask.finish();
  return { text: text.slice(0, content.start) + masked, spans: mask.spans, urls: mask.urls };
}
