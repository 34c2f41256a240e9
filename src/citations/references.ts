/**
 * Finds what defines the sources of an answer and so is neither claim nor citation: the list of references at its end,
 * and definitions (`[^1]: title`, `[1]: https://…`) on lines of their own. Reads line by line.
 * - A list begins with a heading, which may have its entries on its line (`Sources: [1] title; [2] title`). Each later
 *   line is blank, a rule, holds a web address, has its number here and its address on the next line, or is a title
 *   behind an id in brackets (`- [1] title`). One other line, and there is no list; so no prose is taken for references.
 *   After a blank line, entries `[1] … https://…` need no heading.
 * - Tags of HTML and frames around a line (`| Sources |`) do not count; the first row of a table may name its columns.
 * - A list on one line, in a table or frame, or under a heading with a count needs titles that look like titles
 *   (`isPlainTitle`), and something else in the answer: it looks more like text.
 * - A sentence is no title: its last words have a verb of a short list, or a pronoun before them, and a stop.
 * - A title is short, and an id has one: a number, or (`1. title`) the id of a source. Indented lines continue it.
 */
import { hasContent } from '../text/characters.ts';
import { isBlank, type Span } from '../text/span.ts';
import { blanked } from './code.ts';
import { bracketedId, entryNumber, firstUrl, isNumberOfNote, isOpeningBracket } from './links.ts';
import { beginsHeading, COUNTED, isSourcesHeading, MAX_HEADING_CHARS, TAG } from './source-headings.ts';
import { FRAMES, isClosingRemark, isPlainTitle, isSentence, LEAD, MAX_TITLE_CHARS, titleOf } from './source-titles.ts';

/** A line below or above a heading, or between the rows of a frame. */
const RULE = /^[\s|+:=_*\-\u2014\u2500-\u257f]{3,}$/;
/** Longest name of a column of a table of sources, in words: `What it says` is none. */
const MAX_NAME_WORDS = 2;
/** Longest line of a list, in UTF-16 code units. */
const MAX_LINE_CHARS = 4096;

/** A list that holds until a line disproves it, or the answer ends. */
type List = {
  readonly start: number;
  readonly hasHeading: boolean;
  /** Whether all of it looks more like text: it needs plain titles and other text in the answer. */
  readonly isDoubtful: boolean;
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
  /** Whether the answer has other text. */
  #hasText = false;

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
    return decided + ((this.#list === null ? null : this.#end(this.#list, this.#at)) ?? this.#release());
  }

  /** Ends a list before `end`: returns what replaces it, or `null` if it is none. */
  #end(list: List, end: number): string | null {
    if (!list.hasEntry || list.pending?.needsUrl === true || (list.isDoubtful && !this.#hasText)) return null;
    this.#list = null;
    this.spans.push({ start: list.start, end });
    for (const [id, url] of list.urls) this.#define(id, url);
    return blanked(list.lines.join(''));
  }

  #emit(decided: string[], text: string): void {
    decided.push(text);
    this.#at += text.length;
    this.#hasText ||= !isBlank(text);
  }

  /** Decides a whole line, with its line break. */
  #line(line: string): string {
    const start = this.#at;
    this.#at += line.length;
    const isAfterBlank = this.#isAfterBlank;
    this.#isAfterBlank = isBlank(line);
    const { length } = line.trim();
    const list = this.#list;
    if (list !== null && (isRule(line) || (!list.hasEntry && list.hasHeading && namesColumns(line)))) {
      return this.#keep(line);
    }
    const continues = length <= this.#room && isIndented(line);
    this.#room = continues ? this.#room - length : 0;
    if (this.#isAfterBlank) return this.#keep(line);
    const entries = this.#entriesAfterHeading(line);
    if (entries !== null) {
      const released = this.#release();
      this.#list = newList(start, true, true);
      this.#list.hasEntry = true;
      for (const [id, url] of entries) {
        this.#list.titles.add(id);
        if (url !== null) this.#list.urls.set(id, url);
      }
      return released + this.#keep(line);
    }
    if (isSourcesHeading(line)) {
      const released = this.#release();
      this.#list = newList(start, true, isRow(line) || COUNTED.test(line));
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
      if (definition === null) {
        if (this.#list.pending?.needsUrl === false) this.#room = Math.max(0, MAX_TITLE_CHARS - length);
        return this.#keep(line);
      }
      this.#list.hasEntry = true;
      this.#list.definitions.push(span);
      if (definition.url !== null) this.#list.urls.set(definition.id, definition.url);
      return this.#keep(blanked(line));
    }
    const closed = this.#list !== null && isAfterBlank && isClosingRemark(line) ? this.#end(this.#list, start) : null;
    const released = closed ?? this.#release();
    if (definition !== null) {
      this.spans.push(span);
      if (definition.url !== null) this.#define(definition.id, definition.url);
      return released + blanked(line);
    }
    if (isAfterBlank && !isListItem(line) && isNumberedAddress(line)) {
      this.#list = newList(start, false, false);
      this.#isEntry(this.#list, line);
      return released + this.#keep(line);
    }
    this.#hasText ||= !isBlank(line);
    return released + line;
  }

  /** Holds a line back if there may be a list. */
  #keep(line: string): string {
    if (this.#list === null) {
      this.#hasText ||= !isBlank(line);
      return line;
    }
    this.#list.lines.push(line);
    return '';
  }

  /** The list is none: returns its lines. */
  #release(): string {
    const list = this.#list;
    if (list === null) return '';
    this.#list = null;
    for (const span of list.definitions) this.spans.push(span);
    this.#hasText = true;
    return list.lines.join('');
  }

  #define(id: string, url: string): void {
    if (!this.urls.has(id)) this.urls.set(id, url);
  }

  /** Whether a line belongs to the list, which notes its address. */
  #isEntry(list: List, line: string): boolean {
    const written = titleOf(line);
    if ((list.isDoubtful || isRow(line)) && !isPlainTitle(written)) return false;
    const url = firstUrl(line);
    if (url === null && list.hasHeading && isSentence(written)) return false;
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
    // A title may hold ids, its own and others. So a claim that is written as one is lost.
    const isTitle = /^[(（]?\d/.test(line.replace(LEAD, '')) && this.#isNewTitle(list, number, line);
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
    const title = titleOf(line);
    const isTitle = title.length <= MAX_TITLE_CHARS && hasContent(title, 0, title.length);
    // Ids alone define nothing.
    return isTitle && !isOpeningBracket(title.charCodeAt(0)) ? found.id.toLowerCase() : null;
  }

  /** The ids and addresses of `Sources: [1] title; [2] title`; `null` if the line is none. */
  #entriesAfterHeading(line: string): ReadonlyMap<string, string | null> | null {
    const colon = line.search(/[:：]/);
    if (colon === -1 || colon > MAX_HEADING_CHARS || !isSourcesHeading(line.slice(0, colon))) return null;
    const rest = line.slice(colon + 1).replace(/^[\s*_]+/, '');
    const entries = new Map<string, string | null>();
    if (!isOpeningBracket(rest.charCodeAt(0))) return null;
    for (const entry of rest.split(/(?=[[【［])/)) {
      const found = bracketedId(entry);
      if (found === null || !this.#isDefinable(found.id) || entries.has(found.id.toLowerCase())) return null;
      const title = entry.slice(found.end).trim();
      if (title.length > MAX_TITLE_CHARS || !hasContent(title, 0, title.length) || !isPlainTitle(title)) return null;
      entries.set(found.id.toLowerCase(), firstUrl(title));
    }
    return entries;
  }

  /** `[^1]: title`, `[1]: https://…`, `[label]: https://…` */
  #definitionIn(line: string): { readonly id: string; readonly url: string | null } | null {
    const found = bracketedId(line);
    if (found === null || !':：'.includes(line[found.end] ?? ' ') || isListItem(line)) return null;
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
  const start = line.replace(LEAD, '');
  if (start === '' || /^<[^<>]{0,66}$/.test(start)) return true;
  if (isOpeningBracket(start.charCodeAt(0))) {
    const found = bracketedId(line);
    if (found === null || line.length === found.end || ':：'.includes(line[found.end] ?? ' ')) return true;
    return isAfterBlank && isNumberOfNote(found.id);
  }
  const colon = line.search(/[:：]/);
  return beginsHeading(line) || (colon !== -1 && colon <= MAX_HEADING_CHARS && isSourcesHeading(line.slice(0, colon)));
}

