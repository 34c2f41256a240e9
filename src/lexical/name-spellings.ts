/** Words that name the same thing and share no stem: months, quarters of a year, places and their adjectives. */
import { stemOf } from './token-hash.ts';
import type { TokenList } from './token-list.ts';

/** From January on, in English, German, French, Spanish and Italian, without accents. */
const MONTHS =
  'jan january januar janvier enero gennaio,feb february februar fevrier febrero febbraio,mar march marz marzo,' +
  'apr april avril abril aprile,may mai mayo maggio,jun june juni juin junio giugno,jul july juli juillet julio luglio,' +
  'aug august aout agosto,sep sept september septembre septiembre settembre,oct october oktober octobre octubre ottobre,' +
  'nov november novembre noviembre,dec december dezember decembre diciembre dicembre';

const QUARTERS = 'q1 first,q2 second,q3 third,q4 fourth';
const QUARTER = stemOf('quarter');

/** English adjectives of places. "Granite from Cornwall" and "Cornish granite" say the same. */
const PLACES =
  'cornwall cornish,wales welsh,england english,scotland scottish,ireland irish,britain british,france french,' +
  'spain spanish,portugal portuguese,italy italian,germany german,netherlands holland dutch,belgium belgian,' +
  'switzerland swiss,denmark danish,sweden swedish,norway norwegian,finland finnish,iceland icelandic,' +
  'poland polish,hungary hungarian,greece greek,turkey turkish,ukraine ukrainian,europe european,' +
  'china chinese,japan japanese,persia persian,israel israeli,egypt egyptian,canada canadian,mexico mexican,' +
  'brazil brazilian,vienna viennese,venice venetian';

/** Places whose adjective adds an `n`. */
const PLACES_WITH_N =
  'austria russia romania bulgaria serbia croatia india korea australia america africa asia bavaria cuba'
    .split(' ')
    .map((place) => `${place} ${place}n`)
    .join();

/** The stems of all spellings of a name, by the stem of each. */
const SPELLINGS: ReadonlyMap<number, readonly number[]> = new Map(
  `${MONTHS},${QUARTERS},${PLACES},${PLACES_WITH_N}`.split(',').flatMap((name) => {
    const stems = name.split(' ').map(stemOf);
    return stems.map((stem) => [stem, stems] as const);
  }),
);

/** The stems of the spellings of a capitalised word, its own included; empty if it has no other. */
export function spellingsOf(stem: number): readonly number[] {
  return SPELLINGS.get(stem) ?? NONE;
}

const NONE: readonly number[] = [];

/** The number of each month, by the stems of its names. */
const NUMBER_BY_MONTH: ReadonlyMap<number, number> = new Map(
  MONTHS.split(',').flatMap((names, month) => names.split(' ').map((name) => [stemOf(name), month + 1] as const)),
);

/** Returns the number of a month by the stem of its name, or 0. */
export function monthNumber(stem: number): number {
  return NUMBER_BY_MONTH.get(stem) ?? 0;
}

/** Returns the stems of the names of a month. */
export function monthNames(month: number): readonly number[] {
  return MONTH_NAMES[month - 1] ?? NONE;
}

const MONTH_NAMES = MONTHS.split(',').map((names) => names.split(' ').map(stemOf));

/** Returns the stem of "q3" for the words "third quarter", given one of them and its neighbours; 0 for other words. */
export function quarterOf(before: number, stem: number, after: number): number {
  const ordinal = after === QUARTER ? stem : stem === QUARTER ? before : 0;
  return ordinal === 0 ? 0 : (CODES[ORDINALS.indexOf(ordinal)] ?? 0);
}

/** Tokens after "third" in which a quarter may be: the third and fourth quarters. */
const QUARTER_REACH = 3;

/** The quarter of a year, from 1, that a token of a text names with the word after it ("third quarter"); 0 = none. */
export function quarterAt({ hashes, count }: TokenList, token: number): number {
  const isBefore = token + 1 < count && hashes[token + 1] === QUARTER;
  return isBefore ? ORDINALS.indexOf(hashes[token] ?? 0) + 1 : 0;
}

/** The quarter that a token names alone or with the word after it: Q3, third quarter; 0 = none. */
export function anyQuarterAt(list: TokenList, token: number): number {
  return CODES.indexOf(list.hashes[token] ?? 0) + 1 || quarterAt(list, token);
}

/** Whether a token that means a quarter's place says that of a quarter: Q3, 3rd quarter, third and fourth quarters. */
export function isInQuarter(quarter: number, list: TokenList, token: number): boolean {
  if (CODES[quarter - 1] === list.hashes[token]) return true;
  const { hashes, count } = list;
  for (let i = token + 1; i <= token + QUARTER_REACH && i < count; i++) if (hashes[i] === QUARTER) return true;
  return false;
}

const stemsOfQuarters = (at: number): number[] =>
  QUARTERS.split(',').map((names) => stemOf(names.split(' ')[at] ?? ''));
const CODES = stemsOfQuarters(0);
const ORDINALS = stemsOfQuarters(1);
