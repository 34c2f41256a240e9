/** docs/guides/deploy.md lists every setting of the Worker, and every environment of wrangler.toml can be deployed. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';
import * as z from 'zod';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');
const page = read('docs/guides/deploy.md');
/** As functions/batches/consume-queue.ts recognises a dead-letter queue. */
const DEAD_LETTERS = /-dead(-|$)/;

function matchesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(({ groups }) => groups?.['name'] ?? '');
}

it('has a row for every setting', () => {
  const optional = matchesOf(read('functions/environment.ts'), /^ {2}readonly (?<name>[A-Z_]+)\?: string;/gmu);
  const switches = matchesOf(read('wrangler.toml'), /^(?<name>ALLOW_[A-Z_]+) = /gmu);
  expect(optional.length + switches.length).toBeGreaterThan(8);
  const rows = matchesOf(page, /^\| `(?<name>[A-Z_]+)` \|/gmu);
  expect(rows.sort()).toEqual([...new Set([...optional, ...switches])].sort());
});

it('has the costs of the page of capacity', () => {
  const costs = matchesOf(page, /^\| Workers Paid.*\| (?<name>\$[\d.]+) \|$/gmu);
  expect(costs).not.toEqual([]);
  const capacity = read('docs/reference/capacity.md');
  for (const cost of costs) expect(capacity).toContain(`| ${cost} |`);
});

describe.each(['', 'staging'])('the environment "%s" of wrangler.toml', (environment) => {
  const config = configOf(environment);
  const { producers, consumers } = config.queues;

  it('names no resource by id, so that a deployment creates what an account lacks', () => {
    expect(config.kv_namespaces).toEqual([{ binding: 'JUDGMENTS' }]);
    expect(config.d1_databases.map(({ database_id }) => database_id)).toEqual([undefined]);
    // Queues are created for producers only.
    const consumed = consumers.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue ?? queue]);
    expect(producers.map(({ queue }) => queue).sort()).toEqual([...new Set(consumed)].sort());
  });

  it('has names of its own, and a dead-letter queue that the Worker recognises', () => {
    const suffix = environment === '' ? '' : `-${environment}`;
    expect(config.name).toBe(`citeward${suffix}`);
    const dead = consumers.flatMap(({ dead_letter_queue }) => dead_letter_queue ?? []);
    expect(dead).toEqual([`citeward${suffix}-jobs-dead`]);
    for (const { queue } of consumers) expect(DEAD_LETTERS.test(queue)).toBe(dead.includes(queue));
    expect(config.r2_buckets.map(({ bucket_name }) => bucket_name)).toEqual([`citeward${suffix}-files`]);
  });

  it('binds and sets what the top level does', () => {
    const top = configOf('');
    for (const field of ['vars', 'limits', 'observability', 'triggers', 'migrations', 'assets', 'ai'] as const) {
      expect(config[field], field).toEqual(top[field]);
    }
    expect(config.durable_objects.bindings.map(({ name }) => name)).toEqual(
      top.durable_objects.bindings.map(({ name }) => name),
    );
    expect(producers.map(({ binding }) => binding)).toEqual(top.queues.producers.map(({ binding }) => binding));
  });
});

const queueSchema = z.looseObject({ queue: z.string(), dead_letter_queue: z.string().optional() });
const configSchema = z.looseObject({
  name: z.string(),
  kv_namespaces: z.array(z.unknown()),
  d1_databases: z.array(z.looseObject({ database_id: z.string().optional() })),
  r2_buckets: z.array(z.looseObject({ bucket_name: z.string() })),
  durable_objects: z.looseObject({ bindings: z.array(z.looseObject({ name: z.string() })) }),
  queues: z.looseObject({
    producers: z.array(z.looseObject({ binding: z.string(), queue: z.string() })),
    consumers: z.array(queueSchema),
  }),
});

function configOf(environment: string): z.infer<typeof configSchema> {
  const args = { config: resolve(root, 'wrangler.toml'), env: environment };
  return configSchema.parse(unstable_readConfig(args, { hideWarnings: true }));
}
