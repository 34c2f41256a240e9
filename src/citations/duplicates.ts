/**
 * Marks repeated claims, so that every metric counts them once and repeating a supported claim does not pay. Claims are
 * equal if they have the same set of ids and the same text after NFKC, case and white-space folding, without closing
 * punctuation.
 */
import { isSpace } from '../text/characters.ts';
import type { Claim } from './types.ts';

/** Returns the claims with `duplicate_of` set on each repetition. Linear; folds texts only if two could be equal. */
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
    // A single id that looks like JSON has white space or quotes, so it is malformed and its group does not matter.
    const key = only === undefined ? JSON.stringify(claim.ids.map(({ id }) => id).sort()) : only.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [claim]);
    else group.push(claim);
  }
  return groups.values();
}

/**
 * Groups claims that could be equal, to avoid folding, which is expensive: texts that begin with different ASCII words
 * are never equal. If one begins with a non-ASCII word, which may fold to ASCII, all claims form one group.
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

/** Returns the first word in lower case without closing punctuation, or `null` if it has a non-ASCII unit. */
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

/**
 * Unicode keeps NFKC and case folding stable for assigned characters, so this gives the same result on every runtime.
 */
function normaliseClaim(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase().split(/\s/u).filter(Boolean).join(' ');
  let end = folded.length;
  while (end > 0 && CLOSING_MARKS.includes(folded.charAt(end - 1))) end--;
  return folded.slice(0, end);
}
