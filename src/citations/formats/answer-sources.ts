/**
 * The sources of a cited answer. If the request gives sources, those are the sources: each pointer of the answer is
 * resolved against them by id, by address, by position, then by title, and its quotation must be there. Otherwise the texts that
 * the answer carries are the sources.
 */
import type { InputProblem } from '../../input-problem.ts';
import { MAX_ID_CHARS, MAX_TITLE_CHARS } from '../../limits.ts';
import type { Span } from '../../text/span.ts';
import { pageKey } from '../../text/url.ts';
import type { SourceInput } from '../sources.ts';
import { isIdSeparator, isIdUnit } from '../tags.ts';
import type { SourceSet } from '../types.ts';
import { citedSource } from '../url-ids.ts';
import type { AnswerFindings } from './answer-findings.ts';
import { type Reading, readingsOf, UnitReader } from './readings.ts';
import { isQuotedAt, QuoteSearch } from './search.ts';

/** A pointer from a claim to a source, in the vendor's terms. */
export type Pointer = {
  /** Place in `cited_answer`, for findings. */
  readonly path: InputProblem['path'];
  /** The vendor's id of the source. */
  readonly id?: string | null;
  readonly url?: string | null;
  readonly title?: string | null;
  /** Index of the source among the sources of the request. */
  readonly position?: number | null;
  /** The answer names a source, such as the number 9 of two results, that it does not have: the citation is invented. */
  readonly isMissing?: boolean;
  /** Text of the source, as far as the answer carries it. */
  readonly text?: string | null;
  /** Text that must be in the source, and its offsets there. */
  readonly quote?: { readonly text: string; readonly start?: number | null; readonly end?: number | null } | null;
};

type OwnSource = { readonly id: string; readonly texts: Set<string>; title: string | null; url: string | null };

export class AnswerSources {
  /** The sources of the request; `null` if it has none. */
  readonly given: SourceSet | null;
  readonly #findings: AnswerFindings;
  readonly #search = new QuoteSearch();
  readonly #own = new Map<string, OwnSource>();
  readonly #taken = new Set<string>();
  readonly #units = new Map<number, UnitReader>();
  /** The sources of the request by the page of their address. */
  #byUrl: Map<string, number> | null = null;

  /** @param given the sources of the request; `null` = it has none. */
  constructor(given: SourceSet | null, findings: AnswerFindings) {
    this.given = given;
    this.#findings = findings;
  }

  /** Adds a source that no citation needs to point to. */
  offer(pointer: Pointer): void {
    if (this.given === null) this.#ownId(pointer);
  }

  /** The id to write for a citation. */
  idOf(pointer: Pointer): string {
    if (this.given === null) return pointer.isMissing === true ? this.#missing(pointer) : this.#ownId(pointer);
    const place = this.#placeOf(this.given, pointer);
    const source = place === null ? undefined : this.given.list[place];
    if (place === null || source === undefined) {
      return this.#missing(pointer);
    }
    this.#check(pointer, place, source.text);
    // Another spelling of the address stays, so that verification reports it.
    const { url } = pointer;
    if (typeof url === 'string' && isWritable(url) && citedSource(this.given, url) === place) return url;
    if (isWritable(source.id)) return source.id;
    this.#findings.add({ reason: 'source_id_changed', path: pointer.path });
    return writableId(source.id) ?? 'unknown';
  }

