/**
 * The Durable Object of one webhook endpoint. It owns the endpoint's secrets, its inbox of signed scoring requests and
 * its outbox of deliveries. This class only wires them together.
 *
 * All work runs in alarms, never in `waitUntil`: an alarm is stored, so the work survives a restart of the object.
 * There is one alarm, and it is always set to the time of the next due work.
 */
import { DurableObject } from 'cloudflare:workers';
import { newId } from '../../service/ids.ts';
import { countedAlarm } from '../desk/send-counts.ts';
import type { Environment } from '../environment.ts';
import { createPlatformFactory, type PlatformParts, uncachedJudgments } from '../platform.ts';
import {
  type AnnounceMessage,
  type AnnounceReply,
  type Answer,
  type ChangeMessage,
  type DeliveriesMessage,
  type DeliveriesPageReply,
  type DeliveryDescriptionReply,
  type DeliveryMessage,
  type EndpointRefusal,
  type EndpointReply,
  type JobDescriptionReply,
  type JobMessage,
  type PlainMessage,
  type ReceiveMessage,
  type ReceiveReply,
  type Refused,
  type RegisterMessage,
  type RegisterReply,
  type RotateMessage,
  type SecretsReply,
  type TestReply,
  timeText,
  WEBHOOK_MESSAGE_VERSION,
} from './endpoint-messages.ts';
import { EndpointRecord } from './endpoint-record.ts';
import { EndpointWork } from './endpoint-work.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { createSecret } from './signature.ts';
import { StoredTexts } from './stored-texts.ts';
import { WorkLoop } from './work-loop.ts';

/** Storage after which new requests and events are refused with a 503, in bytes. The platform's limit is 10 GB. */
const MAX_STORAGE_BYTES = 4 * 1024 * 1024 * 1024;
/** An alarm starts new work for this long. The platform's limit is 15 minutes. */
const ALARM_MS = 5 * 60 * 1000;
/** If an alarm is lost while it runs, the next one starts after this time. */
const WATCHDOG_MS = 60 * 1000;
/** Alarms that only delete old rows are at least this far apart. */
const TIDY_MS = 60 * 1000;

export type DeliveriesOptions = Partial<PlatformParts> & {
  /** Pending jobs after which new requests are refused with a 503. */
  readonly maxPendingJobs?: number;
  /** A receiver has this long for its whole reply. */
  readonly deliveryTimeoutMs?: number;
};

export class Deliveries extends DurableObject<Environment> {
  readonly #endpoint: EndpointRecord;
  readonly #texts: StoredTexts;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #work: EndpointWork;
  readonly #loop: WorkLoop;

