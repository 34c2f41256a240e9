/**
 * The prompts of the demo run: questions about invented places, with search results generated from the same facts.
 * Everything is generated from a seed; nothing comes from a data set or a web page.
 */
import { createDraws, type Draws } from './draws.ts';
import { PLACE_KINDS, type PlaceKind } from './places.ts';

/** A sentence of the search results. */
export type SourceSentence = {
  /** The id of its snippet, such as `S3`. */
  readonly id: string;
  readonly text: string;
  /** It states an asked fact, something else about the place, or a fact about another place. */
  readonly subject: 'asked' | 'aside' | 'other place';
};

export type Prompt = {
  readonly group: string;
  readonly question: string;
  readonly tool_output: string;
  /** All sentences of `tool_output`: the asked facts in the order of the question, then the others in document order. */
  readonly sentences: readonly SourceSentence[];
  readonly positive_rubrics: readonly { readonly title: string; readonly description: string }[];
  readonly negative_rubrics: readonly { readonly title: string; readonly description: string }[];
};

/** Marks the search results as synthetic wherever they are shown. */
const SEARCH_HEADER = 'synthetic search results: no such place exists';

const ASKED = 3;

/** A search result before it gets its id. */
type Document = { readonly title: string; readonly sentences: readonly Omit<SourceSentence, 'id'>[] };

/** Generates prompts. @param count a larger count extends the same list. */
export function makePrompts(seed: string, count: number): Prompt[] {
  return Array.from({ length: count }, (_, number) => makePrompt(createDraws(seed, 'prompt', number), number));
}

function makePrompt(draws: Draws, number: number): Prompt {
  const kind = draws.pick(PLACE_KINDS, 'kind');
  const [name, neighbour] = twoNames(draws);
  const values = valuesOf(kind, draws.of('values'));
  const others = valuesOf(kind, draws.of('neighbour'));
  const asked = shuffled(kind.facts, draws.of('asked')).slice(0, ASKED);
  const place = `the ${name} ${kind.noun}`;
  const other = `the ${neighbour} ${kind.noun}`;

  const told = kind.facts.map((fact, n): Document => {
    const stated = fact.sentence(place, values[n] ?? '');
    const aside = fact.aside(place, draws.of('aside', n));
    const subject = asked.includes(fact) ? 'asked' : 'aside';
    return {
      title: fact.topic,
      sentences: [
        { text: stated, subject },
        { text: aside, subject: 'aside' },
      ],
    };
  });
  const confusing = kind.facts.slice(0, 2).map((fact, n) => fact.sentence(other, others[n] ?? ''));
  const around = kind.surroundings(name, draws.of('around')).split(/(?<=\.) /u);
  const documents = shuffled<Document>(
    [
      ...told,
      { title: other, sentences: confusing.map((text) => ({ text, subject: 'other place' })) },
      { title: 'around', sentences: around.map((text) => ({ text, subject: 'aside' })) },
    ],
    draws.of('order'),
  );
  const snippets = documents.map(({ title, sentences }, n) => {
    const text = sentences.map((sentence) => sentence.text).join(' ');
    return `<snippet id=S${n + 1} title="${kind.noun}, ${title} (synthetic)">${text}</snippet>`;
  });
  const sentences = documents.flatMap(({ title, sentences }, n) =>
    sentences.map((sentence) => ({ ...sentence, id: `S${n + 1}`, title })),
  );
  const rank = ({ subject, title }: (typeof sentences)[number]): number =>
    subject === 'asked' ? asked.findIndex(({ topic }) => topic === title) : asked.length;
  const questions = asked.map((fact) => fact.question);
  const description = (fact: PlaceKind['facts'][number]): string => {
    const told = fact.sentence(place, values[kind.facts.indexOf(fact)] ?? '').replace(/\.$/u, '');
    return `States that ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
  };
  return {
    group: `prompt-${String(number + 1).padStart(2, '0')}`,
    question: `About ${place}: ${questions.slice(0, -1).join(', ')}, and ${questions.at(-1)}?`,
    tool_output: [SEARCH_HEADER, ...snippets].join('\n'),
    sentences: sentences.toSorted((a, b) => rank(a) - rank(b)).map(({ id, text, subject }) => ({ id, text, subject })),
    positive_rubrics: asked.map((fact) => ({ title: fact.topic, description: description(fact) })),
    negative_rubrics: [{ title: 'Wrong place', description: `Says of ${other} what was asked about ${place}` }],
  };
}

function valuesOf({ facts }: PlaceKind, draws: Draws): string[] {
  return facts.map((fact, n) => fact.value(draws.of(n)));
}

const FIRST = ['Vel', 'Tor', 'Hask', 'Bram', 'Orl', 'Quen', 'Mirr', 'Sund', 'Elk', 'Farr', 'Dusk', 'Ness'] as const;
const LAST = ['mar', 'vane', 'by', 'wick', 'holt', 'dale', 'ford', 'mere', 'stow', 'gate', 'ley', 'thorpe'] as const;

function twoNames(draws: Draws): readonly [string, string] {
  const named = (n: number): string => draws.pick(FIRST, 'first', n) + draws.pick(LAST, 'last', n);
  const name = named(0);
  for (let n = 1; ; n++) {
    const other = named(n);
    if (other !== name) return [name, other];
  }
}

function shuffled<T>(values: readonly T[], draws: Draws): T[] {
  return values
    .map((value, n) => ({ value, rank: draws.share(n) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}
