/**
 * A failure of R2, D1 or a `RunLedger` object. `problems.ts` maps it to a retryable 503. The platform's
 * message may name keys and statements, so only its code is logged.
 */
export class StorageError extends Error {
  readonly store: 'r2' | 'd1' | 'ledger';
  readonly operation: string;

  constructor(store: StorageError['store'], operation: string, cause: unknown) {
    super(`${store} ${operation} failed`, { cause });
    this.name = 'StorageError';
    this.store = store;
    this.operation = operation;
  }
}
