/** Replies of the stores to workerd's bindings. */

/** The binding throws an error with the status and this text. */
export function failed(status: number, message: string): Response {
  return new Response(message, { status, statusText: message });
}
