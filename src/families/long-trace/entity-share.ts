/**
 * The entity rubric: the share of gold entities that the chosen text names. As in the reference, an entity matches as a
 * substring of the normalised text, also inside longer words, and one that normalises to nothing always matches.
 * Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_rubric_reward`.
 */
import { normalise } from './normalise.ts';
import { heldBy } from './substrings.ts';

/** Which entities the text names, in their order. Linear in the text and the entities together. */
export function entityHits(entities: readonly string[], text: string): readonly boolean[] {
  return heldBy(normalise(text), entities.map(normalise));
}

/**
 * Entities found / entities listed, [0, 1]; a repeated entity counts each time. 0 without entities, as on the reference
 * server, which lowers the reward of a right answer; all routes but its adapter refuse an empty list.
 */
export function entityShare(entities: readonly string[], text: string): number {
  if (entities.length === 0) return 0;
  return entityHits(entities, text).filter((hit) => hit).length / entities.length;
}
