/**
 * Finds which of many needles a text contains, in one pass over it (A. V. Aho, M. J. Corasick, "Efficient string
 * matching", 1975). Time is linear in the needles and the text together. `String.includes` for each needle is faster on
 * ordinary text, but took half a minute for a hundred hostile needles in a megabyte.
 */

/** States are numbered by depth, so a state's failure always has a smaller number. */
const ROOT = 0;
const CODE_UNITS = 0x10000;

/**
 * For each needle, in order, whether `text` contains it; every text contains the empty needle. Memory grows with the
 * needles, by some 50 bytes for each code unit: callers must bound them.
 */
export function heldBy(text: string, needles: readonly string[]): readonly boolean[] {
  const edges = new Map<number, number>();
  const failures: number[] = [ROOT];
  const step = (from: number, code: number): number => {
    for (let state = from; ; state = failures[state] ?? ROOT) {
      const next = edges.get(state * CODE_UNITS + code);
      if (next !== undefined) return next;
      if (state === ROOT) return ROOT;
    }
  };

  // Level by level: a state's failure is shallower, so it exists when the state is created.
  let growing = needles.map((needle, n) => ({ needle, n }));
  const ends = needles.map(() => ROOT);
  for (let depth = 0; growing.length > 0; depth++) {
    growing = growing.filter(({ needle }) => needle.length > depth);
    for (const { needle, n } of growing) {
      const parent = ends[n] ?? ROOT;
      const code = needle.charCodeAt(depth);
      let state = edges.get(parent * CODE_UNITS + code);
      if (state === undefined) {
        state = failures.length;
        failures.push(parent === ROOT ? ROOT : step(failures[parent] ?? ROOT, code));
        edges.set(parent * CODE_UNITS + code, state);
      }
      ends[n] = state;
    }
  }

  const reached = new Uint8Array(failures.length);
  reached[ROOT] = 1;
  let state = ROOT;
  for (let i = 0; i < text.length; i++) {
    state = step(state, text.charCodeAt(i));
    reached[state] = 1;
  }
  // A needle that ends at a state's failure also ends at the state.
  for (let at = failures.length - 1; at > ROOT; at--) if (reached[at] === 1) reached[failures[at] ?? ROOT] = 1;
  return ends.map((end) => reached[end] === 1);
}
