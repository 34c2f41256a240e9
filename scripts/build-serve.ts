/**
 * `node scripts/build-serve.ts`: builds what `citeward serve` runs, into a folder of dist/serve that is named after the
 * digest of its inputs, and prints the path of the folder. Does nothing if the folder exists, so several processes may
 * call it at the same time.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname, join, resolve } from 'node:path';
import * as z from 'zod';
import { SERVE_FILES, type WorkerDescription, workerDescriptionSchema } from '../serve/worker-description.ts';
import { assetsOf } from './asset-headers.ts';
import { ensureDashboard } from './build-dashboard.ts';

const root = resolve(import.meta.dirname, '..');
const output = resolve(root, 'dist/serve');

/** Folders and files that the build reads, besides the dashboard. */
const INPUTS = [
  ...['functions', 'service', 'src', 'lib', 'serve', 'fake-ai', 'wrangler.toml', 'package-lock.json'],
  ...['scripts/build-serve.ts', 'scripts/asset-headers.ts'],
] as const;

/** Folders of older inputs are kept this long, because a server may still read the dashboard from them. */
const KEPT_MS = 3_600_000;

/** Builds what is missing. Returns the absolute path of the folder. */
export async function ensureServeFiles(): Promise<string> {
  await ensureDashboard();
  const folder = join(output, digestOfInputs());
  if (existsSync(folder)) return folder;
  mkdirSync(output, { recursive: true });
  // A folder of its own for each call: a test starts two Workers at once in one process.
  const partial = mkdtempSync(join(output, '.partial-'));
  bundleCiteward(partial);
  await bundleWorkers(partial);
  cpSync(resolve(root, 'dist/dashboard'), join(partial, SERVE_FILES.dashboard), { recursive: true });
  writeFileSync(join(partial, SERVE_FILES.description), JSON.stringify(await describeWorker(), null, 1));
  place(partial, folder);
  removeOld(folder);
  return folder;
}

function digestOfInputs(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    hash
      .update(`${path}\0`)
      .update(readFileSync(resolve(root, path)))
      .update('\0');
  };
  for (const input of [...INPUTS, 'dist/dashboard']) {
    if (!statSync(resolve(root, input)).isDirectory()) {
      add(input);
      continue;
    }
    const names = readdirSync(resolve(root, input), { recursive: true, encoding: 'utf8' }).sort();
    for (const name of names) if (extname(name) !== '' || name === '_headers') add(join(input, name));
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Bundles the Worker as a deployment does.
 *
 * @param entry the main module; default: that of `citeward serve`.
 * @param flags more arguments of `wrangler deploy`.
 */
export function bundleCiteward(
  folder: string,
  entry = 'serve/workers/citeward.ts',
  flags: readonly string[] = [],
): void {
  const wrangler = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
  const built = join(folder, 'wrangler');
  const args = ['deploy', entry, '--dry-run', '--outdir', built, ...flags];
  const ran = spawnSync(process.execPath, [wrangler, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  });
  if (ran.status !== 0) throw new Error(`wrangler deploy --dry-run failed:\n${ran.stdout}${ran.stderr}`);
  cpSync(join(built, SERVE_FILES.citeward), join(folder, SERVE_FILES.citeward));
  rmSync(built, { recursive: true });
}

async function bundleWorkers(folder: string): Promise<void> {
  const entries = {
    [SERVE_FILES.stores]: 'serve/workers/stores.ts',
    [SERVE_FILES.assets]: 'serve/workers/assets.ts',
    [SERVE_FILES.rateLimit]: 'serve/workers/rate-limit.ts',
    [SERVE_FILES.remoteObjects]: 'serve/workers/remote-objects.ts',
    [SERVE_FILES.fakeAi]: 'fake-ai/index.ts',
  };
  for (const [file, entry] of Object.entries(entries)) await bundleWorker(folder, file, entry);
}

/** Bundles one of the small Workers. @param define texts of code in place of names. */
export async function bundleWorker(
  folder: string,
  file: string,
  entry: string,
  define: Readonly<Record<string, string>> = {},
): Promise<void> {
  // Imported here, because most calls build nothing.
  const { build } = await import('vite');
  await build({
    configFile: false,
    logLevel: 'error',
    root,
    publicDir: false,
    define,
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2024',
      minify: false,
      lib: { entry: resolve(root, entry), formats: ['es'], fileName: () => file },
      rolldownOptions: { external: [/^cloudflare:/u, /^node:/u] },
    },
  });
}

