/** Words that name the same thing and share no stem: months and their abbreviations, places and their adjectives. */
import { stemOf } from './token-hash.ts';

const MONTHS =
  'jan january,feb february,mar march,apr april,jun june,jul july,aug august,sep sept september,oct october,' +
  'nov november,dec december';

/** English adjectives of places. "Granite from Cornwall" and "Cornish granite" say the same. */
const PLACES =
  'cornwall cornish,wales welsh,england english,scotland scottish scots,ireland irish,britain british,france french,' +
  'spain spanish,portugal portuguese,italy italian,germany german,netherlands holland dutch,belgium belgian,' +
  'flanders flemish,switzerland swiss,austria austrian,denmark danish,sweden swedish,norway norwegian,finland finnish,' +
  'iceland icelandic,poland polish,hungary hungarian,greece greek,turkey turkish,russia russian,ukraine ukrainian,' +
  'romania romanian,bulgaria bulgarian,serbia serbian,croatia croatian,czechia czech,slovakia slovak,' +
  'china chinese,japan japanese,korea korean,vietnam vietnamese,thailand thai,philippines philippine filipino,' +
  'india indian,persia persian,iran iranian,iraq iraqi,israel israeli,egypt egyptian,morocco moroccan,' +
  'canada canadian,mexico mexican,cuba cuban,peru peruvian,brazil brazilian,chile chilean,argentina argentine,' +
  'australia australian,europe european,asia asian,africa african,america american,brittany breton,' +
  'catalonia catalan,bavaria bavarian,saxony saxon,vienna viennese,venice venetian,naples neapolitan';

/** The stems of all spellings of a name, by the stem of each. */
const SPELLINGS: ReadonlyMap<number, readonly number[]> = new Map(
  `${MONTHS},${PLACES}`.split(',').flatMap((name) => {
    const stems = name.split(' ').map(stemOf);
    return stems.map((stem) => [stem, stems] as const);
  }),
);

/** The stems of the spellings of a capitalised word, its own included; empty if it has no other. */
export function spellingsOf(stem: number): readonly number[] {
  return SPELLINGS.get(stem) ?? NONE;
}

const NONE: readonly number[] = [];
