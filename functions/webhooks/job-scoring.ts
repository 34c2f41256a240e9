/** Scores a signed request in the object of its endpoint: nobody waits, so a judge that is down is asked again later. */

import type { Environment } from '../environment.ts';
import type { RequestFailure } from '../failures.ts';
import type { PlatformFactory } from '../platform.ts';
import { answer } from '../services/answer-request.ts';

export type JobOutcome =
  /** The reply of `POST /v1/score`. */
  | { readonly ok: true; readonly score: unknown }
  /** Not scored. Where it is `retryable`, it may be later. */
  | {
      readonly ok: false;
      readonly failure: RequestFailure;
      readonly retryable: boolean;
      readonly retry_after_s: number | null;
    };

/**
 * Scores the request of a job.
 * @param lastTry where its judge fails, its own `on_judge_failure` holds; before, it is tried again.
 * @throws Error for a bug.
 */
export async function scoreJob(
  body: Uint8Array,
  lastTry: boolean,
  environment: Environment,
  platforms: PlatformFactory,
): Promise<JobOutcome> {
  const platform = await platforms.createPlatform(environment, 'live');
  // The operator may correct the configuration before the job expires.
  if (!platform.ok) return { ok: false, failure: platform.error, retryable: true, retry_after_s: null };
  const request: unknown = JSON.parse(new TextDecoder().decode(body));
  const outcome = await answer('/v1/score', request, platform.value, lastTry);
  if (outcome.ok) return { ok: true, score: outcome.body };
  const { failure } = outcome;
  if (failure.reason === 'ledger_failed') return { ok: false, failure, retryable: true, retry_after_s: null };
  if (failure.reason !== 'judgment_failed') return { ok: false, failure, retryable: false, retry_after_s: null };
  const { retryable, retry_after_s } = failure.failure;
  return { ok: false, failure, retryable, retry_after_s: retry_after_s ?? null };
}

/** Whether receivers on this machine may be delivered to. A malformed configuration opens nothing. */
export function allowsLoopback(environment: Environment, platforms: PlatformFactory): boolean {
  const settings = platforms.settingsOf(environment);
  return settings.ok && settings.value.allowWebhookLoopback;
}
