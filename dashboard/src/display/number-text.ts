/** Formats numbers for display: few digits, no trailing zeros, a typographic minus sign. */

/** At most `digits` decimals; for rewards, shares and weights. */
export function numberText(value: number, digits = 3): string {
  const text = value.toFixed(digits).replace(/\.?0+$/u, digits === 0 ? '$&' : '');
  return (text === '-0' ? '0' : text).replace('-', '−');
}

/** Exactly `digits` decimals, so that a column aligns. */
export function columnText(value: number, digits = 2): string {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** A share in [0, 1]. */
export function percentText(share: number): string {
  const percent = share * 100;
  // 99.96 % must not read as 100 %, nor 0.04 % as 0 %.
  if (percent > 99.9 && percent < 100) return '> 99.9 %';
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${numberText(percent, percent >= 10 ? 0 : 1)} %`;
}

const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function countText(count: number): string {
  return GROUPED.format(count);
}

/** `1 claim`, `2 claims`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** Formats seconds: `40 s`, `3 min`, `2 h 5 min`. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}
