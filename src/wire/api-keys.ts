/**
 * The schema of the secret `API_KEYS`: names mapped to key hashes and scopes. It never contains the keys themselves.
 */
import * as z from 'zod';
import { sha256Schema } from '../judgments/judgment-schema.ts';

export const SCOPES = ['verify', 'score', 'generate', 'batch', 'admin', 'metrics'] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * A project owns runs, files, uploads, batches and webhook endpoints. Its name is part of the names of objects, so it
 * contains no "/".
 */
export const PROJECT_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The project of the keys in API_KEYS, and of requests without a key where they are allowed. */
export const DEFAULT_PROJECT = 'default';

/** The rate limits of keys (docs/guides/projects.md), the lowest first. */
export const RATE_TIERS = ['standard', 'high'] as const;
export type RateTier = (typeof RATE_TIERS)[number];

/** Key names appear in the Worker's log. */
export const KEY_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export const apiKeysSchema = z.record(
  z.string().regex(KEY_NAME),
  z.strictObject({ sha256: sha256Schema, scopes: z.array(z.enum(SCOPES)).min(1) }),
);

export type ApiKeys = z.infer<typeof apiKeysSchema>;
