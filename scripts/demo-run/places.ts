/** The invented places of the demo run: their facts, and the sentences that state them. */
import type { Draws } from './draws.ts';

type Fact = {
  /** Title of snippets and criteria. */
  readonly topic: string;
  /** The part of a question that asks for the fact. */
  readonly question: string;
  readonly value: (draws: Draws) => string;
  /** A sentence that states the fact. */
  readonly sentence: (place: string, value: string) => string;
  /** A true but irrelevant sentence beside it. */
  readonly aside: (place: string, draws: Draws) => string;
};

export type PlaceKind = {
  readonly noun: string;
  readonly facts: readonly Fact[];
  readonly surroundings: (name: string, draws: Draws) => string;
};

const PEOPLE = ['Ida Korven', 'Mats Ollerby', 'Runa Teal', 'Jonas Prill', 'Edda Varga', 'Owen Sarrow'] as const;
const MATERIALS = ['larch timber', 'grey granite', 'riveted steel', 'red brick', 'cast concrete'] as const;

function opened(verb: string): Fact {
  return {
    topic: 'opening',
    question: `in which year was it ${verb}`,
    value: (draws) => String(draws.integer(1871, 1989)),
    sentence: (place, year) => capital(`${place} was ${verb} in the year ${year}.`),
    aside: (place, draws) =>
      `Records of the council mention a delay of ${draws.integer(2, 19)} months before work at ${place} could begin.`,
  };
}

function builder(verb: string, question: string): Fact {
  return {
    topic: 'builder',
    question,
    value: (draws) => draws.pick(PEOPLE),
    sentence: (place, person) => capital(`${place} was ${verb} by the engineer ${person}.`),
    aside: (_place, draws) => `A plaque of ${draws.pick(MATERIALS)} near the entrance repeats the dedication.`,
  };
}

function size(topic: string, question: string, least: number, most: number, sentence: Fact['sentence']): Fact {
  return {
    topic,
    question,
    value: (draws) => String(draws.integer(least, most)),
    sentence: (place, value) => capital(sentence(place, value)),
    aside: (_place, draws) => `Surveyors measured it again ${draws.integer(3, 40)} years later and found no change.`,
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function region(name: string, draws: Draws): string {
  return (
    `The market town of ${name} lies in a valley of orchards and holds a fair on the ${draws.integer(2, 27)}th of June. ` +
    `Its weekly newspaper printed ${draws.integer(2, 9)} pages and reported mostly on weather and livestock prices.`
  );
}

export const PLACE_KINDS: readonly PlaceKind[] = [
  {
    noun: 'footbridge',
    facts: [
      opened('opened to walkers'),
      builder('designed', 'who designed it'),
      size(
        'length',
        'how long is its span',
        40,
        390,
        (place, value) => `the span of ${place} is ${value} metres long.`,
      ),
      size(
        'repair',
        'what did its repair cost',
        21,
        98,
        (place, value) => `the repair of ${place} cost ${value} thousand crowns.`,
      ),
    ],
    surroundings: region,
  },
  {
    noun: 'observatory',
    facts: [
      opened('founded'),
      builder('equipped', 'who equipped it'),
      size(
        'telescope',
        'how wide is the mirror of its telescope',
        30,
        240,
        (place, value) => `the mirror of the telescope at ${place} is ${value} centimetres wide.`,
      ),
      size(
        'altitude',
        'at what altitude does it stand',
        310,
        2400,
        (place, value) => `${place} stands at an altitude of ${value} metres.`,
      ),
    ],
    surroundings: region,
  },
  {
    noun: 'reservoir',
    facts: [
      opened('filled for the first time'),
      builder('planned', 'who planned it'),
      size(
        'volume',
        'how much water does it hold',
        4,
        180,
        (place, value) => `${place} holds ${value} million cubic metres of water.`,
      ),
      size('dam', 'how high is its dam', 12, 95, (place, value) => `the dam of ${place} is ${value} metres high.`),
    ],
    surroundings: region,
  },
  {
    noun: 'lighthouse',
    facts: [
      opened('lit for the first time'),
      builder('rebuilt', 'who rebuilt it'),
      size(
        'tower',
        'how tall is its tower',
        14,
        61,
        (place, value) => `the tower of ${place} is ${value} metres tall.`,
      ),
      size(
        'range',
        'how far does its light reach',
        9,
        32,
        (place, value) => `the light of ${place} reaches ${value} nautical miles.`,
      ),
    ],
    surroundings: region,
  },
  {
    noun: 'tramway',
    facts: [
      opened('inaugurated'),
      builder('electrified', 'who electrified it'),
      size('stops', 'how many stops does it serve', 7, 44, (place, value) => `${place} serves ${value} stops.`),
      size(
        'passengers',
        'how many passengers does it carry a day',
        900,
        9800,
        (place, value) => `${place} carries ${value} passengers on a working day.`,
      ),
    ],
    surroundings: region,
  },
  {
    noun: 'archive',
    facts: [
      opened('established'),
      builder('catalogued', 'who catalogued it'),
      size(
        'shelves',
        'how long are its shelves',
        3,
        75,
        (place, value) => `the shelves of ${place} are ${value} kilometres long.`,
      ),
      size(
        'maps',
        'how many maps does it keep',
        1200,
        48000,
        (place, value) => `${place} keeps ${value} hand-drawn maps.`,
      ),
    ],
    surroundings: region,
  },
];
