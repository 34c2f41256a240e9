/** Writes a cited answer as a response in the grammar `snippet`. */
import { SLASH } from '../../text/characters.ts';
import type { Span } from '../../text/span.ts';
import type { AnswerFindings } from './answer-findings.ts';
import type { TextMap } from './text-map.ts';

/** A stretch of the answer with the ids that it cites. `text`: the claim without its markup, if it has some. */
export type CitedStretch = { readonly start: number; readonly end: number; ids: string[]; readonly text?: string };

type Written = {
  readonly text: string;
  /** In order, without overlap. */
  readonly claims: readonly CitedStretch[];
  /** In order, without overlap. */
  readonly hidden: readonly Span[];
  readonly map: TextMap;
  readonly findings: AnswerFindings;
};

/** Returns the response, and fills the map back to the text. */
export function writeAnswer({ text, claims, hidden, map, findings }: Written): string {
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string): void => {
    pieces.push(piece);
    length += piece.length;
  };
  const safe = withoutTags(text, findings);
  let nextHidden = 0;
  const copy = (start: number, end: number): void => {
    let from = start;
    while (from < end) {
      while ((hidden[nextHidden]?.end ?? text.length + 1) <= from) nextHidden++;
      const skipped = hidden[nextHidden];
      const to = skipped === undefined ? end : Math.min(end, Math.max(from, skipped.start));
      if (to > from) {
        map.add(length, from, to - from);
        add(safe.slice(from, to));
      }
      from = skipped === undefined || to === end ? Math.max(to, end) : skipped.end;
    }
  };
  map.add(0, 0, 0);
  add('<answer>');
  let from = 0;
  for (const claim of claims) {
    copy(from, claim.start);
    add(`<snippet id="${claim.ids.join(',')}">`);
    if (claim.text === undefined) copy(claim.start, claim.end);
    else {
      map.add(length, claim.start, claim.end - claim.start);
      add(withoutTags(claim.text, null));
    }
    // Text that was left out at the end of a claim must not move its end.
    map.add(length, claim.end, 0);
    add('</snippet>');
    from = claim.end;
  }
  copy(from, text.length);
  map.add(length, text.length, 0);
  add('</answer>');
  return pieces.join('');
}

/** Tags that the parser would read as its own. */
const TAGS = ['answer', 'snippet', 'think'];

/** Replaces the `<` of tags that the vendor's text contains by `‹`, so that they stay text. The length stays. */
function withoutTags(text: string, findings: AnswerFindings | null): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const name = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
    if (!TAGS.some((tag) => text.slice(name, name + tag.length).toLowerCase() === tag)) continue;
    pieces.push(text.slice(from, at), '‹');
    from = at + 1;
    findings?.add({ reason: 'markup_replaced', path: [], span: { start: at, end: at + 1 } });
  }
  return from === 0 ? text : pieces.join('') + text.slice(from);
}
