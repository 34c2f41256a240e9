import { hashTable, lookUp } from './hash-table.ts';
import { stemHash } from './stemming.ts';
import { hashWord } from './token-hash.ts';

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty';
const TENS = 'thirty forty fifty sixty seventy eighty ninety';

const WORDS: readonly (readonly [word: string, value: number])[] = [
  ...SMALL.split(' ').map((word, i) => [word, i] as const),
  ...TENS.split(' ').map((word, i) => [word, 30 + i * 10] as const),
];

/** Stem hash of a lower-case ASCII word: what the tokeniser emits for it. */
export function stemOf(word: string): number {
  return stemHash(word, 0, word.length, hashWord(word));
}

// Values are shifted by one: a table cannot hold 0.
const VALUE_BY_STEM = hashTable(WORDS.map(([word, value]) => [stemOf(word), value + 1] as const));
const STEM_BY_VALUE: ReadonlyMap<number, number> = new Map(
  WORDS.map(([word, value]) => [value, stemOf(word)] as const),
);

/** 12 for the stem hash of "twelve"; -1 if it is no number word (zero to twenty, thirty … ninety). */
export function numberWordValue(stem: number): number {
  return lookUp(VALUE_BY_STEM, stem) - 1;
}

/** The stem hash of "twelve" for 12; 0 where there is no single word. */
export function numberWordStem(value: number): number {
  return STEM_BY_VALUE.get(value) ?? 0;
}

const HUNDRED = hashWord('hundred');
const THOUSAND = hashWord('thousand');
const MILLION = hashWord('million');
const BILLION = hashWord('billion');
const TRILLION = hashWord('trillion');

/** What "million" and its like (unstemmed hash; plural not) multiply the number before them by; 0 for any other word. */
export function magnitude(hash: number): number {
  switch (hash) {
    case HUNDRED:
      return 100;
    case THOUSAND:
      return 1e3;
    case MILLION:
      return 1e6;
    case BILLION:
      return 1e9;
    case TRILLION:
      return 1e12;
    default:
      return 0;
  }
}
