/**
 * Makes criteria for a question with a model, as a stored judgment of the kind `rubrics`: equal requests ask once, and a
 * run can be followed back to what its generator wrote. Independent of the platform.
 */
import { sha256 } from '../digest.ts';
import type { ExistingCriterion, RubricsRequest } from '../judgments/kinds/rubrics/rubrics.ts';
import { type ObtainedJudgment, type ObtainOptions, type ObtainTimings, obtainJudgments } from '../judgments/obtain.ts';
import type { JudgedSource } from '../judgments/protocol/prompt.ts';
import { checkCriteria, type RejectedCriterion } from './check-criteria.ts';
import { criterionId, type PromptCriterion, questionDigest } from './rubric-set.ts';

/** What criteria are made from. */
export type RubricsToMake = {
  readonly question: string;
  readonly sources: readonly JudgedSource[];
  /** An answer that is known to be right; `null` = none. */
  readonly reference: string | null;
  /** Answers whose quality the criteria are to tell apart; a generator sees no reasoning. */
  readonly responses: readonly string[];
  readonly existing: readonly ExistingCriterion[];
  readonly most: RubricsRequest['most'];
};

/** The largest numbers of criteria, unless a request says otherwise. */
export const DEFAULT_MOST: RubricsRequest['most'] = { positive: 5, negative: 3 };

export type MadeRubrics = {
  /** Digest of the question. */
  readonly question: string;
  /** Criteria that passed all checks, positive ones first; `null` = there is no judgment, so nothing is known. */
  readonly criteria: readonly { readonly id: string; readonly criterion: PromptCriterion }[] | null;
  readonly rejected: readonly RejectedCriterion[];
  /** SHA-256 of each response, in order. */
  readonly responses: readonly string[];
  readonly obtained: ObtainedJudgment;
  readonly timings: ObtainTimings;
};

/**
 * Asks for criteria and checks them. Expected failures are results: `criteria` is `null`, and `obtained` says why. A
 * rejection is a bug.
 */
export async function makeRubrics(wanted: RubricsToMake, options: ObtainOptions): Promise<MadeRubrics> {
  const request: RubricsRequest = { kind: 'rubrics', ...wanted };
  const { judgments, timings } = await obtainJudgments([{ request, cited: new Set() }], options);
  const [obtained] = judgments;
  if (obtained === undefined) throw new Error('makeRubrics: the judgment was lost');
  const question = questionDigest(wanted.question);
  const told = { question, responses: wanted.responses.map(sha256), obtained, timings };
  const { outcome } = obtained;
  if (!outcome.ok) return { ...told, criteria: null, rejected: [] };
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'rubrics') throw new Error('makeRubrics: a judgment of another kind');
  const made = (['positive', 'negative'] as const).flatMap((polarity) =>
    verdicts[polarity].map((one): PromptCriterion => ({ polarity, ...one })),
  );
  const { criteria, rejected } = checkCriteria(made, wanted.existing);
  return {
    ...told,
    criteria: criteria.map((criterion) => ({ id: criterionId(question, criterion), criterion })),
    rejected,
  };
}
