/**
 * Claims with equal normalised text and equal id set count once in every metric [ours]: repeating one supported claim must
 * not pay. Text is compared after NFKC, case and white-space folding, and without closing punctuation.
 */
import { isSpace } from '../text/characters.ts';
import type { Claim } from './types.ts';

/** The claims, with `duplicate_of` set on every repetition. Linear; texts are only folded where two could be equal. */
export function markDuplicates(claims: readonly Claim[]): readonly Claim[] {
  let marked: Claim[] | null = null;
  for (const group of groupsOfEqualIds(claims)) {
    if (group.length < 2) continue;
    for (const suspects of groupsOfEqualFirstWord(group)) {
      if (suspects.length < 2) continue;
      const first = new Map<string, number>();
      for (const claim of suspects) {
        const text = normaliseClaim(claim.text);
        const earlier = first.get(text);
        if (earlier === undefined) first.set(text, claim.index);
        else {
          if (marked === null) marked = [...claims];
          marked[claim.index] = { ...claim, duplicate_of: earlier };
        }
      }
    }
  }
  return marked === null ? claims : marked;
}

function groupsOfEqualIds(claims: readonly Claim[]): Iterable<Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const only = claim.ids.length === 1 ? claim.ids[0] : undefined;
    // A single id can look like JSON, but then it has white space or quotes and is malformed anyway.
    const key = only === undefined ? JSON.stringify(claim.ids.map(({ id }) => id).sort()) : only.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [claim]);
    else group.push(claim);
  }
  return groups.values();
}

/**
 * Folding is the expensive part, and texts that begin with different ASCII words cannot fold to the same. As soon as one
 * begins otherwise (its folding could turn into ASCII), all are suspects together.
 */
function groupsOfEqualFirstWord(claims: Claim[]): Iterable<Claim[]> {
  const groups = new Map<string, Claim[]>();
  for (const claim of claims) {
    const word = firstAsciiWord(claim.text);
    if (word === null) return [claims];
    const group = groups.get(word);
    if (group === undefined) groups.set(word, [claim]);
    else group.push(claim);
  }
  return groups.values();
}

/** The word without its closing punctuation, which folding may drop if the word is the whole text. */
function firstAsciiWord(text: string): string | null {
  let end = 0;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code > 0x7f) return null;
    if (isSpace(code)) break;
    end++;
  }
  while (end > 0 && CLOSING_MARKS.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end).toLowerCase();
}

const CLOSING_MARKS = '.!?,;:。！？';

/** NFKC and case folding are stable for assigned characters by Unicode policy, so this does not move between runtimes. */
function normaliseClaim(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase().split(/\s/u).filter(Boolean).join(' ');
  let end = folded.length;
  while (end > 0 && CLOSING_MARKS.includes(folded.charAt(end - 1))) end--;
  return folded.slice(0, end);
}
