/**
 * What an endpoint's object does: scores what came in, delivers what goes out. Each run ends in one transaction that says
 * what became of it; what is lost with the object is done again.
 */
import { DELIVERIES_AT_ONCE, MAX_WEBHOOK_BYTES_AT_WORK, WEBHOOK_JOBS_AT_ONCE } from '../../src/limits.ts';
import type { Environment } from '../environment.ts';
import { problemOf, wireReason } from '../http/problems.ts';
import type { PlatformFactory } from '../platform.ts';
import { attemptDelivery } from './attempt.ts';
import type { EndpointRecord } from './endpoint-record.ts';
import type { Inbox } from './inbox.ts';
import { allowsLoopback, type JobOutcome, scoreJob } from './job-scoring.ts';
import type { Outbox } from './outbox.ts';
import type { Lane } from './work-loop.ts';

export type EndpointParts = { readonly endpoint: EndpointRecord; readonly inbox: Inbox; readonly outbox: Outbox };

export class EndpointWork {
  readonly #endpoint: EndpointRecord;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #storage: Pick<DurableObjectStorage, 'transactionSync'>;
  readonly #environment: Environment;
  readonly #platforms: PlatformFactory;

  constructor(
    { endpoint, inbox, outbox }: EndpointParts,
    storage: Pick<DurableObjectStorage, 'transactionSync'>,
    environment: Environment,
    platforms: PlatformFactory,
  ) {
    this.#endpoint = endpoint;
    this.#inbox = inbox;
    this.#outbox = outbox;
    this.#storage = storage;
    this.#environment = environment;
    this.#platforms = platforms;
  }

  get lanes(): readonly Lane[] {
    return [
      {
        name: 'job',
        atOnce: WEBHOOK_JOBS_AT_ONCE,
        bytesAtOnce: MAX_WEBHOOK_BYTES_AT_WORK,
        due: (now, limit) => this.#inbox.due(now, limit),
        run: (id) => this.#score(id),
        broke: (id) => this.#endJob(id, BROKE),
      },
      {
        name: 'delivery',
        atOnce: DELIVERIES_AT_ONCE,
        bytesAtOnce: MAX_WEBHOOK_BYTES_AT_WORK,
        due: (now, limit) => (this.#endpoint.target?.enabled === true ? this.#outbox.due(now, limit) : []),
        run: (id) => this.#deliver(id),
        broke: (id) => {
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
    const outcome = await scoreJob(job.body, this.#inbox.isLastTry(id, Date.now()), this.#environment, this.#platforms);
    this.#endJob(id, outcome);
  }

  /** One transaction for the outcome and its event: a job that is over has exactly one. */
  #endJob(id: string, outcome: JobOutcome): void {
    const status = this.#storage.transactionSync(() => {
      const now = Date.now();
      const job = this.#inbox.describe(id);
      // The endpoint was deleted in the meantime.
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
    const attempt = await this.send(target.url, id, this.#outbox.body(id));
    this.#storage.transactionSync(() => {
      this.#outbox.settle(id, attempt, Date.now(), Math.random());
      if (attempt.reason === 'gone') this.#endpoint.disable('gone');
    });
    const { reason, status, duration_ms } = attempt;
    this.#log({ event: 'webhook_attempt', message: id, status, reason, ms: duration_ms });
  }

  /** Signs with all valid secrets and sends, once. */
  send(url: string, id: string, body: Uint8Array): ReturnType<typeof attemptDelivery> {
    const secrets = this.#endpoint.secrets(Date.now());
    return attemptDelivery({
      url,
      id,
      body,
      secrets,
      allowLoopback: allowsLoopback(this.#environment, this.#platforms),
    });
  }

  /** Ids and reasons of ours: no URL, no text. */
  #log(line: Readonly<Record<string, unknown>>): void {
    console.log(JSON.stringify({ ...line, endpoint: this.#endpoint.target?.id ?? null }));
  }
}

const BROKE: JobOutcome = { ok: false, failure: { reason: 'internal' }, retryable: true, retry_after_s: null };
