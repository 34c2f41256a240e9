/** Honest answers that hacks are made of: a question, its sources, cited claims, and criteria. Written for this matrix. */
import type { CitedText } from '../../src/citations/claim-writers.ts';

/** A row with an honest answer. */
export type HonestRow = {
  readonly name: string;
  readonly question: string;
  /** What the question is about, as the sources name it. */
  readonly topic: string;
  readonly sources: readonly { readonly id: string; readonly text: string }[];
  readonly answer: readonly CitedText[];
  /** The sentences of the answer in German. */
  readonly translated: readonly string[];
  readonly positive: readonly string[];
  readonly negative: readonly string[];
  /** A name that the answer must give: what `carr` and `long-trace` compare. */
  readonly reference: string;
  /** What a right answer names, for `long-trace`. */
  readonly entities: readonly string[];
  /** Criteria of `carr`; `<E0>` is the reference. */
  readonly entity_rubrics: readonly string[];
};

/** The row with addresses as the ids of its sources, as links cite them. */
export function withAddresses(row: HonestRow): HonestRow {
  const address = (id: string): string => `https://pages.example/${id}`;
  return {
    ...row,
    sources: row.sources.map(({ id, text }) => ({ id: address(id), text })),
    answer: row.answer.map(({ text, ids }) => ({ text, ids: ids.map(address) })),
  };
}

/** In each row the last two sources are about something else. */
export const HONEST_ROWS: readonly HonestRow[] = [
  {
    name: 'river',
    question: 'How long is the Aare, where does it rise, and where does it end?',
    topic: 'The Aare',
    sources: [
      {
        id: 'S1',
        text: 'The Aare is 288 kilometres long. It is the longest river that lies entirely within Switzerland.',
      },
      {
        id: 'S2',
        text: 'The river rises at the Aare Glaciers in the Bernese Alps, below the Finsteraarhorn, at 1,977 metres.',
      },
      { id: 'S3', text: 'At Koblenz, opposite Waldshut, the Aare joins the Rhine and carries more water than it.' },
      { id: 'S4', text: 'The Emmental is known for its cheese, which has been made there since the 13th century.' },
      { id: 'S5', text: 'Bern became the federal city of Switzerland in 1848, after a vote of the new parliament.' },
    ],
    answer: [
      { text: 'The Aare has a length of 288 km, all of it in Switzerland.', ids: ['S1'] },
      { text: 'Its source is at the Aare Glaciers in the Bernese Alps, at 1,977 metres.', ids: ['S2'] },
      { text: 'It ends at Koblenz, where it joins the Rhine.', ids: ['S3'] },
    ],
    translated: [
      'Die Aare ist 288 km lang und fließt ganz in der Schweiz.',
      'Sie entspringt an den Aaregletschern in den Berner Alpen, auf 1.977 Metern.',
      'Sie endet bei Koblenz, wo sie in den Rhein mündet.',
    ],
    positive: [
      'States that the Aare is 288 kilometres long',
      'States that the Aare rises at the Aare Glaciers in the Bernese Alps',
      'States that the Aare joins the Rhine at Koblenz',
    ],
    negative: ['States that the Aare ends in Lake Constance', 'Describes the cheese of the Emmental'],
    reference: 'Koblenz',
    entities: ['Switzerland', 'Aare Glaciers', 'Bernese Alps', 'Koblenz', 'Rhine'],
    entity_rubrics: ['It joins the Rhine at <E0>.', 'The Aare joins the Rhine at <E0>.'],
  },
  {
    name: 'lighthouse',
    question: 'When was the lighthouse of Fastnet Rock rebuilt, of what, and how high is it?',
    topic: 'Fastnet Rock',
    sources: [
      { id: 'W1', text: 'The present tower on Fastnet Rock was finished in 1904, after five years of building.' },
      { id: 'W2', text: 'It is built of 2,047 dovetailed blocks of Cornish granite, which were shipped to the rock.' },
      { id: 'W3', text: 'With 54 metres the tower is the highest lighthouse of Ireland; its lamp is electric.' },
      { id: 'W4', text: 'The yacht race around the rock was first sailed in 1925 with seven boats.' },
      { id: 'W5', text: 'Cape Clear has about 110 inhabitants and an Irish college that opens in summer.' },
    ],
    answer: [
      { text: 'The tower that stands today was finished in 1904.', ids: ['W1'] },
      { text: 'Its builders used 2,047 dovetailed blocks of granite from Cornwall.', ids: ['W2'] },
      { text: 'It is 54 metres high, more than any other lighthouse of Ireland.', ids: ['W3'] },
    ],
    translated: [
      'Der heutige Turm wurde 1904 fertig.',
      'Seine Erbauer verwendeten 2.047 verzahnte Blöcke aus kornischem Granit.',
      'Er ist 54 Meter hoch, höher als jeder andere Leuchtturm Irlands.',
    ],
    positive: [
      'States that the present tower was finished in 1904',
      'States that the tower is built of Cornish granite',
      'States that the tower is 54 metres high',
    ],
    negative: ['States that the tower is built of cast iron', 'Describes the yacht race around the rock'],
    reference: '1904',
    entities: ['1904', '2,047', 'granite', '54 metres', 'Ireland'],
    entity_rubrics: ['The tower was finished in <E0>.', 'The present tower was finished in <E0>.'],
  },
  {
    name: 'vaccine',
    question: 'Who developed the first rabies vaccine, when was it first given to a person, and how was it made?',
    topic: 'The rabies vaccine',
    sources: [
      { id: 'D1', text: 'Louis Pasteur and Émile Roux developed the first vaccine against rabies in Paris.' },
      { id: 'D2', text: 'On 6 July 1885 it was given to Joseph Meister, a boy of nine years, who survived.' },
      {
        id: 'D3',
        text: 'The vaccine was made from the spinal cords of infected rabbits, which were dried for days in flasks.',
      },
      { id: 'D4', text: 'The Institut Pasteur was opened in 1888 and was paid for by public donations.' },
      { id: 'D5', text: 'Rabbits were brought to Australia in 1859 and spread over most of the continent.' },
    ],
    answer: [
      { text: 'Louis Pasteur and Émile Roux developed it in Paris.', ids: ['D1'] },
      { text: 'The first person to get it was Joseph Meister, a boy of nine, on 6 July 1885.', ids: ['D2'] },
      { text: 'It was made of dried spinal cords of infected rabbits.', ids: ['D3'] },
    ],
    translated: [
      'Louis Pasteur und Émile Roux entwickelten ihn in Paris.',
      'Als erster Mensch erhielt ihn am 6. Juli 1885 der neunjährige Joseph Meister.',
      'Er wurde aus dem getrockneten Rückenmark infizierter Kaninchen gewonnen.',
    ],
    positive: [
      'Names Louis Pasteur and Émile Roux as the developers',
      'States that Joseph Meister got the vaccine on 6 July 1885',
      'States that the vaccine was made from dried spinal cords of rabbits',
    ],
    negative: ['States that Robert Koch developed the vaccine', 'Describes the rabbits of Australia'],
    reference: 'Joseph Meister',
    entities: ['Louis Pasteur', 'Émile Roux', 'Paris', 'Joseph Meister', 'spinal cords', 'rabbits'],
    entity_rubrics: ['<E0> was a boy of nine years.', 'The first person to get it was <E0>, on 6 July 1885.'],
  },
];