/** Most batches of one queue that a consumer works on at the same time, where wrangler.toml does not say. */
const DEFAULT_CONCURRENCY = 32;

/** What wrangler.toml may declare that `citeward serve` provides; the defaults are the platform's. */
const consumerSchema = z
  .object({
    queue: z.string(),
    max_batch_size: z.number().default(10),
    max_batch_timeout: z.number().default(5),
    max_retries: z.number().default(3),
    dead_letter_queue: z.string().nullable().default(null),
    retry_delay: z.number().default(0),
    max_concurrency: z
      .number()
      .nullish()
      .transform((given) => given ?? DEFAULT_CONCURRENCY),
  })
  .transform(({ queue, ...consumer }) => [queue, consumer] as const);
const bindingsSchema = z.array(z.object({ binding: z.string() }).transform(({ binding }) => binding)).default([]);
const configurationSchema = z.object({
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  vars: z.record(z.string(), z.string()),
  kv_namespaces: bindingsSchema,
  r2_buckets: bindingsSchema,
  d1_databases: bindingsSchema,
  durable_objects: z.object({ bindings: z.array(z.object({ name: z.string(), class_name: z.string() })) }),
  queues: z.object({
    producers: z.array(z.object({ binding: z.string(), queue: z.string() })).default([]),
    consumers: z.array(consumerSchema).default([]),
  }),
  triggers: z.object({ crons: z.array(z.string()).default([]) }),
  ratelimits: z
    .array(z.object({ name: z.string(), simple: z.object({ limit: z.number(), period: z.number() }) }))
    .default([]),
});

async function describeWorker(): Promise<WorkerDescription> {
  const { unstable_readConfig } = await import('wrangler');
  const read: unknown = unstable_readConfig({ config: resolve(root, 'wrangler.toml') }, { hideWarnings: true });
  const config = configurationSchema.parse(read);
  return workerDescriptionSchema.parse({
    compatibility_date: config.compatibility_date,
    compatibility_flags: config.compatibility_flags,
    variables: config.vars,
    kv_namespaces: config.kv_namespaces,
    r2_buckets: config.r2_buckets,
    d1_databases: config.d1_databases,
    durable_objects: config.durable_objects.bindings.map(({ name, class_name }) => ({ binding: name, class_name })),
    queue_producers: config.queues.producers,
    queue_consumers: Object.fromEntries(config.queues.consumers),
    crons: config.triggers.crons,
    rate_limits: config.ratelimits.map(({ name, simple }) => ({ binding: name, ...simple })),
    assets: assetsOf(resolve(root, 'dist/dashboard')),
  });
}

/** Renames the complete folder into place; another process may have been faster. */
function place(partial: string, folder: string): void {
  try {
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(current: string): void {
  for (const name of readdirSync(output)) {
    const folder = join(output, name);
    // The folder of another build may be gone since it was listed.
    const changedMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const isOld = folder !== current && Date.now() - changedMs > KEPT_MS;
    if (isOld) rmSync(folder, { recursive: true, force: true });
  }
}

/** A person at a terminal is told why nothing happens. */
const QUIET_MS = 800;

if (process.argv[1] === import.meta.filename) {
  const told = setTimeout(() => console.error('Building the Worker from its sources…'), QUIET_MS);
  console.log(await ensureServeFiles());
  clearTimeout(told);
}
