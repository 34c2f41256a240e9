/**
 * Sources that were passed one by one, as the tagged text that a refiner reads. What is written is read again: a source
 * that would come back as something else (its text holds source tags, its id a quotation mark) is refused, as the policy
 * would not see what the caller meant.
 */

import { parseSources, sourcesFromList } from '../citations/sources.ts';
import type { Source } from '../citations/types.ts';
import type { SourceInput } from '../family/rollout.ts';
import type { InputProblem } from '../input-problem.ts';
import { trimSpan } from '../text/span.ts';

export type TaggedSources =
  | { readonly ok: true; readonly tool_output: string }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** `<snippet id=ID title="…" url="…">text</snippet>`, one after the other. Problems name `sources[i]`. */
export function taggedSources(sources: readonly SourceInput[]): TaggedSources {
  const problems = sources.flatMap((source, position): InputProblem[] =>
    comesBack(source) ? [] : [{ path: ['sources', position], message: UNTAGGABLE }],
  );
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, tool_output: sources.map(tagged).join('\n') };
}

const UNTAGGABLE =
  'it cannot be written as a tagged piece: its text holds source tags, or an attribute both quotation marks';

function comesBack(source: SourceInput): boolean {
  const [wanted] = sourcesFromList([source]).list;
  const read = parseSources(tagged(source)).list;
  const [first] = read;
  return read.length === 1 && first !== undefined && wanted !== undefined && isSame(first, wanted);
}

function isSame(read: Source, wanted: Source): boolean {
  const { start, end } = trimSpan(wanted.text, 0, wanted.text.length);
  const isWhole = read.id === wanted.id && read.text === wanted.text.slice(start, end);
  return isWhole && read.title === wanted.title && read.url === wanted.url;
}

/** Ids that can stand without quotation marks, as refiners were trained to see them. */
const PLAIN_ID = /^[\w.:-]+$/u;

function tagged({ id, text, title, url }: SourceInput): string {
  const attributes = [
    `id=${PLAIN_ID.test(id) ? id : quoted(id)}`,
    ...(title === undefined ? [] : [`title=${quoted(title)}`]),
    ...(url === undefined ? [] : [`url=${quoted(url)}`]),
  ];
  return `<snippet ${attributes.join(' ')}>${text}</snippet>`;
}

function quoted(value: string): string {
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}
