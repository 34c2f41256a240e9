/** Reading the ids of a citation or source: separators with or without spaces, each id with its own span. */
import { MAX_ID_CHARS, MAX_IDS_PER_CITATION } from '../limits.ts';
import { isSpace } from './characters.ts';
import type { FindingList } from './findings.ts';
import { isIdSeparator, isIdUnit } from './tags.ts';
import type { CitedId, SourceSet, Span } from './types.ts';

/**
 * The distinct ids in `text[span)`, resolved against the sources. Reports malformed, repeated and unknown ids.
 * An id with white space inside is malformed unless a source is called exactly that.
 */
export function readIds(
  text: string,
  spans: readonly Span[],
  sources: SourceSet,
  claim: number,
  findings: FindingList,
): CitedId[] {
  const ids: CitedId[] = [];
  let seen: Set<string> | null = null;
  let read = 0;
  for (const { start: from, end: to } of spans) {
    let i = from;
    let separated = false;
    while (i <= to) {
      while (i < to && isSpace(text.charCodeAt(i))) i++;
      const start = i;
      while (i < to && !isIdSeparator(text.charCodeAt(i))) i++;
      let end = i;
      while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
      const span = { start, end };
      if (start === end) {
        // Nothing at all is `citation_no_id`, reported by the caller; a hole in a list is malformed.
        if (separated || i < to) findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
      } else if (read === MAX_IDS_PER_CITATION) {
        findings.add({ reason: 'citation_id_malformed', in: 'response', span: { start, end: to }, claim });
        return ids;
      } else {
        read++;
        const id = text.slice(start, end);
        const source = sources.byId.get(id);
        if (source === undefined && !isWellFormedId(id)) {
          findings.add({ reason: 'citation_id_malformed', in: 'response', span, claim });
        }
        if (ids.length > 0 && seen === null) seen = new Set(ids.map((cited) => cited.id));
        if (seen?.has(id)) {
          findings.add({ reason: 'citation_id_repeated', in: 'response', span, claim });
        } else {
          seen?.add(id);
          if (source === undefined) findings.add({ reason: 'citation_id_unknown', in: 'response', span, claim });
          ids.push({ id, span, source: source === undefined ? null : source });
        }
      }
      if (i >= to) break;
      i++;
      separated = true;
    }
  }
  return ids;
}

function isWellFormedId(id: string): boolean {
  if (id.length > MAX_ID_CHARS) return false;
  for (let i = 0; i < id.length; i++) if (!isIdUnit(id.charCodeAt(i))) return false;
  return true;
}
