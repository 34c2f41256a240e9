/**
 * The entity rubric: the share of gold entities that the chosen text names. An entity is found as a substring of the
 * normalised text, inside longer words and numbers too, and one that normalises to nothing is always found [code].
 * Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_rubric_reward`.
 */
import { normalise } from './normalise.ts';
import { heldBy } from './substrings.ts';

/** Which entities the text names, in their order. Linear in the text and the entities together. */
export function entityHits(entities: readonly string[], text: string): readonly boolean[] {
  return heldBy(normalise(text), entities.map(normalise));
}

/**
 * Entities found / entities listed, [0, 1]; a repeated entity counts each time. No entities: 0, as the server pays,
 * which takes their share of the reward from a right answer; routes other than the server's refuse the empty list
 * instead.
 */
export function entityShare(entities: readonly string[], text: string): number {
  if (entities.length === 0) return 0;
  return entityHits(entities, text).filter((hit) => hit).length / entities.length;
}