  /** @param options replace parts of the platform and limits, for tests. */
  constructor(state: DurableObjectState, environment: Environment, options: DeliveriesOptions = {}) {
    super(state, environment);
    const { sql } = state.storage;
    const platforms = createPlatformFactory({ ...options, judgmentStoreOf: uncachedJudgments });
    this.#endpoint = new EndpointRecord(sql, () => {
      // With malformed settings no request registers an endpoint.
      const settings = platforms.settingsOf(environment);
      return settings.ok ? settings.value.webhookSecretKeys : [];
    });
    this.#texts = new StoredTexts(sql);
    this.#inbox = new Inbox(sql, this.#texts, options.maxPendingJobs);
    this.#outbox = new Outbox(sql, this.#texts);
    const stored = { endpoint: this.#endpoint, inbox: this.#inbox, outbox: this.#outbox };
    this.#work = new EndpointWork(stored, state.storage, environment, platforms, options.deliveryTimeoutMs);
    this.#loop = new WorkLoop(this.#work.kinds, () => Date.now());
  }

  /** Registers the endpoint. A second registration throws, because ids are random. */
  async register(message: RegisterMessage): Promise<RegisterReply> {
    if (message.v !== WEBHOOK_MESSAGE_VERSION) return refused('version_skew');
    if (this.#endpoint.target !== null) throw new Error('Deliveries: the endpoint is already registered');
    const now = Date.now();
    const secret = await this.#endpoint.createSecret(message.id);
    this.ctx.storage.transactionSync(() => this.#endpoint.register(message, secret, now));
    return { ok: true, value: { ...this.#endpoint.describe(now), secret: secret.text } };
  }

  async describe(message: PlainMessage): Promise<EndpointReply> {
    // A list of endpoints has their secrets encrypted with the current key.
    await this.#endpoint.secrets(Date.now());
    return this.#answer(message, () => done(this.#endpoint.describe(Date.now())));
  }

  async change(message: ChangeMessage): Promise<EndpointReply> {
    const answer = this.#answer(message, () => {
      this.ctx.storage.transactionSync(() => this.#endpoint.change(message.change));
      return done(this.#endpoint.describe(Date.now()));
    });
    // Deliveries that waited while the endpoint was disabled may be due.
    if (answer.ok) await this.#wake();
    return answer;
  }

  async rotate(message: RotateMessage): Promise<RegisterReply> {
    const secret = await this.#endpoint.createSecret(this.#endpoint.target?.id ?? '');
    const answer = this.#answer(message, () => {
      const now = Date.now();
      const added = this.ctx.storage.transactionSync(() => this.#endpoint.rotate(message.grace_s, secret, now));
      return added ? done({ ...this.#endpoint.describe(now), secret: secret.text }) : refused('secrets_full');
    });
    if (answer.ok) await this.#wake();
    return answer;
  }

  /** Deletes everything. Idempotent. */
  async remove(message: PlainMessage): Promise<Answer<null>> {
    if (message.v !== WEBHOOK_MESSAGE_VERSION) return refused('version_skew');
    this.ctx.storage.transactionSync(() => {
      for (const part of [this.#endpoint, this.#inbox, this.#outbox, this.#texts]) part.clear();
    });
    await this.ctx.storage.deleteAlarm();
    return done(null);
  }

  /** The valid secrets. An unregistered endpoint returns a random one, so that the check costs the same and fails. */
  async secrets(message: PlainMessage): Promise<Answer<SecretsReply>> {
    if (message.v !== WEBHOOK_MESSAGE_VERSION) return refused('version_skew');
    if (this.#endpoint.target === null) return done({ registered: false, secrets: [createSecret()] });
    const secrets = await this.#endpoint.secrets(Date.now());
    return secrets === null ? refused('secret_unreadable') : done({ registered: true, secrets });
  }

  /** Accepts a request with a valid signature. Repeating it returns the same job. */
  async receive(message: ReceiveMessage): Promise<ReceiveReply> {
    const answer = this.#answer<ReceiveReply>(message, () => {
      if (this.#endpoint.target?.enabled !== true) return refused('endpoint_disabled');
      const full = this.#isStorageFull();
      const claim = this.ctx.storage.transactionSync(() => this.#inbox.claim(message, full, Date.now()));
      return 'job' in claim ? done(claim.job) : refused(claim.status);
    });
    if (answer.ok) await this.#wake();
    return answer;
  }

  async job(message: JobMessage): Promise<JobDescriptionReply> {
    return this.#answer<JobDescriptionReply>(message, () => {
      const job = this.#inbox.describe(message.job);
      if (job === null) return refused('job_unknown');
      return done({ ...job, event: job.message === null ? null : this.#outbox.text(job.message) });
    });
  }

  /** Enqueues an event. */
  async announce(message: AnnounceMessage): Promise<AnnounceReply> {
    const answer = this.#answer<AnnounceReply>(message, () => {
      if (this.#isStorageFull() || this.#outbox.isFull()) return refused('full');
      return done({ message: this.ctx.storage.transactionSync(() => this.#outbox.add(message, Date.now())) });
    });
    if (answer.ok) await this.#wake();
    return answer;
  }

  async deliveries(message: DeliveriesMessage): Promise<DeliveriesPageReply> {
    return this.#answer<DeliveriesPageReply>(message, () => {
      const page = this.#outbox.page(message);
      return page === null ? refused('delivery_unknown') : done(page);
    });
  }

  async delivery(message: DeliveryMessage): Promise<DeliveryDescriptionReply> {
    return this.#answer<DeliveryDescriptionReply>(message, () => {
      const delivery = this.#outbox.describe(message.message);
      return delivery === null ? refused('delivery_unknown') : done(delivery);
    });
  }

  async resend(message: DeliveryMessage): Promise<DeliveryDescriptionReply> {
    const known = this.#answer(message, () =>
      this.#outbox.resend(message.message, Date.now()) ? done(null) : refused('delivery_unknown'),
    );
    if (!known.ok) return known;
    await this.#wake();
    return this.delivery(message);
  }

  /** Sends a test event now, even if the endpoint is disabled. The event is not stored and not retried. */
  async sendTest(message: PlainMessage): Promise<TestReply> {
    const target = this.#endpoint.target;
    if (message.v !== WEBHOOK_MESSAGE_VERSION || target === null)
      return this.#answer(message, () => refused('endpoint_unknown'));
    const id = newId('msg_');
    const event = { type: 'webhook.test', timestamp: timeText(Date.now()), data: { endpoint: target.id } };
    const attempt = await this.#work.send(target.url, id, new TextEncoder().encode(JSON.stringify(event)));
    const { reason, status, duration_ms } = attempt;
    return done({ message: id, delivered: reason === null, status, reason, duration_ms });
  }

  override async alarm(): Promise<void> {
    await countedAlarm('Deliveries', this.env, () => this.#doDue());
  }

  async #doDue(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + WATCHDOG_MS);
    if (!this.#loop.isRunning) this.#work.beginAlarm();
    await this.#loop.run(Date.now() + ALARM_MS);
    this.ctx.storage.transactionSync(() => this.#tidy(Date.now()));
    await this.#setAlarm();
  }

  #answer<A extends Answer<unknown>>({ v }: PlainMessage, work: () => A | Refused): A | Refused {
    if (v !== WEBHOOK_MESSAGE_VERSION) return refused('version_skew');
    return this.#endpoint.target === null ? refused('endpoint_unknown') : work();
  }

  #isStorageFull(): boolean {
    return this.ctx.storage.sql.databaseSize > MAX_STORAGE_BYTES;
  }

  #tidy(now: number): void {
    if (this.#endpoint.target?.enabled === false) this.#outbox.expire(now);
    this.#outbox.tidy(now);
    this.#inbox.tidy(now);
    this.#endpoint.forgetSecrets(now);
  }

  /** Makes the work loop or the alarm notice new or changed work. */
  async #wake(): Promise<void> {
    if (this.#loop.isRunning) this.#loop.poke();
    else await this.#setAlarm();
  }

  /** Sets the alarm synchronously after reading the due times, so that no change falls between them. */
  #setAlarm(): Promise<void> {
    const soonest = Date.now() + TIDY_MS;
    const sends = this.#endpoint.target?.enabled === true;
    const work = [this.#inbox.nextDue(), sends ? this.#outbox.nextDue() : this.#outbox.nextExpiry()];
    const tidying = [this.#outbox.nextTidy(), this.#inbox.nextTidy(), this.#endpoint.nextExpiry()];
    const times = [...work, ...tidying.map((time) => (time === null ? null : Math.max(time, soonest)))];
    const next = times.reduce(
      (least, time) => (time === null || (least !== null && least <= time) ? least : time),
      null,
    );
    return next === null ? this.ctx.storage.deleteAlarm() : this.ctx.storage.setAlarm(Math.max(next, Date.now()));
  }
}

function done<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

function refused(refusal: EndpointRefusal): Refused {
  return { ok: false, refusal };
}
