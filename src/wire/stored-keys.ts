/** API keys that the Worker stores (`/v1/api-keys`), and the uses of admin routes (`/v1/audit`). */
import * as z from 'zod';
import { MAX_ADMIN_PAGE, MAX_KEY_LIFETIME_S } from '../limits.ts';
import { KEY_NAME, PROJECT_NAME, RATE_TIERS, SCOPES } from './api-keys.ts';

const timeSchema = z.iso.datetime();
const keyIdSchema = z.string().regex(/^key_[A-Za-z0-9_-]{24}$/);

const projectNameSchema = z
  .string()
  .refine((name) => PROJECT_NAME.test(name), {
    error: 'expected 1 to 32 lower-case letters, digits and "-", with a letter or digit first',
  })
  .meta({ pattern: PROJECT_NAME.source });

const labelSchema = z
  .string()
  .refine((label) => KEY_NAME.test(label), { error: 'expected 1 to 64 letters, digits, ".", "_" or "-"' })
  .meta({ pattern: KEY_NAME.source });

const tierSchema = z.enum(RATE_TIERS).describe('The rate limit of the key.');

export const newKeySchema = z.strictObject({
  label: labelSchema.describe('Names the key in lists and logs.'),
  project: projectNameSchema.exactOptional().describe("Default: the caller's. Another one needs an operator's key."),
  scopes: z.array(z.enum(SCOPES)).min(1).describe('Scopes that the caller has.'),
  expires_in_s: z
    .int()
    .min(60)
    .max(MAX_KEY_LIFETIME_S)
    .exactOptional()
    .describe("In seconds. Default: when the caller's key expires."),
  tier: tierSchema.default('standard'),
});

const storedKeySchema = z.strictObject({
  id: keyIdSchema,
  project: z.string(),
  label: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  tier: tierSchema,
  created_at: timeSchema,
  expires_at: timeSchema.nullable().describe('null = never.'),
  last_used_at: timeSchema.nullable().describe('To the hour; null = not used yet.'),
  revoked_at: timeSchema.nullable(),
});

export type StoredKeyReply = z.infer<typeof storedKeySchema>;

export const createdKeySchema = storedKeySchema.extend({ key: z.string().describe('The key. Shown only once.') });

export const revokedKeySchema = z.strictObject({ id: keyIdSchema, revoked: z.literal(true) });

const limitSchema = z
  .string()
  .regex(/^\d{1,4}$/, { error: 'expected digits' })
  .transform(Number)
  .pipe(z.int().min(1).max(MAX_ADMIN_PAGE))
  .default(MAX_ADMIN_PAGE)
  .describe(`1 to ${MAX_ADMIN_PAGE}.`);

const projectParameter = projectNameSchema
  .exactOptional()
  .describe("Default: the caller's project; for an operator's key all projects.");

export const keyListQuerySchema = z.strictObject({
  project: projectParameter,
  limit: limitSchema,
  after: keyIdSchema.exactOptional().describe('The last key of the previous page.'),
});

export const keyListSchema = z.strictObject({
  keys: z.array(storedKeySchema).describe('Newest first; revoked ones for 90 days.'),
  next: keyIdSchema.nullable().describe('For `after`; null = last page.'),
});

export const auditQuerySchema = z.strictObject({
  project: projectParameter,
  limit: limitSchema,
  before: z
    .string()
    .regex(/^\d{1,15}$/, { error: 'expected digits' })
    .transform(Number)
    .exactOptional()
    .describe('`next` of the previous page.'),
});

export const auditedUseSchema = z.strictObject({
  n: z.int(),
  at: timeSchema,
  project: z.string(),
  key_id: z.string().describe('key_… of a stored key, setting:NAME of a key in API_KEYS, anonymous.'),
  key_label: z.string(),
  method: z.string(),
  route: z.string().describe('The pattern of the path.'),
  path: z.string().nullable().describe('null if it contains other characters than letters, digits and "._:/-".'),
  status: z.int().describe('The status of the reply.'),
  reason: z.string().nullable().describe('Why the request was refused; null = it was not.'),
});

export type AuditedUse = z.infer<typeof auditedUseSchema>;

export const auditSchema = z.strictObject({
  uses: z.array(auditedUseSchema).describe('Newest first, of the last 90 days.'),
  next: z.int().nullable().describe('For `before`; null = last page.'),
});
