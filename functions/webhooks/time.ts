/** A time as the wire shows it. @param ms milliseconds since 1970. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
