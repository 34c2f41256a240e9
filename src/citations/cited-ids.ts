/** Reads the ids of a citation: a list with separators and optional white space. Each id gets its own span. */
import { MAX_ID_CHARS, MAX_IDS_PER_CITATION } from '../limits.ts';
import { isSpace } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import type { FindingSink } from './findings.ts';
import { isIdSeparator, isIdUnit } from './tags.ts';
import type { CitedId, SourceSet } from './types.ts';
import { citedSource } from './url-ids.ts';
import { idsUpTo, isFurtherPlace, type WrittenId, writtenIds } from './written-ids.ts';

/** The ids of one citation so far. A citation may hold several spans of ids. */
export type IdReading = {
  /** Distinct ids in the order written. */
  readonly ids: CitedId[];
  seen: Set<string> | null;
  /** Number of ids read, repeated ones included. */
  read: number;
  /** MAX_IDS_PER_CITATION is reached; further ids are ignored. */
  full: boolean;
};

/** A span of ids; `isRangeEnd`: a dash stands between the span before and this one. */
export type IdsSpan = Span & { readonly isRangeEnd?: boolean };

/** Starts to read the ids of a citation. */
export function beginIds(): IdReading {
  return { ids: [], seen: null, read: 0, full: false };
}

/**
 * Returns the distinct ids in `spans` of a text, resolved against the sources. Reports malformed, repeated and unknown
 * ids. An id with white space inside is malformed, unless a source has exactly this id. The id of a citation is that of
 * its source; another spelling of a web address is reported.
 */
export function readIds(
  text: string,
  spans: readonly IdsSpan[],
  sources: SourceSet,
  claim: number,
  findings: FindingSink,
): CitedId[] {
  const reading = beginIds();
  for (const span of spans) readIdsIn(reading, text, span, sources, claim, findings, 0, span.isRangeEnd);
  return reading.ids;
}

/**
 * Reads one more span. `offset` is the place of `text` in the response; it is added to every reported place.
 * `isRangeEnd`: a dash stands between the span before and this one.
 */
export function readIdsIn(
  reading: IdReading,
  text: string,
  { start: from, end: to }: Span,
  sources: SourceSet,
  claim: number,
  findings: FindingSink,
  offset = 0,
  isRangeEnd = false,
): void {
  let i = from;
  let separated = false;
  let last: Span = { start: from, end: from };
  while (i <= to && !reading.full) {
    while (i < to && isSpace(text.charCodeAt(i))) i++;
    const start = i;
    while (i < to && !isIdSeparator(text.charCodeAt(i))) i++;
    let end = i;
    while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
    const span = { start: start + offset, end: end + offset };
    if (start === end) {
      // An empty entry of a list is malformed. An empty list is not: the caller reports `citation_no_id`.
      if (separated || i < to) findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
    } else if (!isFurtherPlace(text, { start, end }, last, sources)) {
      const first = isRangeEnd && last.end === from ? reading.ids.at(-1) : undefined;
      const range = first === undefined ? null : idsUpTo(first.id, text, { start, end }, sources);
      for (const written of range ?? writtenIds(text, { start, end }, sources)) {
        last = written.span;
        if (!addId(reading, written, sources, claim, findings, offset, to)) break;
      }
    }
    if (i >= to) break;
    i++;
    separated = true;
  }
}

/** Adds one id. Returns false if the citation is full. */
function addId(
  reading: IdReading,
  { id: cited, span: place }: WrittenId,
  sources: SourceSet,
  claim: number,
  findings: FindingSink,
  offset: number,
  to: number,
): boolean {
  const { ids } = reading;
  const span = { start: place.start + offset, end: place.end + offset };
  if (reading.read === MAX_IDS_PER_CITATION) {
    const rest = { start: span.start, end: to + offset };
    findings.add({ reason: 'citation_id_malformed', in: 'response', span: rest, claim });
    reading.full = true;
    return false;
  }
  reading.read++;
  const source = citedSource(sources, cited);
  const id = source === null ? cited : (sources.list[source]?.id ?? cited);
  if (source === null && !isWellFormedId(id)) {
    findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
  }
  if (id !== cited) findings.add({ reason: 'citation_url_alias', in: 'response', span, claim });
  if (ids.length > 0 && reading.seen === null) reading.seen = new Set(ids.map((cited) => cited.id));
  if (reading.seen?.has(id)) {
    findings.add({ reason: 'citation_id_repeated', in: 'response', span, claim });
  } else {
    reading.seen?.add(id);
    if (source === null) findings.add({ reason: 'citation_id_unknown', in: 'response', span, claim });
    ids.push({ id, span, source });
  }
  return true;
}

function isWellFormedId(id: string): boolean {
  if (id.length > MAX_ID_CHARS) return false;
  for (let i = 0; i < id.length; i++) if (!isIdUnit(id.charCodeAt(i))) return false;
  return true;
}
