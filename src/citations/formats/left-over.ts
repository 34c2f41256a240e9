/**
 * What a vendor leaves in an answer that is not answer: thinking before it, citation markup that its service should have
 * decoded, and members with citations that a format does not read. None of them may disappear without a finding.
 */

import type { InputProblem } from '../../input-problem.ts';
import { isJsonObject } from '../../json.ts';
import type { Span } from '../../text/span.ts';
import type { AnswerDraft, Block } from './draft.ts';
import { type Json, listIn } from './json.ts';

const THINK_START = '<think>';
const THINK_END = '</think>';

/** The answer after the model's thinking: after the first `</think>`. Thinking that does not end has no answer. */
export function withoutThinking(text: string): string {
  const end = text.indexOf(THINK_END);
  if (end !== -1) return text.slice(end + THINK_END.length);
  return text.trimStart().startsWith(THINK_START) ? '' : text;
}

/** Signs with which a marker begins and ends: 【4†L10-L12】 of gpt-oss and assistants, and the private ones of ChatGPT. */
const MARKERS: readonly (readonly [start: string, end: string])[] = [
  ['【', '】'],
  ['\ue200', '\ue201'],
];
const MAX_MARKER_CHARS = 200;

/**
 * Reads the markers that no annotation names. Each cites the source with its number or name, which the answer does not
 * carry, so that without `sources` the citation leads nowhere.
 * @param known places of the markers that annotations name, relative to the block.
 */
export function readBareMarkers(
  block: Block,
  known: readonly Span[],
  path: InputProblem['path'],
  draft: AnswerDraft,
): void {
  const starts = known.toSorted((a, b) => a.start - b.start);
  for (const [first, last] of MARKERS) {
    let next = 0;
    let end = -1;
    for (let at = block.text.indexOf(first); at !== -1; at = block.text.indexOf(first, at + 1)) {
      while ((starts[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next++;
      if ((starts[next]?.start ?? Number.POSITIVE_INFINITY) <= at) continue;
      if (end < at) end = block.text.indexOf(last, at);
      if (end === -1) break;
      const ids = end - at < MAX_MARKER_CHARS ? idsOf(block.text.slice(at + 1, end)) : [];
      if (ids.length === 0) continue;
      const span = { start: block.start + at, end: block.start + end + 1 };
      draft.citeBefore(
        span,
        ids.map((id) => ({ path, id, isMissing: true })),
        path,
      );
    }
  }
}

/** The ids in a marker: "4" in 4†L10-L12 and 4:0†source, the names after "cite" in the private marker. */
function idsOf(inner: string): string[] {
  const [kind, ...names] = inner.split('\ue202');
  if (names.length > 0) return kind === 'cite' || kind === 'filecite' ? names : [];
  const dagger = inner.indexOf('†');
  if (dagger === -1) return [];
  const id = inner.slice(0, dagger).split(':')[0]?.trim() ?? '';
  return id === '' ? [] : [id];
}

const CITING =
  /citation|annotation|grounding|references|^reference$|footnotes|search_?results|sources|documents|web_?search$|source_nodes/i;

/** The members of an answer that hold citations or sources, by name, except those that a format reads. */
export function citingMembers(value: Json, read: readonly string[] = []): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    CITING.test(name) && !read.includes(name) && (listIn(member).length > 0 || isJsonObject(member)) ? [name] : [],
  );
}
