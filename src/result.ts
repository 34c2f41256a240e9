/** The result of an operation that can fail in expected ways: a value, or an error for the caller to handle. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | Failure<E>;

/** A failed `Result`: a result of every operation with these errors, whatever its value is. */
export type Failure<E> = { readonly ok: false; readonly error: E };

/** A failed outcome of an operation whose success has a form of its own. */
export type Failed<F> = { readonly ok: false; readonly failure: F };
