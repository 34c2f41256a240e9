/** Formats numbers for people. An undefined figure is a dash, never a number. */

/** `1,234` */
export function countText(count: number): string {
  // Loading the formats of a language takes 10 ms of a command's start.
  return Number.isInteger(count) && Math.abs(count) < 1_000 ? String(count) : count.toLocaleString('en-US');
}

/** `1 row`, `1,200 rows` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** `1,234`, `8.5` */
export function rateText(rate: number): string {
  return rate >= 10 ? countText(Math.round(rate)) : rate.toFixed(1);
}

/** `0.42 s`, `8.1 s`, `1 min 10 s`, `2 h 5 min` */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `812 bytes`, `4.2 MB`, `128 MB`; a megabyte is a million bytes. */
export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${countText(bytes)} bytes`;
  const megabytes = bytes / 1_000_000;
  return `${megabytes >= 10 ? countText(Math.round(megabytes)) : megabytes.toFixed(megabytes < 0.1 ? 2 : 1)} MB`;
}

/** An undefined figure. */
export const NONE = '-';

/** `12.4%` */
export function percentText(share: number | null): string {
  return share === null ? NONE : `${(100 * share).toFixed(1)}%`;
}

/** `0.83` */
export function kappaText(kappa: number | null): string {
  return kappa === null ? NONE : withoutNegativeZero(kappa.toFixed(2));
}

/** `+0.05`, `-0.30`, `0.00` */
export function differenceText(difference: number | null): string {
  if (difference === null) return NONE;
  const text = withoutNegativeZero(difference.toFixed(2));
  return text.startsWith('-') || text === '0.00' ? text : `+${text}`;
}

/** `0.4 ms`, `0.42 s` */
export function latencyText(ms: number | null): string {
  if (ms === null) return NONE;
  return ms < 100 ? `${ms.toFixed(1)} ms` : durationText(ms / 1000);
}

function withoutNegativeZero(text: string): string {
  return text === '-0.00' ? '0.00' : text;
}
