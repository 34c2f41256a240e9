/** Reads judgments into facts: the verdicts of a judgment, or the reason why they are missing. */
import type { JudgmentOutcome } from '../judgments/judgment.ts';
import type { CitationVerdicts } from '../judgments/kinds/citations/citations.ts';
import type { JudgmentKind } from '../judgments/kinds/names.ts';
import { answersRequest, completedVerdicts, type JudgmentRequest, type Verdicts } from '../judgments/kinds/registry.ts';
import type { CriterionVerdict } from '../judgments/kinds/rubric/rubric.ts';
import type { RubricCall } from '../judgments/kinds/rubric/rubric-calls.ts';
import type { Observed } from './facts.ts';

type Unscored = Extract<Observed<never>, { status: 'unscored' }>;

/** A value that could not be observed, with the reason. */
export function unscored(reason: Unscored['reason']): Unscored {
  return { status: 'unscored', reason };
}

/** An observed value. */
export function scored<T>(observed: T): Observed<T> {
  return { status: 'scored', observed };
}

type VerdictsOf<K extends JudgmentKind> = Extract<Verdicts, { readonly kind: K }>;

/**
 * The verdicts of one judgment. Verdicts that do not answer the request exactly are `judgment_record_invalid`: no
 * verdict is guessed, moved or left out. Claims and statements that the judge did not see, because the policy wrote more
 * than its context takes, count against the policy.
 *
 * @param outcome `undefined` counts as a missing judgment.
 */
export function verdictsOf<K extends JudgmentKind>(
  request: Extract<JudgmentRequest, { readonly kind: K }>,
  outcome: JudgmentOutcome | undefined,
): Observed<VerdictsOf<K>> {
  if (outcome === undefined) return unscored('judgment_missing');
  const { judged } = outcome;
  if (!outcome.ok && judged === undefined) return unscored(outcome.failure.reason);
  const verdicts = outcome.ok ? outcome.judgment.verdicts : null;
  const whole = judged === undefined ? verdicts : completedVerdicts(request, judged, verdicts);
  return whole !== null && isOfKind(whole, request.kind) && answersRequest(request, whole)
    ? scored(whole)
    : unscored('judgment_record_invalid');
}

function isOfKind<K extends JudgmentKind>(verdicts: Verdicts, kind: K): verdicts is VerdictsOf<K> {
  return verdicts.kind === kind;
}

/**
 * The verdicts on all criteria, in the order of the rollout's criteria, with the evidence that the judge was asked for.
 * If one judgment is missing, all scores are missing, because the reward reads one mean over all of them.
 *
 * @param outcomes one for each call, in order.
 */
export function criterionVerdicts(
  calls: readonly RubricCall[],
  outcomes: readonly JudgmentOutcome[],
): Observed<readonly Omit<CriterionVerdict, 'key'>[]> {
  const scores = new Map<number, Omit<CriterionVerdict, 'key'>>();
  for (const [n, { request, positions }] of calls.entries()) {
    const verdicts = verdictsOf(request, outcomes[n]);
    if (verdicts.status === 'unscored') return verdicts;
    for (const [place, { key: _key, ...verdict }] of verdicts.observed.criteria.entries()) {
      const position = positions[place];
      if (position !== undefined) scores.set(position, verdict);
    }
  }
  return scored([...scores].sort(([a], [b]) => a - b).map(([, verdict]) => verdict));
}

/** The check of the judge's quote for a claim; nothing if there was no support to quote. */
export function quoteFact(quote: CitationVerdicts['claims'][number]['quote']): {
  readonly quote?: 'verified' | 'unverified';
} {
  return quote === 'absent' ? {} : { quote: quote === 'unverified' ? quote : 'verified' };
}

/** The observed value, changed by `read`; a missing value keeps its reason. */
export function mapObserved<A, B>(part: Observed<A>, read: (observed: A) => B): Observed<B> {
  return part.status === 'scored' ? scored(read(part.observed)) : part;
}
