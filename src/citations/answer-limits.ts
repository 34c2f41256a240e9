/**
 * The limits of one answer. Samples that are scored together share the memory of an isolate and the size of a reply, so
 * the limits of each depend on their number, but never on what another sample contains.
 */
import { MAX_CITATIONS, MAX_CLAIMS, MAX_COMPARED_CHARS, MAX_FULL_ANSWERS, MAX_STATEMENTS } from '../limits.ts';

export type AnswerLimits = {
  readonly claims: number;
  readonly citations: number;
  readonly statements: number;
  /** `comparedChars`, summed over all citations. */
  readonly comparedChars: number;
};

/**
 * The work of comparing a text with a source, in UTF-16 code units of the source. The words of the text are kept for
 * each of its sources, so they count more, and each pair takes the time of a page.
 */
export function comparedChars(text: string, source: string): number {
  return source.length + CHARS_PER_TEXT_CHAR * text.length + CHARS_PER_PAIR;
}

const CHARS_PER_TEXT_CHAR = 8;
const CHARS_PER_PAIR = 1_000;

/**
 * The limits of each answer of a group: those of a single answer up to MAX_FULL_ANSWERS samples, then equal shares.
 *
 * @param samples the number of samples that are scored together, from 1.
 * @example
 * answerLimits(8).claims; // 2000
 * answerLimits(64).claims; // 250
 */
export function answerLimits(samples: number): AnswerLimits {
  const share = (limit: number): number => Math.min(limit, Math.floor((limit * MAX_FULL_ANSWERS) / samples));
  return {
    claims: share(MAX_CLAIMS),
    citations: share(MAX_CITATIONS),
    statements: share(MAX_STATEMENTS),
    comparedChars: share(MAX_COMPARED_CHARS),
  };
}

/** Whether the limits of a group of this size differ from those of a single answer. */
export function sharesLimits(samples: number): boolean {
  return samples > MAX_FULL_ANSWERS;
}

/**
 * What opens a claim in the grammars that recipes read by default, and in any. Other uses of `[`, `(` and `<`, as in
 * code, count too.
 */
const OPENINGS = { recipes: /<(?:snippet|cite)[\s/>]/gi, any: /<(?!\/)|[[(【]/g } as const;

/** The grammars that an answer may be written in: those with tags, which recipes read by default, or any. */
export type PossibleGrammars = keyof typeof OPENINGS;

/** The grammars that a requested recipe may read. A recipe that names one, however it is spelled, may read any. */
export function grammarsOf(recipe: string | Readonly<Record<string, unknown>> | undefined): PossibleGrammars {
  return typeof recipe === 'object' && recipe['grammar'] !== undefined ? 'any' : 'recipes';
}

/**
 * The most claims that an answer can have within its limits, from the places where one may open. Linear.
 *
 * @param samples the number of samples that are scored together, from 1.
 */
export function mostClaims(response: string, samples: number, grammars: PossibleGrammars): number {
  const { claims } = answerLimits(samples);
  let count = 0;
  for (const _ of response.matchAll(OPENINGS[grammars])) if (++count === claims) break;
  return count;
}
