/**
 * The entity rubric: the share of gold entities that the chosen text names. As in the reference, an entity matches as a
 * substring of the normalised text, also inside longer words, and one that normalises to nothing always matches.
 * Source: THU-KEG/LongTraceRL 415b6433, `launch_server.py`, `get_rubric_reward`.
 */
import { isAsciiDigit, isAsciiLetter } from '../../text/characters.ts';

/** States are numbered by depth, so a state's failure always has a smaller number. */
const ROOT = 0;
const CODE_UNITS = 0x10000;

/**
 * For each needle, in order, whether `text` contains it; every text contains the empty needle. One pass over the text
 * (A. V. Aho, M. J. Corasick, "Efficient string matching", 1975): time is linear in the needles and the text together.
 * `String.includes` for each needle is faster on ordinary text, but took half a minute for a hundred hostile needles in
 * a megabyte. Memory grows with the needles, by some 50 bytes for each code unit: callers must bound them.
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

const UNDERSCORE = 0x5f;
const FIRST_IDEOGRAPH = 0x4e00;
const LAST_IDEOGRAPH = 0x9fff;
/** The lower case of İ is i and a combining dot, which is a separator. */
const DOTTED_CAPITAL_I = 0x130;
const KELVIN_SIGN = 0x212a;

/**
 * Normalises text for the entity search: lower case, runs of `[a-z0-9_]` and single CJK ideographs, joined by single
 * spaces. Everything else is a separator, accented letters, kana, Hangul and full-width digits included. That loses
 * text, but the published numbers were computed with this definition. Source: THU-KEG/LongTraceRL 415b6433,
 * `launch_server.py`, `normalize_string`.
 *
 * One pass by code unit, without `toLowerCase`: beyond ASCII only two characters have a lower case that begins with an
 * ASCII letter, so the result does not depend on a Unicode version.
 */
export function normalise(text: string): string {
  const tokens: string[] = [];
  let word = '';
  const endWord = () => {
    if (word !== '') tokens.push(word);
    word = '';
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiLetter(code)) word += String.fromCharCode(code | 0x20);
    else if (isAsciiDigit(code) || code === UNDERSCORE) word += String.fromCharCode(code);
    else if (code === KELVIN_SIGN) word += 'k';
    else {
      if (code === DOTTED_CAPITAL_I) word += 'i';
      endWord();
      if (code >= FIRST_IDEOGRAPH && code <= LAST_IDEOGRAPH) tokens.push(String.fromCharCode(code));
    }
  }
  endWord();
  return tokens.join(' ');
}

/** Which entities the text names, in their order. Linear in the text and the entities together. */
export function entityHits(entities: readonly string[], text: string): readonly boolean[] {
  return heldBy(normalise(text), entities.map(normalise));
}

/**
 * Entities found / entities listed, [0, 1]; a repeated entity counts each time. 0 without entities, as on the reference
 * server, which lowers the reward of a right answer; all routes but its adapter refuse an empty list.
 */
export function entityShare(entities: readonly string[], text: string): number {
  if (entities.length === 0) return 0;
  return entityHits(entities, text).filter((hit) => hit).length / entities.length;
}
