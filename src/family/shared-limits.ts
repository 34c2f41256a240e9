/**
 * The fact that a rollout was scored together with so many others that they shared the limits of an answer. Whoever
 * judges the text of the rollout again must read it within the same limits.
 */
import * as z from 'zod';
import { sharesLimits } from '../citations/answer-limits.ts';

/** A field of facts. */
export const sharedLimitsFields = {
  // The number of samples that were scored together. Absent = the limits were those of a single answer.
  scored_together: z.int().min(2).exactOptional(),
};

type SharedLimits = { readonly scored_together?: number };

/** @param samples the number of samples that are scored together, from 1. */
export function sharedLimitsFacts(samples: number): SharedLimits {
  return sharesLimits(samples) ? { scored_together: samples } : {};
}

/** The number of samples that shared the limits with the rollout of these facts. */
export function samplesOf({ scored_together = 1 }: { readonly family: string } & SharedLimits): number {
  return scored_together;
}
