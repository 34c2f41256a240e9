/** The result of an operation that can fail in expected ways: a value, or an error for the caller to handle. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };
