/**
 * Makes rows of a kind: a question about an invented place, sources, the facts that are asked, and criteria. The same
 * seed and number give the same row.
 */
import type { Draws } from '../demo-run/draws.ts';

export const ROW_KINDS = [
  'plain',
  'vacuous',
  'negatives',
  'few',
  'many',
  'distractors',
  'unanswerable',
  'two-facts',
  'long',
] as const;

export type RowKind = (typeof ROW_KINDS)[number];

/** What each kind asks and shows, in one line. */
export const KIND_NOTES: Readonly<Record<RowKind, string>> = {
  plain: 'one fact is asked; three sources tell one fact each of the same place',
  vacuous: 'as plain, with a positive criterion that no answer meets and four negative ones that none violates',
  negatives: 'as plain, with the four negative criteria alone',
  few: 'one or two sources',
  many: 'eight sources about three places',
  distractors: 'six sources: three of the same place, three that tell the asked fact of other places',
  unanswerable: 'in half of the rows no source tells the fact, and the right answer says so',
  'two-facts': 'two facts are asked, which two of three sources tell',
  long: 'three sources of four sentences each',
};

/** Kinds whose sources are about several places, so that an answer must compare names. */
export const KINDS_OF_SEVERAL_PLACES: ReadonlySet<RowKind> = new Set(['many', 'distractors']);

/** A fact that a question asks for. */
export type Fact = {
  /** As its source tells it. */
  readonly sentence: string;
  /** The words that make an answer right. */
  readonly answer: string;
  /** Position of its source. */
  readonly source: number;
};

export type Row = {
  readonly question: string;
  readonly sources: readonly string[];
  /** What is asked; none if the sources do not tell it, so that abstaining is right. */
  readonly facts: readonly Fact[];
  readonly positive: readonly string[];
  readonly negative: readonly string[];
};

/** The right answer where no source tells the fact. */
export const ABSTENTION = 'The sources do not say.';

type Relation = { readonly sentence: string; readonly question: string; readonly value: 'year' | 'size' | 'person' };

/** `@` is the name of the place, `#` the value. */
const PLACES: Readonly<Record<string, readonly Relation[]>> = {
  bridge: [
    {
      sentence: 'The @ bridge was opened in #.',
      question: 'In which year was the @ bridge opened?',
      value: 'year',
    },
    { sentence: 'The @ bridge is # metres long.', question: 'How long is the @ bridge?', value: 'size' },
    { sentence: '# designed the @ bridge.', question: 'Who designed the @ bridge?', value: 'person' },
  ],
  lighthouse: [
    {
      sentence: 'The @ lighthouse was lit first in #.',
      question: 'In which year was the @ lighthouse lit first?',
      value: 'year',
    },
    { sentence: 'The @ lighthouse is # metres high.', question: 'How high is the @ lighthouse?', value: 'size' },
    { sentence: '# kept the @ lighthouse.', question: 'Who kept the @ lighthouse?', value: 'person' },
  ],
  dam: [
    { sentence: 'The @ dam was filled in #.', question: 'In which year was the @ dam filled?', value: 'year' },
    { sentence: 'The @ dam holds # tonnes of water.', question: 'How much water does the @ dam hold?', value: 'size' },
    { sentence: '# planned the @ dam.', question: 'Who planned the @ dam?', value: 'person' },
  ],
  mill: [
    { sentence: 'The @ mill was built in #.', question: 'In which year was the @ mill built?', value: 'year' },
    { sentence: 'The @ mill has # wheels.', question: 'How many wheels does the @ mill have?', value: 'size' },
    { sentence: '# owned the @ mill.', question: 'Who owned the @ mill?', value: 'person' },
  ],
};

/** Sentences of long sources that answer no question. */
const ASIDES = [
  'Guides show the @ place in summer.',
  'A path leads from the village to the @ place.',
  'Many painters came to the @ place.',
  'Children of the village know the @ place well.',
  'The road to the @ place is narrow.',
] as const;

const STARTS = 'vel nor tor dus ket bra hal fen mor sil gar wen lis pol tra rud'.split(' ');
const ENDS = 'mere ford wick stow by ham dale ness'.split(' ');
const NAMES = STARTS.flatMap((start) => ENDS.map((end) => `${start.charAt(0).toUpperCase()}${start.slice(1)}${end}`));
const FIRST_NAMES = 'Anna Bertil Clara Dorte Emil Freja Gustav Hedda Ivar Jonas Karin Lars Maja Nils Olga Rosa'.split(
  ' ',
);
/** Few enough that the policy learns each as a word. */
const YEARS = { least: 1850, most: 1999 } as const;
const SIZES = { least: 20, most: 199 } as const;
const LAST_NAMES = 'Lind Berg Holm Dahl Strand Falk Sund Lund'.split(' ');

/** No answer meets this criterion: the sources tell nothing of it. */
const UNMET = 'Explains why the Norbeck commission of 1911 chose this site over Halvorsund';
/** No answer violates these. */
const UNVIOLATED = [
  'Attributes the choice to the Halvorsund flood',
  'Dates the commission to the year 1931',
  'Credits the commission to Gustav Hellmer',
  'Says that Norbeck lies south of Halvorsund',
];

