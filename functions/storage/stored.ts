import { StorageError } from '../../service/storage-error.ts';
import { logEvent } from '../log-event.ts';
import { isolateCounts } from '../metrics/counts.ts';

/** Runs one call of a binding. @throws StorageError for any exception. */
export async function stored<T>(store: 'r2' | 'd1', operation: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    isolateCounts.count('citeward_store_errors', [store, operation]);
    logEvent('error', { event: 'storage_error', store, operation, code: codeOf(error) });
    throw new StorageError(store, operation, error);
  }
}

/** R2 ends its messages with a number in brackets, D1 starts them with a name. */
function codeOf(error: unknown): string | null {
  const message = error instanceof Error ? error.message : '';
  return /\((\d{5})\)$/.exec(message)?.[1] ?? /^(D1_[A-Z_]{1,40})/.exec(message)?.[1] ?? null;
}
