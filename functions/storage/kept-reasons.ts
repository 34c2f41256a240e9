/**
 * Keeps the reasons of judges in KV, by project, for 30 days. Unlike a judgment, a reason may quote a caller's text, so
 * it belongs to the project that asked for it even where projects share their judgments. STORAGE.md describes the value.
 */
import * as z from 'zod';
import { MAX_KV_BULK_KEYS } from '../../lib/kv-store.ts';
import { parsedJson } from '../../src/json.ts';
import { partitionOf } from '../../src/judgments/key.ts';
import type { ReasonStore } from '../../src/judgments/reasons.ts';
import type { CountedKv, KvOperations } from '../kv-operations.ts';
import { logEvent } from '../log-event.ts';

/** Lifetime of kept reasons, in seconds. */
const REASONS_TTL_S = 30 * 24 * 60 * 60;

/** More judgments of one answer than this, made together, keep their reasons in one value. */
const MAX_KEPT_APART = 8;

const valueSchema = z.strictObject({ v: z.literal(1), reasons: z.array(z.string()) });
const partitionSchema = z.strictObject({ v: z.literal(2), reasons: z.record(z.string(), z.array(z.string())) });

/**
 * Failures of KV are logged as an event without text; the reasons then count as not kept.
 * @param operations those of the invocation: what they have no room for is not kept.
 */
export function createKvReasonStore(
  kv: CountedKv,
  project: string,
  operations: Pick<KvOperations, 'takesWrite'>,
): ReasonStore {
  const nameOf = (key: string): string => `r:v1:${project}:${key}`;
  const nameOfPartition = (key: string): string => `r:v2:${project}:${partitionOf(key)}`;

  async function put(name: string, value: z.infer<typeof valueSchema> | z.infer<typeof partitionSchema>) {
    if (operations.takesWrite)
      await attempted('put', kv.put(name, JSON.stringify(value), { expirationTtl: REASONS_TTL_S }));
    else logEvent('error', { event: 'reasons_not_kept', reason: 'kv_operations' });
  }

  return {
    async get(keys) {
      const names = [...new Set(keys.flatMap((key) => [nameOf(key), nameOfPartition(key)]))];
      const texts = new Map<string, string | null>();
      for (let i = 0; i < names.length; i += MAX_KV_BULK_KEYS) {
        const some = await attempted('get', kv.get(names.slice(i, i + MAX_KV_BULK_KEYS), 'text'));
        for (const [name, text] of some ?? []) texts.set(name, text);
      }
      const partitionNames = [...new Set(keys.map(nameOfPartition))];
      const partitions = new Map(partitionNames.map((name) => [name, readValue(partitionSchema, texts.get(name))]));
      return new Map(
        keys.flatMap((key) => {
          const own = readValue(valueSchema, texts.get(nameOf(key)));
          const reasons = own?.reasons ?? partitions.get(nameOfPartition(key))?.reasons[key];
          return reasons === undefined ? [] : [[key, reasons] as const];
        }),
      );
    },
    async put(made) {
      const writes = [...Map.groupBy(made, ([key]) => nameOfPartition(key))].flatMap(([name, some]) =>
        some.length > MAX_KEPT_APART
          ? [put(name, { v: 2, reasons: Object.fromEntries(some.map(([key, reasons]) => [key, [...reasons]])) })]
          : some.map(([key, reasons]) => put(nameOf(key), { v: 1, reasons: [...reasons] })),
      );
      await Promise.all(writes);
    },
  };
}

function readValue<T>(schema: z.ZodType<T>, text: string | null | undefined): T | null {
  if (text === null || text === undefined) return null;
  const read = schema.safeParse(parsedJson(text));
  return read.success ? read.data : null;
}

async function attempted<T>(operation: 'get' | 'put', work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch {
    // The message of KV may quote the key or the value.
    logEvent('error', { event: 'kv_error', operation, of: 'reasons' });
    return null;
  }
}
