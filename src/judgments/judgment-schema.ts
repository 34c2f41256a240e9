/** Schemas of fields that judgment records share with replies, rows and receipts. */
import * as z from 'zod';
import { JUDGMENT_KINDS } from './kinds/names.ts';

/** 64 lower-case hex digits: a SHA-256. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const judgmentKindSchema = z.enum(JUDGMENT_KINDS);

export const samplingSchema = z
  .record(z.string(), z.union([z.number(), z.string(), z.boolean()]))
  .nullable()
  .describe('Sampling parameters exactly as sent; null where nothing is sampled.');

export const tokenUsageSchema = z.strictObject({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) });

/** An Ed25519 signature is 64 bytes: 86 base64url digits. */
const ED25519_SIGNATURE_TEXT = /^[A-Za-z0-9_-]{86}$/;

/** An Ed25519 signature with the key that made it. */
export const recordSignatureSchema = z.strictObject({
  key_id: sha256Schema.describe('RFC 7638 thumbprint of the Ed25519 public key, in hex.'),
  signature: z
    .string()
    .regex(ED25519_SIGNATURE_TEXT)
    .describe('Base64url, over the RFC 8785 JSON of the record with `issuer: {key_id}`.'),
});
