/** Scores a signed request in the object of its endpoint: nobody waits, so a judge that is down is asked again later. */

import { configuredBackends } from '../backends/configured.ts';
import { createDeskClient } from '../desk/desk-client.ts';
import { createSettingsReader, type Environment, reportProblem } from '../environment.ts';
import type { RequestFailure } from '../http/errors.ts';
import { answer } from '../services/answer-request.ts';
import { createLedger } from '../services/record.ts';
import type { ScoringPlatform } from '../services/score.ts';
import { issuerOf } from '../storage/issuer-settings.ts';
import { createKvJudgmentStore } from '../storage/judgments.ts';
import { createRecentJudgments } from '../storage/recent-judgments.ts';

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

/** Once an isolate, so that backends remember what failed last. */
const settingsOf = createSettingsReader(reportProblem);

/**
 * Scores the request of a job.
 * @param lastTry where its judge fails, its own `on_judge_failure` holds; before, it is tried again.
 * @throws Error for a bug.
 */
export async function scoreJob(body: Uint8Array, lastTry: boolean, environment: Environment): Promise<JobOutcome> {
  const platform = await platformOf(environment);
  // The operator may mend the configuration within the day.
  if ('reason' in platform) return { ok: false, failure: platform, retryable: true, retry_after_s: null };
  const request: unknown = JSON.parse(new TextDecoder().decode(body));
  const outcome = await answer('/v1/score', request, platform, lastTry);
  if (outcome.ok) return { ok: true, score: outcome.body };
  const { failure } = outcome;
  if (failure.reason === 'ledger_failed') return { ok: false, failure, retryable: true, retry_after_s: null };
  if (failure.reason !== 'judgment_failed') return { ok: false, failure, retryable: false, retry_after_s: null };
  const { retryable, retry_after_s } = failure.failure;
  return { ok: false, failure, retryable, retry_after_s: retry_after_s ?? null };
}

async function platformOf(environment: Environment): Promise<ScoringPlatform | RequestFailure> {
  const read = settingsOf(environment);
  if (!read.ok) return { reason: 'config_invalid', setting: read.setting };
  const issuer = await issuerOf(environment);
  if (!issuer.ok) return { reason: 'config_invalid', setting: issuer.setting };
  return {
    backends: configuredBackends(read.settings, environment),
    // Nothing is remembered beside KV: the object's memory is for bodies.
    store: createKvJudgmentStore(environment.JUDGMENTS, createRecentJudgments({ entries: 0, chars: 0 })),
    desk: createDeskClient(environment.JUDGE_DESK),
    class: 'live',
    signing: issuer.signing,
    ledger: createLedger(environment, read.settings),
  };
}

/** Whether receivers on this machine may be delivered to. A malformed configuration opens nothing. */
export function allowsLoopback(environment: Environment): boolean {
  const read = settingsOf(environment);
  return read.ok && read.settings.allowWebhookLoopback;
}
