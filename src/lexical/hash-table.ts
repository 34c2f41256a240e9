/** A fixed set or map from token hashes to small numbers: open addressing in typed arrays, at most a quarter full. */
export type HashTable = { readonly keys: Int32Array; readonly values: Int32Array; readonly mask: number };

/** Values must be above 0: 0 marks a free slot. */
export function hashTable(entries: readonly (readonly [hash: number, value: number])[]): HashTable {
  let size = 16;
  while (size < entries.length * 4) size *= 2;
  const table = { keys: new Int32Array(size), values: new Int32Array(size), mask: size - 1 };
  for (const [hash, value] of entries) {
    let slot = hashSlot(hash) & table.mask;
    while (table.values[slot] !== 0 && table.keys[slot] !== hash) slot = (slot + 1) & table.mask;
    table.keys[slot] = hash;
    table.values[slot] = value;
  }
  return table;
}

/** The low bits of a polynomial hash follow the last letters, so the high ones are mixed in. */
export function hashSlot(hash: number): number {
  return hash ^ (hash >>> 15);
}

/** The value stored for `hash`, or 0. */
export function lookUp(table: HashTable, hash: number): number {
  let slot = hashSlot(hash) & table.mask;
  for (;;) {
    const value = table.values[slot] ?? 0;
    if (value === 0) return 0;
    if (table.keys[slot] === hash) return value;
    slot = (slot + 1) & table.mask;
  }
}
