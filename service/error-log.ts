/** Describes unexpected errors for the operator's log. */

const MAX_FRAMES = 8;

/** Class and stack frames of an error. Its message may quote content and is not logged. */
export function describeError(error: unknown): { readonly error: string; readonly frames: readonly string[] } {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] };
  const head = `${error.name}: ${error.message}`;
  const stack = error.stack ?? '';
  const frames = stack.startsWith(head) ? stack.slice(head.length) : '';
  return {
    error: error.name,
    frames: frames
      .trim()
      .split('\n', MAX_FRAMES)
      .map((frame) => frame.trim()),
  };
}
