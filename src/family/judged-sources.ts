/**
 * Converts the sources of a rollout to the list that a judge sees. One source set always gives the same list object, so
 * the requests of a group share the list and its digest.
 */
import type { SourceSet } from '../citations/types.ts';
import type { JudgedSource } from '../judgments/protocol/prompt.ts';

const lists = new WeakMap<SourceSet, readonly JudgedSource[]>();

export function judgedSources(sources: SourceSet): readonly JudgedSource[] {
  const known = lists.get(sources);
  if (known !== undefined) return known;
  const list = sources.list.map(({ id, title, text }) => (title === undefined ? { id, text } : { id, title, text }));
  lists.set(sources, list);
  return list;
}