/** Every text that rows can contain, for the vocabulary. */
export function rowTexts(): string[] {
  const relations = Object.values(PLACES).flat();
  const sentences = relations.flatMap(({ sentence, question }) => [sentence, question, question.toLowerCase()]);
  const stripped = [...sentences, ...ASIDES].map((text) => text.replaceAll(/[@#]/gu, ''));
  const numbers = [YEARS, SIZES].flatMap(({ least, most }) =>
    Array.from({ length: most - least + 1 }, (_, n) => String(least + n)),
  );
  return [...stripped, ...numbers, ...NAMES, ...FIRST_NAMES, ...LAST_NAMES, ABSTENTION, 'It is , and'];
}

type Told = Fact & { readonly question: string };

/** Makes a row. @param draws decide everything about it. */
export function makeRow(kind: RowKind, draws: Draws): Row {
  const [name = '', second = '', third = '', fourth = ''] = shuffled(NAMES, draws.of('names'));
  const place = draws.pick(Object.keys(PLACES), 'place');
  const relations = shuffled(PLACES[place] ?? [], draws.of('relations'));
  const own = relations.map((relation) => tell(relation, name, draws));
  const [asked, ...rest] = own;
  if (asked === undefined) throw new Error(`makeRow: no fact of a ${place}`);
  const others = (about: string, share: number): Told[] =>
    relations.slice(0, share).map((relation) => tell(relation, about, draws));
  switch (kind) {
    case 'plain':
      return rowOf([asked], [asked, ...rest], draws);
    case 'vacuous':
      return { ...rowOf([asked], own, draws), positive: [UNMET], negative: UNVIOLATED };
    case 'negatives':
      return { ...rowOf([asked], own, draws), positive: [], negative: UNVIOLATED };
    case 'few':
      return rowOf([asked], own.slice(0, draws.integer(1, 2, 'sources')), draws);
    case 'many':
      return rowOf([asked], [...own, ...others(second, 3), ...others(third, 2)], draws);
    case 'distractors':
      return rowOf([asked], [...own, ...others(second, 1), ...others(third, 1), ...others(fourth, 1)], draws);
    case 'unanswerable': {
      const answerable = draws.share('answerable') < 0.5;
      const shown = [...(answerable ? [asked] : []), ...rest, ...others(second, answerable ? 0 : 1)];
      return answerable ? rowOf([asked], shown, draws) : unanswerable(asked, shown, draws);
    }
    case 'two-facts':
      return rowOf([asked, ...rest.slice(0, 1)], own, draws);
    case 'long':
      return rowOf([asked], own, draws, (told, at) => amongAsides(told, draws.of('asides', at)));
  }
}

function tell({ sentence, question, value }: Relation, name: string, draws: Draws): Told {
  const answer = drawValue(value, draws.of('value', name, sentence));
  const named = (text: string): string => text.replace('@', name).replace('#', answer);
  return { sentence: named(sentence), question: named(question), answer, source: 0 };
}

function drawValue(value: Relation['value'], draws: Draws): string {
  switch (value) {
    case 'year':
      return String(draws.integer(YEARS.least, YEARS.most));
    case 'size':
      return String(draws.integer(SIZES.least, SIZES.most));
    case 'person':
      return `${draws.pick(FIRST_NAMES, 'first')} ${draws.pick(LAST_NAMES, 'last')}`;
  }
}

function rowOf(
  asked: readonly Told[],
  shown: readonly Told[],
  draws: Draws,
  written: (told: Told, at: number) => string = ({ sentence }) => sentence,
): Row {
  const order = shuffled(shown, draws.of('order'));
  const facts = asked.map(({ sentence, answer }) => ({
    sentence,
    answer,
    source: order.findIndex((one) => one.sentence === sentence),
  }));
  return {
    question: questionOf(asked),
    sources: order.map(written),
    facts,
    positive: facts.map(({ answer }) => `States ${answer}`),
    negative: [],
  };
}

function unanswerable(asked: Told, shown: readonly Told[], draws: Draws): Row {
  const sources = shuffled(shown, draws.of('order')).map(({ sentence }) => sentence);
  return {
    question: asked.question,
    sources,
    facts: [],
    positive: ['States that the sources do not say this'],
    negative: [],
  };
}

function questionOf(asked: readonly Told[]): string {
  const [first, ...rest] = asked.map(({ question }) => question.slice(0, -1));
  return `${[first, ...rest.map((text) => `and ${text.charAt(0).toLowerCase()}${text.slice(1)}`)].join(', ')}?`;
}

function amongAsides({ sentence }: Told, draws: Draws): string {
  const asides = shuffled(ASIDES, draws).slice(0, 3);
  const name = NAMES.find((one) => sentence.includes(one)) ?? '';
  const sentences = asides.map((aside) => aside.replace('@', name));
  sentences.splice(draws.integer(0, 3, 'place of the fact'), 0, sentence);
  return sentences.join(' ');
}

function shuffled<T>(values: readonly T[], draws: Draws): T[] {
  return values
    .map((value, n) => ({ value, at: draws.share('shuffled', n) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
