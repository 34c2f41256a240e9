/** A time with the name of the reader's time zone. Hovering shows it in UTC. */

const SHORT = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

const LONG = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

/** @param at milliseconds since 1970. */
export function Time({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={`${LONG.format(date)} · ${date.toISOString()}`} class="time">
      {SHORT.format(date)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat('en', { timeStyle: 'long', hourCycle: 'h23' });

/** A time of today to the second, with its zone: `14:03:27 GMT+1`. @param at milliseconds since 1970. */
export function clockText(at: number): string {
  return CLOCK.format(at);
}
