/** The wordings of a sentence that the policy chooses from. */
import type { Option } from './actions.ts';
import type { Draws } from './draws.ts';

/** Writes a sentence of the search results in another wording. */
export function worded(sentence: string, wording: Option<'wording'>, draws: Draws): string {
  switch (wording) {
    case 'copied':
      return sentence;
    case 'reworded':
      return reworded(sentence);
    case 'clipped':
      return clipped(sentence);
    case 'falsified':
      return falsified(sentence, draws);
  }
}

/** Each pair replaces a phrase of `places.ts` with one that says the same. */
const REWORDINGS: readonly (readonly [RegExp, string])[] = [
  [/ was (?<verb>designed|planned|catalogued) by the engineer /u, ' is the work of the engineer '],
  [/ was rebuilt by the engineer /u, ' was built again by '],
  [/ was equipped by the engineer /u, ' got its equipment from '],
  [/ was electrified by the engineer /u, ' got its electric line from '],
  [/ is (?<metres>\d+) metres long/u, ' measures $<metres> metres'],
  [/ in the year /u, ' in '],
  [/ cost (?<crowns>\d+)/u, ' came to $<crowns>'],
];

function reworded(sentence: string): string {
  for (const [phrase, replacement] of REWORDINGS) {
    if (phrase.test(sentence)) return sentence.replace(phrase, replacement);
  }
  return `It is said that ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/** Share of the words that a clipped sentence keeps, and the least number of words. */
const CLIPPED_SHARE = 0.6;
const CLIPPED_WORDS = 4;

/** Keeps the beginning of a sentence, which often drops the number or name that was asked for. */
function clipped(sentence: string): string {
  const words = sentence.split(' ');
  return `${words.slice(0, Math.max(CLIPPED_WORDS, Math.ceil(CLIPPED_SHARE * words.length))).join(' ')}.`;
}

/** Changes the first number, or else appends a statement that no source makes. */
function falsified(sentence: string, draws: Draws): string {
  const changed = sentence.replace(/\d+/u, (digits) => String(Number(digits) + draws.integer(3, 48)));
  return changed === sentence ? `${sentence.replace(/\.$/u, '')}, against the will of the whole province.` : changed;
}
