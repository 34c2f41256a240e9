/** The judgment record as it is stored and carried between deployments. Version 2; version 1 is still read. */
import * as z from 'zod';
import { JUDGMENT_KINDS, verdictsSchema } from './kinds/registry.ts';

/** 64 lower-case hex digits: a SHA-256. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

const indexSchema = z.int().min(0);

export const judgmentKindSchema = z.enum(JUDGMENT_KINDS);

export const samplingSchema = z
  .record(z.string(), z.union([z.number(), z.string(), z.boolean()]))
  .nullable()
  .describe('Sampling parameters exactly as sent; null where nothing is sampled.');

export const tokenUsageSchema = z.strictObject({ prompt_tokens: indexSchema, completion_tokens: indexSchema });

const preimageSchema = z.strictObject({
  v: z.literal(1),
  kind: judgmentKindSchema,
  judge: z.strictObject({ model: z.string(), template: z.string(), sampling: samplingSchema }),
  parser: z.string(),
  replicate: indexSchema,
  inputs: z.record(z.string(), sha256Schema).describe('Input name to SHA-256 of its RFC 8785 JSON.'),
});

const recordFields = {
  key: sha256Schema.describe('SHA-256 of the RFC 8785 JSON of `preimage`.'),
  preimage: preimageSchema,
  verdicts: verdictsSchema,
  usage: tokenUsageSchema.nullable(),
  judged_at: z.iso.datetime(),
};

/** An Ed25519 signature is 64 bytes: 86 base64url digits. */
const ED25519_SIGNATURE_TEXT = /^[A-Za-z0-9_-]{86}$/;

/** Who signed a record, and what came of it. */
export const recordSignatureSchema = z.strictObject({
  key_id: sha256Schema.describe('RFC 7638 thumbprint of the Ed25519 public key, in hex.'),
  signature: z
    .string()
    .regex(ED25519_SIGNATURE_TEXT)
    .describe('Base64url, over the RFC 8785 JSON of the record with `issuer: {key_id}`.'),
});

export const judgmentSchema = z.strictObject({
  v: z.literal(2),
  ...recordFields,
  issuer: recordSignatureSchema.nullable().describe('null = unsigned.'),
});

/** Version 1 had no issuer. Written until 2026-11; still read. */
export const judgmentSchemaV1 = z.strictObject({ v: z.literal(1), ...recordFields });
