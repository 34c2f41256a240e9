/**
 * The prompts of the demo run: questions about invented places, with search results generated from the same facts.
 * Everything is generated from a seed; nothing comes from a data set or a web page.
 */
import { createDraws, type Draws } from './draws.ts';
import { PLACE_KINDS, type PlaceKind } from './places.ts';

export type Prompt = {
  readonly group: string;
  readonly question: string;
  readonly tool_output: string;
  readonly positive_rubrics: readonly { readonly title: string; readonly description: string }[];
  readonly negative_rubrics: readonly { readonly title: string; readonly description: string }[];
};

/** Marks the search results as synthetic wherever they are shown. */
const SEARCH_HEADER = 'synthetic search results: no such place exists';

const ASKED = 3;

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

  const told = kind.facts.map((fact, n) =>
    [fact.sentence(place, values[n] ?? ''), fact.aside(place, draws.of('aside', n))].join(' '),
  );
  const confusing = kind.facts.slice(0, 2).map((fact, n) => fact.sentence(other, others[n] ?? ''));
  const documents = shuffled(
    [
      ...told.map((text, n) => ({ title: kind.facts[n]?.topic ?? '', text })),
      { title: other, text: confusing.join(' ') },
      { title: 'around', text: kind.surroundings(name, draws.of('around')) },
    ],
    draws.of('order'),
  );
  const snippets = documents.map(
    ({ title, text }, n) => `<snippet id=S${n + 1} title="${kind.noun}, ${title} (synthetic)">${text}</snippet>`,
  );
  const questions = asked.map((fact) => fact.question);
  const description = (fact: PlaceKind['facts'][number]): string => {
    const told = fact.sentence(place, values[kind.facts.indexOf(fact)] ?? '').replace(/\.$/u, '');
    return `States that ${told.charAt(0).toLowerCase()}${told.slice(1)}`;
  };
  return {
    group: `prompt-${String(number + 1).padStart(2, '0')}`,
    question: `About ${place}: ${questions.slice(0, -1).join(', ')}, and ${questions.at(-1)}?`,
    tool_output: [SEARCH_HEADER, ...snippets].join('\n'),
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
