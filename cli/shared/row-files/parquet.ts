/** Reads Parquet files, as Hugging Face publishes its data sets. */

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { isJsonObject } from '../../../src/json.ts';
import { recordOf } from '../../../src/wire/rows/columns.ts';
import type { FileRecord } from '../../../src/wire/rows/row-line.ts';
import { RunError, UsageError } from '../exit.ts';
import type { Input } from '../input.ts';

/**
 * Yields the rows of a file; one row group is in memory at a time.
 * @throws UsageError for a pipe, whose end cannot be read first; RunError if the file is broken.
 */
export async function* parquetRecords({ path, name }: Input): AsyncGenerator<FileRecord> {
  if (path === null)
    throw new UsageError(`${name}: Parquet cannot be read from a pipe or a gzip file`, 'Give the file, unpacked.');
  const file = await asyncBufferFromFile(path);
  const metadata = await readable(name, () => parquetMetadataAsync(file));
  let rowStart = 0;
  let number = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    const rows: readonly unknown[] = await readable(name, () =>
      parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd }),
    );
    for (const row of rows)
      if (isJsonObject(row)) yield { number: ++number, record: { ok: true, value: recordOf(row) } };
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