function newList(start: number, hasHeading: boolean, isDoubtful: boolean): List {
  return {
    start,
    hasHeading,
    isDoubtful,
    lines: [],
    definitions: [],
    urls: new Map(),
    titles: new Set(),
    pending: null,
    hasEntry: false,
  };
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
  return '-*•'.includes(line.trimStart().charAt(0)) || '-•+–'.includes(line.replace(LEAD, '').charAt(0));
}

/** Whether a line in a list is only marks: the underline of a heading, an edge of a frame, or tags. */
function isRule(line: string): boolean {
  const plain = line.replace(TAG, '');
  return RULE.test(plain.trim()) || (plain.length < line.length && isBlank(plain));
}

/** Whether a line is the row of a table. */
function isRow(line: string): boolean {
  return line.length <= MAX_TITLE_CHARS && FRAMES.includes(line.trimStart().charAt(0));
}

/** Whether a line may name the columns of a table of sources: `| # | Title |`. */
function namesColumns(line: string): boolean {
  if (!isRow(line) || /[[【［]/.test(line)) return false;
  return line.split(/[|│║┃]/).every((cell) => cell.split(/\s+/).filter((word) => word !== '').length <= MAX_NAME_WORDS);
}

/** Every entry and definition has one of these, or a number with its mark near the start of a line. */
const MARKS_OF_ENTRY = ['[', '【', '［', '://'] as const;
const NUMBER_OF_ENTRY = /\d[)）.:：、．]/g;
const NEAR_START = 80;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** Whether a text may have references. One expression for all of it takes ten times as long. */
function mayHaveEntry(text: string): boolean {
  if (MARKS_OF_ENTRY.some((mark) => text.includes(mark))) return true;
  NUMBER_OF_ENTRY.lastIndex = 0;
  for (let found = NUMBER_OF_ENTRY.exec(text); found !== null; found = NUMBER_OF_ENTRY.exec(text)) {
    const at = found.index;
    if (at <= NEAR_START || LINE_BREAK.test(text.slice(at - NEAR_START - 1, at))) return true;
  }
  return false;
}

/** `text[0, content.end)` with the references of `content` replaced by spaces, where they are, and their addresses. */
export function withoutReferences(
  text: string,
  content: Span,
  isSource: (id: string) => boolean,
): { readonly text: string; readonly spans: readonly Span[]; readonly urls: ReadonlyMap<string, string> } {
  const body = text.slice(content.start, content.end);
  if (!mayHaveEntry(body)) return { text, spans: [], urls: new Map() };
  const mask = new ReferenceMask(content.start, isSource);
  const masked = mask.push(body) + mask.finish();
  return { text: text.slice(0, content.start) + masked, spans: mask.spans, urls: mask.urls };
}
