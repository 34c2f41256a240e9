/** Converts verdicts to numeric levels and back, so that verdicts can be compared and replaced by others. */

import type { Observed } from './facts.ts';

/** The questions, in the order of reports. */
export const JUDGED_QUESTIONS = [
  'criteria',
  'support',
  'relevance',
  'needs_citation',
  'outcome',
  'equivalence',
  'named',
  'supported',
] as const;

export type JudgedQuestion = (typeof JUDGED_QUESTIONS)[number];

/**
 * The number of levels of each question. Levels count from 0. `criteria`: 0, 1, 2. `support`: none, partial, full. The
 * others: no, yes.
 */
export const QUESTION_LEVELS: Readonly<Record<JudgedQuestion, number>> = {
  criteria: 3,
  support: 3,
  relevance: 2,
  needs_citation: 2,
  outcome: 2,
  equivalence: 2,
  named: 2,
  supported: 2,
};

/** One verdict: the question and the level of its answer. */
export type VerdictLevel = readonly [question: JudgedQuestion, level: number];

const SUPPORT_LEVELS: readonly number[] = [0, 0.5, 1];

/**
 * The kinds of verdicts that labelled rows measure. `positive` and `negative`: the row's own criteria; `static`: those
 * of the recipe. Levels count from 0, as in `QUESTION_LEVELS`.
 */
export const MEASURED_KINDS = ['positive', 'negative', 'static', 'support', 'needs_citation'] as const;
export type MeasuredKind = (typeof MEASURED_KINDS)[number];

/** Gives the level that takes the place of a verdict's level. */
export type NextLevel = (kind: MeasuredKind, level: number) => number;

/** Another support for a claim; `null` = the same. */
export function revisedSupport(support: number, next: NextLevel): number | null {
  const level = SUPPORT_LEVELS.indexOf(support);
  const other = next('support', level);
  return other === level ? null : (SUPPORT_LEVELS[other] ?? null);
}

export function criterionLevels(criteria: readonly { readonly score: number }[]): VerdictLevel[] {
  return criteria.map(({ score }): VerdictLevel => ['criteria', score]);
}

export function supportLevel(support: number): VerdictLevel {
  return ['support', SUPPORT_LEVELS.indexOf(support)];
}

/** The level of a yes-or-no question. */
export function yesNoLevel(question: JudgedQuestion, isYes: boolean): VerdictLevel {
  return [question, Number(isYes)];
}

/** The levels of a judged value; `null` if it is missing. */
export function levelsOf<T>(part: Observed<T>, read: (observed: T) => VerdictLevel[]): VerdictLevel[] | null {
  return part.status === 'scored' ? read(part.observed) : null;
}

/** The levels of two judged values in order; `null` if one is missing. */
export function joinedLevels(one: VerdictLevel[] | null, other: VerdictLevel[] | null): VerdictLevel[] | null {
  return one === null || other === null ? null : [...one, ...other];
}
