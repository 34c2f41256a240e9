/** Requests about webhooks (Standard Webhooks): endpoints, rotated secrets, pages of deliveries. */
import * as z from 'zod';
import {
  MAX_DELIVERY_PAGE,
  MAX_SECRET_GRACE_S,
  MAX_WEBHOOK_DESCRIPTION_CHARS,
  MAX_WEBHOOK_URL_CHARS,
} from '../limits.ts';

export const messageIdSchema = z.string().regex(/^msg_[A-Za-z0-9_-]{24}$/);

const urlSchema = z
  .string()
  .min(1)
  .max(MAX_WEBHOOK_URL_CHARS)
  .describe('https, a public host name (no IP address), port 443 or 8443, no user info, no fragment.');
const descriptionSchema = z.string().max(MAX_WEBHOOK_DESCRIPTION_CHARS);
export const enabledSchema = z.boolean().describe('false: signed requests are refused, and deliveries wait.');

export const endpointRegistrationSchema = z.strictObject({
  url: urlSchema,
  description: descriptionSchema.exactOptional(),
  enabled: enabledSchema.default(true),
});

export const endpointChangeSchema = z.strictObject({
  url: urlSchema.exactOptional(),
  description: descriptionSchema.nullable().exactOptional(),
  enabled: enabledSchema.exactOptional(),
});

export type EndpointChange = z.infer<typeof endpointChangeSchema>;

/** How long a secret stays valid after its rotation, unless the request says otherwise. */
const DEFAULT_SECRET_GRACE_S = 24 * 60 * 60;

export const secretRotationSchema = z.strictObject({
  grace_s: z
    .int()
    .min(0)
    .max(MAX_SECRET_GRACE_S)
    .default(DEFAULT_SECRET_GRACE_S)
    .describe('How long previous secrets stay valid, in seconds; 0 = they expire now (after a leak).'),
});

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const deliveriesQuerySchema = z.strictObject({
  state: z.enum(DELIVERY_STATES).exactOptional(),
  limit: z.coerce.number().int().min(1).max(MAX_DELIVERY_PAGE).default(20),
  after: messageIdSchema.exactOptional(),
});
