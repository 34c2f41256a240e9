/** Export and import of judgments, and the public keys that verify them. */
import * as z from 'zod';
import { REFUSAL_REASONS } from '../judgments/import-judgments.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_EXPORT_KEYS } from '../limits.ts';

export const exportRequestSchema = z.strictObject({
  keys: z.array(sha256Schema).min(1).max(MAX_EXPORT_KEYS).describe('Judgment keys, as listed in a score.'),
});

export const importReportSchema = z.strictObject({
  v: z.literal(1),
  imported: z.int().min(0),
  already_there: z.int().min(0).describe('Judgments that the store had; an import never overwrites.'),
  refused: z.int().min(0),
  refused_lines: z
    .array(z.strictObject({ line: z.int().min(1), reason: z.enum(REFUSAL_REASONS), detail: z.string() }))
    .describe('The first refused lines; the count is exact.'),
  complete: z.boolean().describe('Whether the file ended with the correct line count; false = truncated or edited.'),
});

const publicKeySchema = z
  .strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })
  .describe('A JWK. TRUSTED_ISSUERS takes a list of these.');

const keyIdSchema = sha256Schema.describe('RFC 7638 thumbprint of the public key, in hex.');

export const issuerKeysSchema = z.strictObject({
  v: z.literal(1),
  keys: z
    .array(
      z.discriminatedUnion('status', [
        z.strictObject({ key_id: keyIdSchema, status: z.enum(['current', 'previous']), public_key: publicKeySchema }),
        z.strictObject({
          key_id: keyIdSchema,
          status: z.literal('revoked'),
          public_key: z.null().describe('Omitted, so no list built from this reply trusts a revoked key.'),
        }),
      ]),
    )
    .describe('Keys with which this deployment signs or has signed judgments and receipts.'),
});

/** The public keys of a deployment, with the revoked ones. */
export type IssuerKeysReply = z.infer<typeof issuerKeysSchema>;
