/**
 * The digest of a request in its receipt: of the rollout as it was scored. It is a digest of digests, so the shared
 * sources of a group are hashed once, and the holder of a receipt can show a field's digest instead of the field.
 */

import { digestJson } from '../digest.ts';
import type { Rollout } from '../family/rollout.ts';

/**
 * Every field of a rollout; a reward depends on no other field of a request. The recipe has its own digest, judge and
 * replicate are part of every judgment's key, and run and failure handling change no reward.
 */
const FIELDS = {
  question: true,
  tool_output: true,
  sources: true,
  response: true,
  messages: true,
  trajectory: true,
  cited_answer: true,
  answer_format: true,
  reasoning: true,
  history: true,
  positive_rubrics: true,
  negative_rubrics: true,
  rubrics: true,
  finish_reason: true,
  reference: true,
  entities: true,
  entity_rubrics: true,
  useful_chunks: true,
  num_turns: true,
  response_tokens: true,
  tests: true,
} satisfies Readonly<Record<keyof Rollout, true>>;

/**
 * Computes digests of rollouts and hashes each shared value once. Use one per request; it keeps the values it has seen.
 */
type RequestDigests = (rollout: Rollout) => string;

/**
 * The digest, 64 hex digits: SHA-256 of the RFC 8785 JSON of `{"fields": {name: digest of its value}, "v": 1}`, where
 * the digest of a value is its `digestJson`. An absent field and an empty list are left out. A rubric that is given as
 * text counts as `{"description": text}`.
 */
export function createRequestDigests(): RequestDigests {
  const known = new Map<unknown, string>();
  const digestOf = (value: unknown): string => {
    const digest = known.get(value) ?? digestJson(value);
    known.set(value, digest);
    return digest;
  };
  return (rollout) => {
    const given = Object.entries(rollout).filter(([name, value]) => Object.hasOwn(FIELDS, name) && isGiven(value));
    const fields = given.map(([name, value]) => [name, digestOf(value)] as const);
    return digestJson({ v: 1, fields: Object.fromEntries(fields) });
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
