/** The records of judgments in KV, wherever they are stored. */
import { JUDGMENT_KV_PREFIX, PARTITION_KV_PREFIX } from '../../lib/kv-store.ts';
import { partitionOf } from '../../src/judgments/key.ts';

/** The name in KV of a value with all judgments of a key's partition. */
export function partitionName(key: string): string {
  return PARTITION_KV_PREFIX + partitionOf(key);
}

/** The JSON text of a record; `null` = KV has none. */
export async function storedRecord(kv: Pick<KVNamespace, 'get'>, key: string): Promise<string | null> {
  const own = await kv.get(JUDGMENT_KV_PREFIX + key);
  if (own !== null) return own;
  const text = await kv.get(partitionName(key));
  if (text === null) return null;
  const { judgments }: { judgments: { key: string }[] } = JSON.parse(text);
  const record = judgments.find((one) => one.key === key);
  return record === undefined ? null : JSON.stringify(record);
}
