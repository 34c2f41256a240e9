/** Writes a label of an international host name in ASCII (RFC 3492). */

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE_POINT = 128;

/**
 * The punycode of a label, without its prefix `xn--`. Takes time quadratic in the label, whose length the caller bounds.
 *
 * @example
 * punycode('münchen'); // 'mnchen-3ya'
 */
export function punycode(label: string): string {
  const points = [...label].map((character) => character.codePointAt(0) ?? 0);
  const basic = points.filter((point) => point < FIRST_CODE_POINT);
  let written = basic.map((point) => String.fromCodePoint(point)).join('');
  if (basic.length > 0) written += '-';
  let handled = basic.length;
  let next = FIRST_CODE_POINT;
  let delta = 0;
  let bias = FIRST_BIAS;
  while (handled < points.length) {
    const least = Math.min(...points.filter((point) => point >= next));
    delta += (least - next) * (handled + 1);
    next = least;
    for (const point of points) {
      if (point < next) delta++;
      if (point !== next) continue;
      written += digitsOf(delta, bias);
      bias = adapted(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled++;
    }
    delta++;
    next++;
  }
  return written;
}

/** A number as digits of varying weight, least significant first. */
function digitsOf(number: number, bias: number): string {
  let digits = '';
  let rest = number;
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
    if (rest < threshold) return digits + digit(rest);
    digits += digit(threshold + ((rest - threshold) % (BASE - threshold)));
    rest = Math.floor((rest - threshold) / (BASE - threshold));
  }
}

/** a to z are 0 to 25, 0 to 9 are 26 to 35. */
function digit(value: number): string {
  return String.fromCharCode(value < 26 ? 0x61 + value : 0x30 + value - 26);
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / count);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
