/** The times of a cron expression: `minute hour day month weekday`, each `*`, numbers, ranges, lists or steps. */

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 7 },
] as const;

const MINUTE_MS = 60_000;
/** Every expression that is ever due is due within four years: 29 February. */
const MAX_MINUTES = 4 * 366 * 24 * 60;

/**
 * The first time after `after_ms` at which the expression is due, in milliseconds since 1970, in UTC.
 *
 * @throws RangeError if the expression is malformed or never due.
 * @example nextTime('17 * * * *', Date.UTC(2026, 0, 1, 0, 20)) === Date.UTC(2026, 0, 1, 1, 17)
 */
export function nextTime(cron: string, after_ms: number): number {
  const texts = cron.trim().split(/\s+/u);
  if (texts.length !== FIELDS.length) throw malformed(cron);
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, n) => valuesOf(texts[n] ?? '', field, cron));
  let time = Math.floor(after_ms / MINUTE_MS) * MINUTE_MS;
  for (let n = 0; n < MAX_MINUTES; n++) {
    time += MINUTE_MS;
    const date = new Date(time);
    const weekday = date.getUTCDay();
    const isDue =
      minutes?.has(date.getUTCMinutes()) === true &&
      hours?.has(date.getUTCHours()) === true &&
      days?.has(date.getUTCDate()) === true &&
      months?.has(date.getUTCMonth() + 1) === true &&
      (weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7) === true));
    if (isDue) return time;
  }
  throw new RangeError(`the cron expression "${cron}" is never due`);
}

function valuesOf(text: string, { min, max }: (typeof FIELDS)[number], cron: string): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const found = /^(?:\*|(?<from>\d+)(?:-(?<to>\d+))?)(?:\/(?<step>\d+))?$/u.exec(part)?.groups;
    if (found === undefined) throw malformed(cron);
    const from = found['from'] === undefined ? min : Number(found['from']);
    const isOpen = found['from'] === undefined || (found['to'] === undefined && found['step'] !== undefined);
    const to = isOpen ? max : Number(found['to'] ?? found['from']);
    const step = Number(found['step'] ?? 1);
    if (from < min || to > max || from > to || step < 1) throw malformed(cron);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function malformed(cron: string): RangeError {
  return new RangeError(`"${cron}" is no cron expression: expected minute, hour, day, month and weekday`);
}
