/**
 * Searches a caller's text for another text in linear time. `String.prototype.includes` compares a long text that
 * repeats itself again at each place, which takes minutes for 1 MB.
 */

/** Up to this length the native search is fast enough: it compares each place with at most these units. */
const NATIVE_UNITS = 256;

/** Whether `text` contains `wanted`, in time and memory linear in both. */
export function contains(text: string, wanted: string): boolean {
  if (wanted.length <= NATIVE_UNITS || wanted.length >= text.length) return text.includes(wanted);
  const pattern = unitsOf(wanted);
  const borders = bordersOf(pattern);
  for (let at = 0, matched = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== pattern[matched]) matched = borders[matched - 1] ?? 0;
    if (code === pattern[matched]) matched++;
    if (matched === pattern.length) return true;
  }
  return false;
}

export function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

/**
 * For each prefix of a pattern, the length of its longest border, which is both its beginning and its end: where a search
 * goes on after a unit that differs (Knuth, Morris and Pratt, "Fast pattern matching in strings", SIAM Journal on
 * Computing 6 (1977) 323-350).
 */
export function bordersOf(pattern: Uint16Array): Int32Array {
  const borders = new Int32Array(pattern.length);
  for (let i = 1, k = 0; i < pattern.length; i++) {
    while (k > 0 && pattern[i] !== pattern[k]) k = borders[k - 1] ?? 0;
    if (pattern[i] === pattern[k]) k++;
    borders[i] = k;
  }
  return borders;
}
