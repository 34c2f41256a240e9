/** Export and import of judgments, and the public keys that vouch for them. */
import * as z from 'zod';
import { REFUSAL_REASONS } from '../judgments/import-judgments.ts';
import { sha256Schema } from '../judgments/judgment-schema.ts';
import { MAX_EXPORT_KEYS } from '../limits.ts';

export const exportRequestSchema = z.strictObject({
  keys: z.array(sha256Schema).min(1).max(MAX_EXPORT_KEYS).describe('Keys of judgments, as a score names them.'),
});

export const importReportSchema = z.strictObject({
  v: z.literal(1),
  imported: z.int().min(0),
  already_there: z.int().min(0).describe('Nothing is ever overwritten.'),
  refused: z.int().min(0),
  refused_lines: z
    .array(z.strictObject({ line: z.int().min(1), reason: z.enum(REFUSAL_REASONS), detail: z.string() }))
    .describe('The first refused lines; the count is exact.'),
  complete: z
    .boolean()
    .describe('Whether the file ended with the right count of its lines; false = cut off, or edited.'),
});

const publicKeySchema = z
  .strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })
  .describe('A JWK; a list of these is what TRUSTED_ISSUERS takes.');

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
          public_key: z.null().describe('Left out, so that no list made from this trusts it.'),
        }),
      ]),
    )
    .describe('Keys by which this deployment signs and has signed judgments and receipts.'),
});

export type IssuerKeysReply = z.infer<typeof issuerKeysSchema>;
