/**
 * The secret `API_KEYS` in zod: names to hashes and scopes. The Worker admits by it, `citeward keys` writes it. Keys
 * themselves are never in it.
 */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';

export const SCOPES = ['verify', 'score', 'generate', 'batch', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** A key's name stands in the log of the Worker. */
export const KEY_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export const apiKeysSchema = z.record(
  z.string().regex(KEY_NAME),
  z.strictObject({ sha256: sha256Schema, scopes: z.array(z.enum(SCOPES)).min(1) }),
);

export type ApiKeys = z.infer<typeof apiKeysSchema>;
