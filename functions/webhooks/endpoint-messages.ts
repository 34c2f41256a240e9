/**
 * What goes between the Worker's isolates and an endpoint's object. Versioned: during a deployment the two may run
 * different code; an object that does not know a version says so, and the caller tries again.
 */
import type {
  AcceptedJob,
  DeliveriesReply,
  DeliveryDetail,
  DeliveryState,
  Endpoint,
  EndpointChange,
  EndpointTest,
  EndpointWithSecret,
  JobReply,
} from '../../src/wire/webhooks.ts';

export const WEBHOOK_MESSAGE_VERSION = 1;

type Message<Fields = unknown> = { readonly v: number } & Readonly<Fields>;

export type PlainMessage = Message;
export type RegisterMessage = Message<{ id: string; url: string; description: string | null; enabled: boolean }>;
export type ChangeMessage = Message<{ change: EndpointChange }>;
export type RotateMessage = Message<{ grace_s: number }>;
/** A request whose signature was right. */
export type ReceiveMessage = Message<{ webhook_id: string; digest: string; body: Uint8Array }>;
export type JobMessage = Message<{ job: string }>;
export type AnnounceMessage = Message<{ type: string; data: string; key: string | null }>;
export type DeliveriesMessage = Message<{ state: DeliveryState | null; limit: number; after: string | null }>;
export type DeliveryMessage = Message<{ message: string }>;

/** Why an object does not do what it is asked. */
export type EndpointRefusal =
  | 'endpoint_unknown'
  | 'endpoint_disabled'
  | 'job_unknown'
  | 'delivery_unknown'
  /** The `webhook-id` came with another body before. */
  | 'id_reused'
  /** Too much waits already. */
  | 'full'
  | 'secrets_full'
  | 'version_skew';

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: EndpointRefusal };

/** Secrets to check a signature with. Of an endpoint that does not exist: some that nobody has. */
export type SecretsReply = { readonly registered: boolean; readonly secrets: readonly Uint8Array[] };

/** Events go as the text that is sent: what a score holds is of no interest on the way. */
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