  /** The id of a citation that leads nowhere: no source has it. */
  #missing(pointer: Pointer): string {
    this.#findings.add({ reason: 'source_not_given', path: pointer.path });
    const id = writableId(keyOf(pointer)) ?? 'unknown';
    return this.#taken.has(id) ? `missing-${id}`.slice(0, MAX_ID_CHARS) : id;
  }

  /** The sources that the answer carries; `null` if the request gives the sources. */
  finish(): SourceInput[] | null {
    if (this.given !== null) return null;
    return [...this.#own.values()].map(({ id, texts, title, url }) => ({
      id,
      text: [...texts].join('\n'),
      ...(title === null ? {} : { title: title.slice(0, MAX_TITLE_CHARS) }),
      ...(url === null ? {} : { url: url.slice(0, MAX_TITLE_CHARS) }),
    }));
  }

  #placeOf(given: SourceSet, { id, url, position, title }: Pointer): number | null {
    for (const name of [id, url]) {
      if (typeof name !== 'string') continue;
      const found = citedSource(given, name) ?? this.#urls(given).get(pageKey(name));
      if (found !== undefined) return found;
    }
    if (typeof position === 'number' && position < given.list.length) return position;
    return typeof title === 'string' ? citedSource(given, title) : null;
  }

  #urls(given: SourceSet): Map<string, number> {
    this.#byUrl ??= new Map(
      given.list.flatMap(({ url }, n) => (url === undefined ? [] : [[pageKey(url), n] as const])),
    );
    return this.#byUrl;
  }

  #ownId(pointer: Pointer): string {
    const key = keyOf(pointer);
    let own = this.#own.get(key);
    if (own === undefined) {
      own = { id: this.#freeId(key, pointer), texts: new Set(), title: null, url: null };
      this.#own.set(key, own);
    }
    const { text, quote, title, url } = pointer;
    const carried = text ?? quote?.text ?? '';
    if (carried !== '') own.texts.add(carried);
    own.title ??= title ?? null;
    own.url ??= url ?? null;
    return own.id;
  }

  #freeId(key: string, { path }: Pointer): string {
    const wanted = writableId(key) ?? `source-${this.#own.size + 1}`;
    const id = this.#taken.has(wanted) ? `source-${this.#own.size + 1}` : wanted;
    if (id !== key) this.#findings.add({ reason: 'source_id_changed', path });
    this.#taken.add(id);
    return id;
  }

  /** Checks that the quotation of a pointer is in its source, at its offsets if it has some. */
  #check({ quote, path }: Pointer, place: number, text: string): void {
    if (quote === undefined || quote === null) return;
    const wanted = quote.text.replace(/(?:…|\.\.\.)\s?$/, '');
    const { start, end } = quote;
    const hasPlace = typeof start === 'number' && typeof end === 'number';
    if (hasPlace) {
      const reading = this.#readingOf(place, text, start, end, wanted);
      if (reading !== null) {
        if (!isUsual(reading)) this.#findings.add({ reason: 'offset_reading', path, reading });
        return;
      }
    }
    const found = this.#search.contains(text, wanted);
    if (found === null) this.#findings.add({ reason: 'cited_text_unchecked', path });
    else if (!found) this.#findings.add({ reason: 'cited_text_not_in_source', path });
    else if (hasPlace) this.#findings.add({ reason: 'cited_text_moved', path });
  }

  #readingOf(place: number, text: string, start: number, end: number, wanted: string): Reading | null {
    const units = this.#units.get(place) ?? new UnitReader(text);
    this.#units.set(place, units);
    let last: Span | null = null;
    for (const reading of SOURCE_READINGS) {
      const span = units.span(start, end, reading);
      // A slice of much more text is another place, and comparing it would cost more than the quotation is long.
      if (span === null || span.end - span.start > 2 * wanted.length + 64) continue;
      const isTried = last !== null && span.start === last.start && span.end === last.end;
      if (!isTried && isQuotedAt(text, span.start, span.end, wanted)) return reading;
      last = span;
    }
    return null;
  }
}

/** Vendors' services count code points of the documents that they were given. */
const SOURCE_READINGS = readingsOf('codepoints');

function isUsual({ unit, end }: Reading): boolean {
  return unit === 'codepoints' && end === 'exclusive';
}

function keyOf({ id, url, position }: Pointer): string {
  if (typeof id === 'string' && id !== '') return id;
  if (typeof url === 'string' && url !== '') return url;
  return typeof position === 'number' ? `source-${position + 1}` : 'source';
}

function isWritable(id: string): boolean {
  if (id.length === 0 || id.length > MAX_ID_CHARS) return false;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (!isIdUnit(code) || isIdSeparator(code)) return false;
  }
  return true;
}

/** The id with percent signs for the characters that a citation cannot hold; `null` if it becomes too long. */
function writableId(id: string): string | null {
  if (isWritable(id)) return id;
  if (id.length > MAX_ID_CHARS) return null;
  let written = '';
  for (const character of id.toWellFormed()) {
    const isPlain = character.length > 1 || isWritable(character);
    written += isPlain ? character : encodeURIComponent(character).replace(/'/g, '%27');
    if (written.length > MAX_ID_CHARS) return null;
  }
  return written.replaceAll(',', '%2C').replaceAll(';', '%3B');
}
