/**
 * The work of an endpoint's object: it scores received requests and sends deliveries. Each run ends in one transaction
 * that records its outcome; a run that is lost with the object is repeated.
 */

import { answer } from '../../service/answer.ts';
import type { RequestFailure } from '../../service/failures.ts';
import { failureOf, problemOf, wireReason } from '../../service/problems.ts';
import { inTrace, receivedTrace } from '../../service/trace-context.ts';
import { type Environment, reportProblem } from '../environment.ts';
import { KvOperations } from '../kv-operations.ts';
import { logEvent } from '../log-event.ts';
import { isolateCounts } from '../metrics/counts.ts';
import type { PlatformFactory } from '../platform.ts';
import { type Attempt, attemptDelivery, GLOBAL_NETWORK } from './attempt.ts';
import type { EndpointRecord } from './endpoint-record.ts';
import type { Inbox } from './inbox.ts';
import type { Outbox } from './outbox.ts';
import type { WorkKind } from './work-loop.ts';

/** Concurrent runs of one endpoint, and the bytes of bodies that either kind may hold in memory. */
const MAX_RUNNING_DELIVERIES = 4;
const MAX_RUNNING_JOBS = 16;
const MAX_RUNNING_BYTES = 8 * 1024 * 1024;

type JobOutcome =
  /** The reply of `POST /v1/score`. */
  | { readonly ok: true; readonly score: unknown }
  /** Not scored. `retryable` = a later try may succeed. */
  | {
      readonly ok: false;
      readonly failure: RequestFailure;
      readonly retryable: boolean;
      readonly retry_after_s: number | null;
    };

const NO_SECRETS_KEY = {
  setting: 'WEBHOOK_SECRETS_KEY',
  problems: ['expected the key that encrypted the secret of an endpoint, too'],
} as const;

type EndpointParts = { readonly endpoint: EndpointRecord; readonly inbox: Inbox; readonly outbox: Outbox };

export class EndpointWork {
  readonly #endpoint: EndpointRecord;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #storage: Pick<DurableObjectStorage, 'transactionSync'>;
  readonly #environment: Environment;
  readonly #platforms: PlatformFactory;
  readonly #deliveryTimeoutMs: number | undefined;
  /** Those of the alarm that runs. */
  #operations = new KvOperations();

  constructor(
    { endpoint, inbox, outbox }: EndpointParts,
    storage: Pick<DurableObjectStorage, 'transactionSync'>,
    environment: Environment,
    platforms: PlatformFactory,
    deliveryTimeoutMs?: number,
  ) {
    this.#endpoint = endpoint;
    this.#inbox = inbox;
    this.#outbox = outbox;
    this.#storage = storage;
    this.#environment = environment;
    this.#platforms = platforms;
    this.#deliveryTimeoutMs = deliveryTimeoutMs;
  }

  /** Notes that an alarm begins, with KV operations of its own. Without any left, jobs wait for the next one. */
  beginAlarm(): void {
    this.#operations = new KvOperations();
  }

