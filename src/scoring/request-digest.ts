/**
 * What a receipt calls the request: the rollout as it was scored. A digest of digests, so that a group's shared megabyte is
 * hashed once, and so that whoever shows a receipt may withhold a field: its digest stands in for it.
 */

import { digestJson } from '../digest.ts';
import type { Rollout } from '../family/rollout.ts';

/**
 * Every field of a rollout, so that a reward can depend on no other. All else of a request (recipe, judge, replicate, run,
 * what failures become) says how it is to be scored: the recipe has a digest of its own, judge and replicate are in every
 * judgment's key, and the rest changes no reward.
 */
const FIELDS = {
  question: true,
  tool_output: true,
  sources: true,
  response: true,
  reasoning: true,
  history: true,
  positive_rubrics: true,
  negative_rubrics: true,
  rubrics: true,
  finish_reason: true,
  reference: true,
  entities: true,
  useful_chunks: true,
  num_turns: true,
  response_tokens: true,
  tests: true,
} satisfies Readonly<Record<keyof Rollout, true>>;

/** Computes digests of rollouts, each value that they share once. Of one caller: never kept between requests. */
export type RequestDigests = (rollout: Rollout) => Promise<string>;

/**
 * The digest, 64 hex digits: SHA-256 of the RFC 8785 JSON of `{"fields": {name: digest of its value}, "v": 1}`, where the
 * digest of a value is `digestJson` of it. A field that is absent or an empty list is left out. A rubric that a request
 * gives as a text is `{"description": text}`.
 */
export function createRequestDigests(): RequestDigests {
  const known = new Map<unknown, Promise<string>>();
  const digestOf = (value: unknown): Promise<string> => {
    const digest = known.get(value) ?? digestJson(value);
    known.set(value, digest);
    return digest;
  };
  return async (rollout) => {
    const there = Object.entries(rollout).filter(([name, value]) => Object.hasOwn(FIELDS, name) && isThere(value));
    const fields = await Promise.all(there.map(async ([name, value]) => [name, await digestOf(value)] as const));
    return digestJson({ v: 1, fields: Object.fromEntries(fields) });
  };
}

function isThere(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
