/**
 * The schema of the secret `API_KEYS`: names mapped to key hashes and scopes. It never contains the keys themselves.
 */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';

export const SCOPES = ['verify', 'score', 'generate', 'batch', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Key names appear in the Worker's log. */
export const KEY_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export const apiKeysSchema = z.record(
  z.string().regex(KEY_NAME),
  z.strictObject({ sha256: sha256Schema, scopes: z.array(z.enum(SCOPES)).min(1) }),
);

export type ApiKeys = z.infer<typeof apiKeysSchema>;
