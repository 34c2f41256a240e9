/** Words that name the same thing and share no stem: months and their abbreviations, places and their adjectives. */
import { stemOf } from './token-hash.ts';

const MONTHS =
  'jan january,feb february,mar march,apr april,jun june,jul july,aug august,sep sept september,oct october,' +
  'nov november,dec december';

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
  `${MONTHS},${PLACES},${PLACES_WITH_N}`.split(',').flatMap((name) => {
    const stems = name.split(' ').map(stemOf);
    return stems.map((stem) => [stem, stems] as const);
  }),
);

/** The stems of the spellings of a capitalised word, its own included; empty if it has no other. */
export function spellingsOf(stem: number): readonly number[] {
  return SPELLINGS.get(stem) ?? NONE;
}

const NONE: readonly number[] = [];
