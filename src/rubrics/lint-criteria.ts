/**
 * Finds faults of a row's criteria before a run pays for them: those that a model's criteria are left out for, and
 * criteria that overlap, that ask for two things, or that every given answer meets. The checks of wording know English
 * only, so a criterion without a finding is not proved good.
 */
import { checkCriteria, overlaps, REJECTIONS, wordsOf } from './check-criteria.ts';
import type { PromptCriterion } from './rubric-set.ts';

export const LINT_FINDINGS = {
  ...REJECTIONS,
  overlap: 'another criterion says most of it',
  two_things: 'it asks for two things',
  always_met: 'it pays for every given answer',
} as const;

type LintReason = keyof typeof LINT_FINDINGS;

/** @property scores verdicts of given answers, 0 to 2; without those that are missing. */
export type LintedCriterion = PromptCriterion & { readonly scores: readonly number[] };

/** `position`: of the criterion. `of`: the description of the criterion that it repeats, negates or overlaps. */
export type LintFinding = { readonly position: number; readonly reason: LintReason; readonly of: string | null };

/** Fewer answers do not show that a criterion tells none apart. Chosen, not fitted. */
const LEAST_ANSWERS = 4;
const TOP_SCORE = 2;

/** The findings in the order of the criteria; a criterion may have several. Quadratic in the criteria of a row. */
export function lintCriteria(criteria: readonly LintedCriterion[]): LintFinding[] {
  const rejected = new Map<PromptCriterion, { readonly reason: LintReason; readonly of: string | null }>(
    checkCriteria(criteria, []).rejected.map(({ criterion, ...finding }) => [criterion, finding]),
  );
  return criteria.flatMap((criterion, position) => {
    const own = rejected.get(criterion);
    const wider = own === undefined ? criteria.find((other) => overlaps(criterion, other)) : undefined;
    const found = [
      ...(own === undefined ? [] : [own]),
      ...(wider === undefined ? [] : [{ reason: 'overlap' as const, of: wider.description }]),
      ...(asksForTwo(criterion.description) ? [{ reason: 'two_things' as const, of: null }] : []),
      ...(alwaysPays(criterion) ? [{ reason: 'always_met' as const, of: null }] : []),
    ];
    return found.map((finding) => ({ position, ...finding }));
  });
}

/** Whether each answer meets the positive criterion, or none has the fault. */
function alwaysPays({ polarity, scores }: LintedCriterion): boolean {
  const best = polarity === 'positive' ? TOP_SCORE : 0;
  return scores.length >= LEAST_ANSWERS && scores.every((score) => score === best);
}

/** "States … and names …", "States that … and that …", "Says when … and how …". */
function asksForTwo(description: string): boolean {
  const words = wordsOf(description);
  const seen = new Set<string>();
  return words.some((word, at) => {
    const isSecond =
      seen.size > 0 && (words[at - 1] === 'and' || (words[at - 1] === 'also' && words[at - 2] === 'and'));
    const isAsked =
      (ASKING.has(word) && words[at + 1] !== 'of') ||
      (word === 'that' ? seen.has('that') : QUESTIONS.has(word) && seen.has('?'));
    seen.add(QUESTIONS.has(word) ? '?' : word);
    return isSecond && isAsked;
  });
}

const ASKING: ReadonlySet<string> = new Set(
  (
    'states mentions names gives says explains includes provides lists cites describes identifies notes compares shows ' +
    'attributes confuses warns recommends defines'
  ).split(' '),
);
const QUESTIONS: ReadonlySet<string> = new Set('when where why how who which what whether'.split(' '));
