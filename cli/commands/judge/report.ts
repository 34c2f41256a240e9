/** Computes the figures of `citeward judge check` from the counts. `--json` prints this report. */

import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import {
  type AgreementTable,
  addedTables,
  balancedAccuracy,
  dichotomised,
  exactAgreement,
  meanDifference,
  pairsIn,
  weightedKappa,
} from '../../../src/judgments/rater-agreement.ts';
import { type ClaimLabel, LABELS } from './check-rows.ts';
import type { ClaimCounts, ClaimsReport, VERDICTS } from './claims-check.ts';
import type { ComparisonReport, CriteriaReport } from './criteria-check.ts';
import { type CheckedJudge, isDeterministic } from './judges.ts';
import type { JudgingReport } from './measured-judge.ts';

type RowCounts = {
  readonly rollouts: number;
  readonly claims: number;
  readonly bad: number;
  /** Rollouts without an answer, in which nothing is judged. */
  readonly without_answer: number;
  /** Rows whose sources were cut to fit the context of the judge. */
  readonly cut: number;
};

/** A way of judging compared with the joint one, over the criteria that got both verdicts. */
export type ComparisonFigures = JudgingReport & {
  readonly verdicts_asked: number;
  readonly verdicts_compared: number;
  readonly exact_agreement: number | null;
  readonly kappa: number | null;
  /** Score of this way minus the joint score, -2 to 2. */
  readonly mean_difference: number | null;
  readonly table: AgreementTable;
};

export type CriteriaFigures = {
  readonly joint: JudgingReport;
  readonly per_criterion: ComparisonFigures;
  readonly reversed: ComparisonFigures;
  readonly replicates: readonly ComparisonFigures[] | 'deterministic';
};

type Accuracy = {
  readonly accuracy: number | null;
  readonly balanced_accuracy: number | null;
  readonly kappa: number | null;
  /**
   * Mean of verdict minus label, in categories; above 0 the judge is more lenient than the labels. With two categories:
   * share of passed claims minus share of supported claims.
   */
  readonly mean_difference: number | null;
};

/** Figures over the claims that got a verdict. */
export type ClaimFigures = {
  readonly claims: number;
  readonly failed: number;
  readonly failure_rate: number | null;
  /**
   * Verdicts full, partial, none compared with labels supported, partial, unsupported. Not meaningful for a set without
   * partial labels.
   */
  readonly three_way: Accuracy;
  /** The verdict full compared with the label supported. A partial verdict or label counts as not supported. */
  readonly supported_or_not: Accuracy;
  /** The number of claims by label and verdict. */
  readonly confusion: Readonly<Record<ClaimLabel, Confusion>>;
};

type Confusion = Readonly<Record<(typeof VERDICTS)[number] | 'failed', number>>;

export type ClaimsFigures = {
  readonly lane: JudgingReport;
  readonly all: ClaimFigures;
  readonly sets: readonly (ClaimFigures & { readonly set: string })[];
};

export type CheckReport = {
  readonly v: 1;
  readonly judge: JudgeIdentity & { readonly deterministic: boolean };
  readonly rows: RowCounts;
  /** Whether the check stopped because the judge gave no more verdicts. */
  readonly stopped_early: boolean;
  readonly criteria: CriteriaFigures | null;
  readonly claims: ClaimsFigures | null;
};

type Checked = {
  readonly judge: CheckedJudge;
  readonly rows: RowCounts;
  readonly stopped_early: boolean;
  readonly criteria: CriteriaReport;
  readonly claims: ClaimsReport;
};

export function reportOf({ judge, rows, stopped_early, criteria, claims }: Checked): CheckReport {
  const deterministic = isDeterministic(judge);
  return {
    v: 1,
    judge: { ...judge.identity, deterministic },
    rows,
    stopped_early,
    criteria: rows.rollouts > rows.without_answer ? criteriaFigures(criteria, deterministic) : null,
    claims: rows.claims > 0 ? claimsFigures(claims) : null,
  };
}

/** The reports of all ways of judging that were used. */
export function judgingReportsOf({
  criteria,
  claims,
}: Pick<CheckReport, 'criteria' | 'claims'>): readonly JudgingReport[] {
  const again = criteria === null || criteria.replicates === 'deterministic' ? [] : criteria.replicates;
  return [
    ...(criteria === null ? [] : [criteria.joint, criteria.per_criterion, criteria.reversed, ...again]),
    ...(claims === null ? [] : [claims.lane]),
  ];
}

function criteriaFigures(report: CriteriaReport, deterministic: boolean): CriteriaFigures {
  return {
    joint: report.joint,
    per_criterion: comparisonFigures(report.per_criterion),
    reversed: comparisonFigures(report.reversed),
    replicates: deterministic ? 'deterministic' : report.replicates.map(comparisonFigures),
  };
}

function comparisonFigures({ verdicts, table, judging }: ComparisonReport): ComparisonFigures {
  return {
    verdicts_asked: verdicts.asked,
    verdicts_compared: verdicts.compared,
    exact_agreement: exactAgreement(table),
    kappa: weightedKappa(table),
    mean_difference: meanDifference(table),
    table,
    ...judging,
  };
}

function claimsFigures({ judging, sets }: ClaimsReport): ClaimsFigures {
  const counts = [...sets.values()];
  const [first, ...rest] = counts;
  if (first === undefined) throw new Error('claimsFigures: there is no set of claims');
  return {
    lane: judging,
    all: claimFigures(rest.reduce(addedCounts, first)),
    sets: [...sets].map(([set, one]) => ({ set, ...claimFigures(one) })),
  };
}

function addedCounts(a: ClaimCounts, b: ClaimCounts): ClaimCounts {
  return {
    claims: a.claims + b.claims,
    failed: {
      unsupported: a.failed.unsupported + b.failed.unsupported,
      partial: a.failed.partial + b.failed.partial,
      supported: a.failed.supported + b.failed.supported,
    },
    table: addedTables(a.table, b.table),
  };
}

function claimFigures({ claims, failed, table }: ClaimCounts): ClaimFigures {
  const confusionOf = (label: ClaimLabel): Confusion => {
    const [none = 0, partial = 0, full = 0] = table[LABELS.indexOf(label)] ?? [];
    return { full, partial, none, failed: failed[label] };
  };
  const failures = claims - pairsIn(table);
  return {
    claims,
    failed: failures,
    failure_rate: claims === 0 ? null : failures / claims,
    three_way: accuracyOf(table),
    supported_or_not: accuracyOf(dichotomised(table, LABELS.indexOf('supported'))),
    confusion: {
      supported: confusionOf('supported'),
      partial: confusionOf('partial'),
      unsupported: confusionOf('unsupported'),
    },
  };
}

function accuracyOf(table: AgreementTable): Accuracy {
  return {
    accuracy: exactAgreement(table),
    balanced_accuracy: balancedAccuracy(table),
    kappa: weightedKappa(table),
    mean_difference: meanDifference(table),
  };
}
