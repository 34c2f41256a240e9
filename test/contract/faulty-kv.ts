/**
 * A KV namespace in memory with the faults of the real one: failing reads or writes, a miss for an existing key
 * (another location's cache), and a write that takes effect and reports an error.
 */
export type KvFault = 'none' | 'reads_fail' | 'writes_fail' | 'stale_miss' | 'lost_acknowledgement';

export class FaultyKv {
  readonly values = new Map<string, string>();
  fault: KvFault = 'none';
  gets = 0;
  puts = 0;

  async get(keys: string[], _type: 'text'): Promise<Map<string, string | null>> {
    this.gets++;
    if (keys.length > 100) throw new Error('KV GET_BULK failed: 400 You can request a maximum of 100 keys');
    if (this.fault === 'reads_fail') throw new Error('KV GET failed: 503 Service Unavailable');
    if (this.fault === 'stale_miss') return new Map(keys.map((key) => [key, null]));
    return new Map(keys.map((key) => [key, this.values.get(key) ?? null]));
  }

  async put(key: string, value: string): Promise<void> {
    this.puts++;
    if (this.fault === 'writes_fail') throw new Error('KV PUT failed: 429 Too Many Requests');
    this.values.set(key, value);
    if (this.fault === 'lost_acknowledgement') throw new Error('KV PUT failed: 500 Internal Server Error');
  }
}
