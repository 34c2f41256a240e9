/** Reads Parquet files, as Hugging Face publishes its data sets. */

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { isJsonObject } from '../../../src/json.ts';
import { RunError, UsageError } from '../exit.ts';
import type { Input } from '../input.ts';
import type { Fields } from '../rows.ts';

/**
 * Yields the rows of a file; one row group is in memory at a time.
 * @throws UsageError for a pipe, whose end cannot be read first; RunError if the file is broken.
 */
export async function* parquetRecords({ path, name }: Input): AsyncGenerator<Fields> {
  if (path === null) throw new UsageError(`${name}: Parquet cannot be read from a pipe`, 'Give the file.');
  const file = await asyncBufferFromFile(path);
  const metadata = await readable(name, () => parquetMetadataAsync(file));
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    const rows: readonly unknown[] = await readable(name, () =>
      parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd }),
    );
    for (const row of rows) {
      const record = jsonOf(row);
      if (isJsonObject(record)) yield record;
    }
    rowStart = rowEnd;
  }
}

async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    // Messages of the decoder may quote the file, which is untrusted.
    const kind = error instanceof Error ? error.name : 'an error';
    throw new RunError(`${name}: not readable as Parquet (${kind})`);
  }
}

/**
 * The JSON value of a Parquet value. Members that are null are left out: a Parquet struct has all its members in every
 * row, so null says that the row has none.
 */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, jsonOf(member)]));
}
