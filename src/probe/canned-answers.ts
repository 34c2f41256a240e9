/**
 * Answers that cost a policy nothing: copies, repetitions, refusals and sprayed citations. A recipe that pays one of
 * them nearly as much as a good answer teaches the policy to give it.
 */
import type { Source } from '../citations/types.ts';
import { sha256 } from '../digest.ts';
import type { CitedClaim } from './good-answer.ts';

/** What the answers to a row are made of. */
export type CannedMaterial = {
  readonly question: string;
  readonly sources: readonly Source[];
  /** The sentences of the sources, in reading order. */
  readonly sentences: readonly CitedClaim[];
  /** The row's own positive criteria; each cites the source that has most of its words. */
  readonly criteria: readonly CitedClaim[];
  /** An answer that the row ought to pay for; empty = none is known. */
  readonly good: readonly CitedClaim[];
  /** Such an answer to another row; `null` = there is no other row. */
  readonly other: readonly CitedClaim[] | null;
  readonly seed: number;
};

/** Why an answer cannot be given to a row. */
export const NOT_GIVEN_REASONS = [
  'no_citations',
  'no_source',
  'no_criteria',
  'no_good_answer',
  'no_other_row',
] as const;

export type NotGiven = (typeof NOT_GIVEN_REASONS)[number];

type Definition = {
  /** What the policy does, after "an answer that". */
  readonly does: string;
  /** The claims of the answer, at least one, or why it cannot be given. */
  readonly claims: (material: CannedMaterial) => readonly CitedClaim[] | NotGiven;
  /** Without citations it is another canned answer. */
  readonly needsCitations?: boolean;
  /** No policy can give it, because none sees the rubric: it is shown, and never warned of. */
  readonly needsRubric?: boolean;
};

/** Sentences of the answer that contains all of them: a judge reads each. */
const MAX_DUMPED_SENTENCES = 200;
/** How often an answer that repeats its citations gives each, as its description says. */
const REPETITIONS = 3;

const firstSentence = (number: number): Definition => ({
  does: `copies and cites the first sentence of source ${number}`,
  claims: ({ sources, sentences }) => firstOf(sources[number - 1], sentences),
});

const DEFINITIONS = {
  first_sentence_1: firstSentence(1),
  first_sentence_2: firstSentence(2),
  first_sentence_3: firstSentence(3),
  first_sentence_4: firstSentence(4),
  first_sentence_5: firstSentence(5),
  random_sentence: {
    does: 'copies and cites a random sentence',
    claims: ({ sentences, seed, question }) => {
      const drawn = Number.parseInt(sha256(`${seed}\n${question}`).slice(0, 8), 16);
      const sentence = sentences[drawn % Math.max(1, sentences.length)];
      return sentence === undefined ? 'no_source' : [sentence];
    },
  },
  all_sentences: {
    does: 'copies and cites every source sentence',
    claims: ({ sentences }) => (sentences.length === 0 ? 'no_source' : sentences.slice(0, MAX_DUMPED_SENTENCES)),
  },
  question: {
    does: 'repeats the question',
    claims: ({ question }) => [{ text: question, sources: [] }],
  },
  question_cited: {
    does: 'repeats the question and cites a source',
    claims: ({ question, sources }) => citing([{ text: question, sources: [] }], sources.slice(0, 1)),
    needsCitations: true,
  },
  it: {
    does: 'says "It"',
    claims: () => [{ text: 'It', sources: [] }],
  },
  it_cited: {
    does: 'says "It" and cites a source',
    claims: ({ sources }) => citing([{ text: 'It', sources: [] }], sources.slice(0, 1)),
    needsCitations: true,
  },
  refusal: {
    does: 'refuses to answer',
    claims: () => [{ text: 'I cannot answer this question.', sources: [] }],
  },
  other_answer: {
    does: "gives another row's answer",
    claims: ({ other }) => other ?? 'no_other_row',
  },
  first_sentence_all_sources: {
    does: 'copies a first sentence and cites every source',
    claims: ({ sources, sentences }) => citing(firstOf(sources[0], sentences), sources),
    needsCitations: true,
  },
  good_answer_all_sources: {
    does: 'answers well and cites every source',
    claims: ({ good, sources }) => citing(known(good), sources),
    needsCitations: true,
  },
  good_answer_all_sources_repeated: {
    does: 'answers well and cites every source three times',
    claims: ({ good, sources }) => citing(known(good), Array.from({ length: REPETITIONS }, () => sources).flat()),
    needsCitations: true,
  },
  criteria: {
    does: "pastes the rubric's words",
    claims: ({ criteria }) =>
      criteria.length === 0 ? 'no_criteria' : criteria.map(({ text }) => ({ text, sources: [] })),
    needsRubric: true,
  },
  criteria_cited: {
    does: "pastes the rubric's words and cites sources",
    claims: ({ criteria }) => (criteria.length === 0 ? 'no_criteria' : criteria),
    needsCitations: true,
    needsRubric: true,
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type CannedAnswerName = keyof typeof DEFINITIONS;

/** The names of all canned answers, in the order of tables. */
export const CANNED_ANSWERS = namesOf(DEFINITIONS);

/** What an answer of this name does, for tables. */
export function cannedAnswerText(name: CannedAnswerName): string {
  return DEFINITIONS[name].does;
}

/** Whether no policy can give the answer, because it does not see the rubric. */
export function needsRubric(name: CannedAnswerName): boolean {
  const { needsRubric = false }: Definition = DEFINITIONS[name];
  return needsRubric;
}

/**
 * The claims of a canned answer, or why it cannot be given. The same material gives the same answer.
 *
 * @param cites whether answers can cite sources.
 */
export function cannedAnswer(
  name: CannedAnswerName,
  material: CannedMaterial,
  cites: boolean,
): readonly CitedClaim[] | NotGiven {
  const { claims, needsCitations = false }: Definition = DEFINITIONS[name];
  return needsCitations && !cites ? 'no_citations' : claims(material);
}

function namesOf<Names extends string>(definitions: Readonly<Record<Names, unknown>>): readonly Names[];
function namesOf(definitions: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(definitions);
}

function firstOf(source: Source | undefined, sentences: readonly CitedClaim[]): readonly CitedClaim[] | NotGiven {
  const first = sentences.find(({ sources }) => sources[0] === source);
  return source === undefined || first === undefined ? 'no_source' : [first];
}

function citing(
  claims: readonly CitedClaim[] | NotGiven,
  sources: readonly Source[],
): readonly CitedClaim[] | NotGiven {
  if (typeof claims === 'string') return claims;
  return sources.length === 0 ? 'no_source' : claims.map(({ text }) => ({ text, sources }));
}

function known(good: readonly CitedClaim[]): readonly CitedClaim[] | NotGiven {
  return good.length === 0 ? 'no_good_answer' : good;
}
