/** Writes an event to the operator's log as one line of JSON. It must contain no text of a caller. */
export function logEvent(level: 'log' | 'warn' | 'error', event: object): void {
  console[level](JSON.stringify(event));
}
