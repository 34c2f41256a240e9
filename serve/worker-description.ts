/**
 * What `citeward serve` knows about the Worker: its bindings, as wrangler.toml declares them. scripts/build-serve.ts
 * writes it beside the bundle, so that a new binding needs no change here.
 */
import * as z from 'zod';

const nameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u);

export const workerDescriptionSchema = z.object({
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  /** Variables of wrangler.toml. */
  variables: z.record(nameSchema, z.string()),
  kv_namespaces: z.array(nameSchema),
  r2_buckets: z.array(nameSchema),
  d1_databases: z.array(nameSchema),
  durable_objects: z.array(z.object({ binding: nameSchema, class_name: nameSchema })),
  queue_producers: z.array(z.object({ binding: nameSchema, queue: z.string() })),
  /** By the name of the queue. */
  queue_consumers: z.record(
    z.string(),
    z.object({
      max_batch_size: z.number(),
      max_batch_timeout: z.number(),
      max_retries: z.number(),
      dead_letter_queue: z.string().nullable(),
      retry_delay: z.number(),
      max_concurrency: z.number(),
    }),
  ),
  crons: z.array(z.string()),
  rate_limits: z.array(z.object({ binding: nameSchema, limit: z.number(), period: z.number() })),
  /** The dashboard by the path of the URL: files, and redirects to other URLs. */
  assets: z.record(
    z.string(),
    z.union([
      z.object({ file: z.string(), headers: z.record(z.string(), z.string()) }),
      z.object({ location: z.string(), status: z.number() }),
    ]),
  ),
});

export type WorkerDescription = z.infer<typeof workerDescriptionSchema>;

/** The files of a build, in one folder. */
export const SERVE_FILES = {
  description: 'worker.json',
  citeward: 'citeward.js',
  stores: 'stores.js',
  assets: 'assets.js',
  rateLimit: 'rate-limit.js',
  remoteObjects: 'remote-objects.js',
  fakeAi: 'fake-ai.js',
  dashboard: 'dashboard',
} as const;
