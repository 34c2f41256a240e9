/**
 * Messages between the Worker's isolates and the Durable Object of an endpoint. They carry a version, because the two
 * may run different code during a deployment: an object refuses an unknown version, and the caller retries.
 */
import type { DeliveryState, EndpointChange } from '../../src/wire/webhooks.ts';
import type {
  AcceptedJob,
  DeliveriesReply,
  DeliveryDetail,
  Endpoint,
  EndpointTest,
  EndpointWithSecret,
  JobReply,
} from '../../src/wire/webhooks-reply.ts';

export const WEBHOOK_MESSAGE_VERSION = 1;

type Message<Fields = unknown> = { readonly v: number } & Readonly<Fields>;

export type PlainMessage = Message;
export type RegisterMessage = Message<{
  id: string;
  project: string;
  url: string;
  description: string | null;
  enabled: boolean;
}>;
export type ChangeMessage = Message<{ change: EndpointChange }>;
export type RotateMessage = Message<{ grace_s: number }>;
/** A request with a valid signature. */
/** `trace`: `traceparent` of the request; absent = none. */
export type ReceiveMessage = Message<{ webhook_id: string; digest: string; body: Uint8Array; trace?: string | null }>;
export type JobMessage = Message<{ job: string }>;
export type AnnounceMessage = Message<{ type: string; data: string; key: string | null }>;
export type DeliveriesMessage = Message<{ state: DeliveryState | null; limit: number; after: string | null }>;
export type DeliveryMessage = Message<{ message: string }>;

/** Why an object refuses a message. */
export type EndpointRefusal =
  | 'endpoint_unknown'
  | 'endpoint_disabled'
  | 'job_unknown'
  | 'delivery_unknown'
  /** The `webhook-id` was used before with another body. */
  | 'id_reused'
  /** Too many jobs or deliveries are pending. */
  | 'full'
  | 'secrets_full'
  /** WEBHOOK_SECRETS_KEY lacks the key that encrypted a secret. */
  | 'secret_unreadable'
  | 'version_skew';

/** The refusal of a message, of an object or of its client. */
export type Refused<R = EndpointRefusal> = { readonly ok: false; readonly refusal: R };

export type Answer<T> = { readonly ok: true; readonly value: T } | Refused;

/**
 * Secrets to verify a signature with. An unregistered endpoint returns a random secret, so that the check costs the
 * same.
 */
export type SecretsReply = { readonly registered: boolean; readonly secrets: readonly Uint8Array[] };

/** The event is its JSON text, because the Worker passes it on without reading it. */
export type JobDescription = Omit<JobReply, 'event'> & { readonly event: string | null };
export type DeliveryDescription = Omit<DeliveryDetail, 'event'> & { readonly event: string };

export type RegisterReply = Answer<EndpointWithSecret>;
export type EndpointReply = Answer<Endpoint>;
export type TestReply = Answer<EndpointTest>;
export type ReceiveReply = Answer<AcceptedJob>;
export type JobDescriptionReply = Answer<JobDescription>;
export type AnnounceReply = Answer<{ readonly message: string }>;
export type DeliveriesPageReply = Answer<DeliveriesReply>;
export type DeliveryDescriptionReply = Answer<DeliveryDescription>;

/** Formats a time for the wire. @param ms milliseconds since 1970. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
