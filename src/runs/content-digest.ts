/**
 * What a rollout's content is: equal content at one place of a run is recorded once, so that a request may be sent again.
 * The rollout, and what of its scoring asks for other judgments; not what only says what failures become.
 */

import { digestJson } from '../digest.ts';
import type { Rollout } from '../family/rollout.ts';
import { createRequestDigests } from '../scoring/request-digest.ts';

export type ContentWishes = {
  /** Digest of the recipe. */
  readonly recipe: string;
  /** As the request named it; `undefined` = the deployment's own choice. */
  readonly judge: string | readonly string[] | undefined;
  readonly replicate: number;
};

/**
 * The digests of rollouts, in their order, 64 hex digits each: SHA-256 of the RFC 8785 JSON of
 * `{"v": 1, "rollout": <request digest>, "recipe", "judge": <name, names or null>, "replicate"}`. A name and a list of that
 * one name are the same.
 */
export function contentDigests(rollouts: readonly Rollout[], wishes: ContentWishes): Promise<string[]> {
  const requestDigest = createRequestDigests();
  const { recipe, replicate } = wishes;
  const named = typeof wishes.judge === 'string' ? [wishes.judge] : (wishes.judge ?? null);
  const judge = named?.length === 1 ? (named[0] ?? null) : named;
  return Promise.all(
    rollouts.map(async (rollout) =>
      digestJson({ v: 1, rollout: await requestDigest(rollout), recipe, judge, replicate }),
    ),
  );
}