  get kinds(): readonly WorkKind[] {
    return [
      {
        name: 'job',
        maxRunning: MAX_RUNNING_JOBS,
        maxRunningBytes: MAX_RUNNING_BYTES,
        due: (now, limit) => (this.#operations.takesWork ? this.#inbox.due(now, limit) : []),
        run: (id) => this.#score(id),
        onThrow: (id, error) => this.#endJob(id, outcomeOfThrown(error)),
      },
      {
        name: 'delivery',
        maxRunning: MAX_RUNNING_DELIVERIES,
        maxRunningBytes: MAX_RUNNING_BYTES,
        due: (now, limit) => (this.#endpoint.target?.enabled === true ? this.#outbox.due(now, limit) : []),
        run: (id) => this.#deliver(id),
        onThrow: (id) => {
          const now = Date.now();
          const attempt = {
            reason: 'internal',
            status: null,
            retry_after_s: null,
            at_ms: now,
            duration_ms: 0,
          } as const;
          this.#storage.transactionSync(() => this.#outbox.settle(id, attempt, now, Math.random()));
        },
      },
    ];
  }

  async #score(id: string): Promise<void> {
    const job = this.#inbox.open(id);
    if (job === null) return;
    const project = this.#endpoint.target?.project;
    if (project === undefined) return;
    await inTrace(receivedTrace(job.trace), async () => {
      const outcome = await this.#outcomeOf(job.body, project, this.#inbox.isLastTry(id, Date.now()));
      this.#endJob(id, outcome);
    });
  }

  /** @param lastTry applies the request's own `on_judge_failure`; an earlier try is retried instead. */
  async #outcomeOf(body: Uint8Array, project: string, lastTry: boolean): Promise<JobOutcome> {
    const platform = await this.#platforms.createProjectPlatform(this.#environment, project, {
      callClass: 'live',
      operations: this.#operations,
    });
    // The operator may correct the configuration before the job expires.
    if (!platform.ok) return { ok: false, failure: platform.error, retryable: true, retry_after_s: null };
    const request: unknown = JSON.parse(new TextDecoder().decode(body));
    const { result: outcome } = await answer('/v1/score', request, () => platform.value, { lastTry });
    if (outcome.ok) return { ok: true, score: outcome.value };
    const failure = outcome.error;
    if (failure.reason === 'ledger_failed') return { ok: false, failure, retryable: true, retry_after_s: null };
    if (failure.reason !== 'judgment_failed') return { ok: false, failure, retryable: false, retry_after_s: null };
    const { retryable, retry_after_s } = failure.failure;
    return { ok: false, failure, retryable, retry_after_s: retry_after_s ?? null };
  }

  /** Records the outcome and enqueues its event in one transaction, so that an ended job has exactly one event. */
  #endJob(id: string, outcome: JobOutcome): void {
    const status = this.#storage.transactionSync(() => {
      const now = Date.now();
      const job = this.#inbox.describe(id);
      // The endpoint has been deleted since.
      if (job === null) return 'deleted';
      const of = { job: id, webhook_id: job.webhook_id };
      if (outcome.ok) {
        const data = JSON.stringify({ ...of, score: outcome.score });
        const message = this.#outbox.add({ type: 'score.completed', data, key: null }, now);
        this.#inbox.finish(id, 'completed', null, message, now);
        return 'completed';
      }
      const reason = wireReason(outcome.failure);
      if (outcome.retryable && this.#inbox.postpone(id, reason, outcome.retry_after_s, now, Math.random())) {
        return 'postponed';
      }
      const data = JSON.stringify({ ...of, problem: problemOf(outcome.failure, id) });
      const message = this.#outbox.add({ type: 'score.failed', data, key: null }, now);
      this.#inbox.finish(id, 'failed', reason, message, now);
      return 'failed';
    });
    const reason = outcome.ok ? null : wireReason(outcome.failure);
    this.#log({ event: 'webhook_job', job: id, status, reason });
  }

  async #deliver(id: string): Promise<void> {
    const target = this.#endpoint.target;
    if (target === null) return;
    const trace = receivedTrace(this.#outbox.trace(id));
    const attempt = await inTrace(trace, () => this.send(target.url, id, this.#outbox.body(id)));
    this.#storage.transactionSync(() => {
      this.#outbox.settle(id, attempt, Date.now(), Math.random());
      if (attempt.reason === 'gone') this.#endpoint.disable('gone');
    });
    const { reason, status, duration_ms } = attempt;
    isolateCounts.count('citeward_webhook_attempts', [reason === null ? 'delivered' : 'failed']);
    this.#log({ event: 'webhook_attempt', message: id, status, reason, ms: duration_ms });
  }

  /** Signs with all valid secrets and sends once. */
  async send(url: string, id: string, body: Uint8Array): Promise<Attempt> {
    const secrets = await this.#endpoint.secrets(Date.now());
    if (secrets === null) {
      reportProblem(NO_SECRETS_KEY);
      return { reason: 'secret_unreadable', status: null, retry_after_s: null, at_ms: Date.now(), duration_ms: 0 };
    }
    const settings = this.#platforms.settingsOf(this.#environment);
    // A malformed configuration does not allow loopback.
    const allowLoopback = settings.ok && settings.value.allowWebhookLoopback;
    const publicNetwork = this.#environment.PUBLIC_NETWORK ?? GLOBAL_NETWORK;
    return attemptDelivery({ url, id, body, secrets, allowLoopback, publicNetwork }, this.#deliveryTimeoutMs);
  }

  /** Logs ids and reasons only: no URL, no text of a caller. */
  #log(line: Readonly<Record<string, unknown>>): void {
    logEvent('log', { ...line, endpoint: this.#endpoint.target?.id ?? null });
  }
}

/** A store may recover. A bug would throw again, so the sender learns of it at once. */
function outcomeOfThrown(error: unknown): JobOutcome {
  const failure = failureOf(error);
  return { ok: false, failure, retryable: failure.reason === 'storage_failed', retry_after_s: null };
}
