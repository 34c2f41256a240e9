/** Computes the figures of `citeward judge check` from the verdicts. `--json` prints this report. */

import type { JudgeIdentity } from '../../../src/judgments/judgment.ts';
import {
  type AgreementTable,
  exactAgreement,
  meanDifference,
  weightedKappa,
} from '../../../src/judgments/rater-agreement.ts';
import { type CascadeFigures, cascadeFigures } from '../../../src/labels/cascade-figures.ts';
import { RESAMPLES } from '../../../src/labels/cluster-bootstrap.ts';
import { type FlipFigures, flippedAdvantages } from '../../../src/labels/flipped-advantages.ts';
import { type JudgeDifference, judgeDifference } from '../../../src/labels/judge-difference.ts';
import {
  groupedRows,
  type LabelFigures,
  labelFigures,
  type PairFigures,
  pairFigures,
} from '../../../src/labels/label-figures.ts';
import { WAYS, type Way } from '../../../src/labels/label-probes.ts';
import { LABEL_KINDS, type LabelKind } from '../../../src/labels/labelled-row.ts';
import type { OrderFlips } from '../../../src/labels/order-flips.ts';
import { type ThresholdFigures, thresholdFigures } from '../../../src/labels/threshold-figures.ts';
import {
  type ReplicateFigures,
  replicateFigures,
  type WayFigures,
  wayFigures,
} from '../../../src/labels/way-figures.ts';
import type { ComparisonReport, CriteriaReport } from './criteria-check.ts';
import { type CheckedJudge, isDeterministic } from './judges.ts';
import type { KeptRow, LabelledJudging, RowVerdicts } from './labelled-check.ts';
import type { JudgingReport } from './measured-judge.ts';

type RowCounts = {
  readonly rollouts: number;
  readonly labelled: number;
  /** Labelled rows of the questions of examples. */
  readonly left_out: number;
  readonly bad: number;
  /** Rollouts without an answer, in which nothing is judged. */
  readonly without_answer: number;
  /** Rows whose sources were cut to fit the context of a judge. */
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
  readonly batched: ComparisonFigures | null;
  readonly reversed: ComparisonFigures;
  /** `flips`: the verdicts that differ from the joint ones, of all criteria and of each kind. */
  readonly shuffled: ComparisonFigures & { readonly flips: readonly OrderFlips[] };
  readonly replicates: readonly ComparisonFigures[] | 'deterministic';
};

/** The figures of a part of the rows. `part`: what it is a part by; `all` has no name. */
export type PartFigures = LabelFigures & {
  readonly part: 'all' | 'set' | 'edit' | 'adversarial';
  readonly name: string | null;
};

/** `scored`: rows with a probability. */
type CalibrationFigures = ThresholdFigures & { readonly scored: number };

export type PairPartFigures = PairFigures & { readonly part: 'all' | 'edit'; readonly name: string | null };

export type KindFigures = {
  readonly kind: LabelKind;
  /** First all rows, then the sets, the types of edit and the adversarial rows, as far as there are several. */
  readonly parts: readonly PartFigures[];
  /** Empty if no row belongs to a pair. */
  readonly pairs: readonly PairPartFigures[];
  /**
   * How good the probabilities are that a language model's tokens say, and the threshold that the rows choose. `not
   * reported`: the server gave none; `unreadable`: those that it gave say no verdict; `too few rows`: one half of the
   * questions has no row, or only one label. `null` = not asked for, or no verdict.
   */
  readonly calibration: CalibrationFigures | 'not reported' | 'unreadable' | 'too few rows' | null;
  /** Each way that was asked, compared with the measured one. */
  readonly ways: readonly (WayFigures & { readonly way: Way })[];
  /** `null` = nothing was judged again. */
  readonly again: ReplicateFigures | 'deterministic' | null;
};

export type LabelledFigures = {
  readonly judging: LabelledJudging;
  readonly kinds: readonly KindFigures[];
  /** The threshold that the rows choose, of a judge that gives probabilities; `null` = none can be chosen. */
  readonly threshold: ThresholdFigures | null;
  /** What the tiers of a cascade decided; `null` = it is no cascade. */
  readonly cascade: CascadeFigures | null;
  /** What the errors do to advantages; `null` = the rows form no group. */
  readonly advantages: FlipFigures | null;
};

export type JudgeReport = {
  readonly name: string;
  readonly judge: JudgeIdentity & { readonly deterministic: boolean };
  readonly judging: CheckedJudge['judging'];
  /** The words of the question, as a recipe takes them; `null` = the usual ones. */
  readonly template: CheckedJudge['template'];
  readonly criteria: CriteriaFigures | null;
  readonly labelled: LabelledFigures | null;
};

export type CheckReport = {
  readonly v: 2;
  readonly rows: RowCounts;
  /** Whether the check stopped because a judge gave no more verdicts. */
  readonly stopped_early: boolean;
  /** How the intervals were computed. */
  readonly intervals: { readonly method: string; readonly resamples: number; readonly seed: number };
  readonly judges: readonly JudgeReport[];
  /** Each later judge compared with the first, over the same labelled rows. */
  readonly differences: readonly (JudgeDifference & {
    readonly kind: LabelKind;
    readonly first: string;
    readonly second: string;
  })[];
};

/** What one judge gave. `verdicts`: one entry for each labelled row. */
type CheckedBy = {
  readonly judge: CheckedJudge;
  readonly criteria: CriteriaReport;
  readonly judging: LabelledJudging;
  readonly verdicts: readonly RowVerdicts[];
};

type Checked = {
  readonly rows: RowCounts;
  readonly stopped_early: boolean;
  readonly seed: number;
  readonly labelled: readonly KeptRow[];
  readonly by: readonly CheckedBy[];
};

export async function reportOf({ rows, stopped_early, seed, labelled, by }: Checked): Promise<CheckReport> {
  const judges: JudgeReport[] = [];
  for (const { judge, criteria, judging, verdicts } of by) {
    const deterministic = isDeterministic(judge);
    judges.push({
      name: judge.name,
      judge: { ...judge.identity, deterministic },
      judging: judge.judging,
      template: judge.template,
      criteria: rows.rollouts > rows.without_answer ? criteriaFigures(criteria, deterministic) : null,
      labelled:
        labelled.length === 0
          ? null
          : await labelledFigures({
              labelled,
              verdicts,
              judging,
              deterministic,
              seed,
              threshold: judge.threshold ?? null,
              logprobs: judge.logprobs === true,
              tiers: judge.tiers ?? null,
            }),
    });
  }
  return {
    v: 2,
    rows,
    stopped_early,
    intervals: { method: 'percentile bootstrap over questions, 95 %', resamples: RESAMPLES, seed },
    judges,
    differences: differencesOf(labelled, by, seed),
  };
}

/** The reports of all ways of judging that were used. */
export function judgingReportsOf({ judges }: CheckReport): readonly JudgingReport[] {
  return judges.flatMap(({ criteria, labelled }) => {
    const again = criteria === null || criteria.replicates === 'deterministic' ? [] : criteria.replicates;
    const batched = criteria === null || criteria.batched === null ? [] : [criteria.batched];
    const { judging } = labelled ?? { judging: null };
    return [
      ...(criteria === null
        ? []
        : [criteria.joint, criteria.per_criterion, ...batched, criteria.reversed, criteria.shuffled, ...again]),
      ...(judging === null ? [] : [judging.measured, ...Object.values(judging.ways), ...judging.again]),
    ];
  });
}

function criteriaFigures(report: CriteriaReport, deterministic: boolean): CriteriaFigures {
  return {
    joint: report.joint,
    per_criterion: comparisonFigures(report.per_criterion),
    batched: report.batched === null ? null : comparisonFigures(report.batched),
    reversed: comparisonFigures(report.reversed),
    shuffled: { ...comparisonFigures(report.shuffled), flips: report.shuffled.flips },
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

type Labelled = {
  readonly labelled: readonly KeptRow[];
  readonly verdicts: readonly RowVerdicts[];
  readonly judging: LabelledJudging;
  readonly deterministic: boolean;
  readonly seed: number;
  /** The judge's own threshold; `null` = it gives no probabilities. */
  readonly threshold: number | null;
  /** Whether the judge was asked for log-probabilities. */
  readonly logprobs: boolean;
  /** The judges of a cascade. */
  readonly tiers: readonly string[] | null;
};

/** A labelled row as the figures read it, with all its verdicts. */
type Row = Omit<KeptRow, 'asked'> & { readonly asked: KeptRow['asked']; readonly kind: LabelKind } & RowVerdicts;

async function labelledFigures({
  labelled,
  verdicts,
  judging,
  deterministic,
  seed,
  threshold,
  logprobs,
  tiers,
}: Labelled): Promise<LabelledFigures> {
  const rows = labelled.flatMap((row, position): Row[] => {
    const given = verdicts[position];
    return given === undefined ? [] : [{ ...row, kind: row.asked.kind, ...given }];
  });
  const flips = await flippedAdvantages(rows);
  return {
    judging,
    kinds: LABEL_KINDS.flatMap((kind) => {
      const own = rows.filter((row) => row.kind === kind);
      if (own.length === 0) return [];
      const again = own[0]?.again.length ?? 0;
      return [
        {
          kind,
          parts: partsOf(kind, own, seed),
          pairs: pairsOf(own, seed),
          calibration: logprobs ? calibrationOf(own, seed) : null,
          ways: WAYS.flatMap((way) => wayOf(kind, way, own, seed)),
          again: deterministic ? ('deterministic' as const) : again === 0 ? null : againOf(kind, own, again + 1, seed),
        },
      ];
    }),
    threshold:
      threshold === null
        ? null
        : thresholdFigures(
            rows.filter(({ kind }) => kind === 'claim'),
            threshold,
            seed,
          ),
    cascade: tiers === null ? null : cascadeFigures(rows, tiers),
    advantages: flips.groups === 0 ? null : flips,
  };
}

function partsOf(kind: LabelKind, rows: readonly Row[], seed: number): PartFigures[] {
  const part = (by: PartFigures['part'], name: string | null, members: readonly Row[]): PartFigures => ({
    part: by,
    name,
    ...labelFigures(kind, members, seed),
  });
  const sets = groupedRows(rows, ({ set }) => [set]);
  const adversarial = rows.filter((row) => row.adversarial);
  return [
    part('all', null, rows),
    ...(sets.length > 1 ? sets : []).map(({ name, rows: members }) => part('set', name, members)),
    ...groupedRows(rows, ({ edits }) => edits).map(({ name, rows: members }) => part('edit', name, members)),
    ...(adversarial.length === 0 ? [] : [part('adversarial', null, adversarial)]),
  ];
}

function pairsOf(rows: readonly Row[], seed: number): PairPartFigures[] {
  const paired = rows.filter(({ pair }) => pair !== null);
  if (paired.length === 0) return [];
  return [
    { part: 'all', name: null, ...pairFigures(paired, seed) },
    ...groupedRows(paired, ({ edits }) => edits).map(({ name, rows: members }) => ({
      part: 'edit' as const,
      name,
      ...pairFigures(members, seed),
    })),
  ];
}

function calibrationOf(rows: readonly Row[], seed: number): KindFigures['calibration'] {
  const scored = rows.filter(({ score }) => score !== null).length;
  if (scored === 0) {
    if (rows.some(({ missing }) => missing === 'unreadable')) return 'unreadable';
    return rows.some(({ missing }) => missing === 'not_reported') ? 'not reported' : null;
  }
  const figures = thresholdFigures(rows, null, seed);
  return figures === null ? 'too few rows' : { ...figures, scored };
}

function wayOf(kind: LabelKind, way: Way, rows: readonly Row[], seed: number): (WayFigures & { readonly way: Way })[] {
  const asked = rows.flatMap((row) => {
    const second = row.ways[way];
    return second === undefined ? [] : [{ ...row, first: row.verdict, second }];
  });
  return asked.length === 0 ? [] : [{ way, ...wayFigures(kind, asked, seed) }];
}

function againOf(kind: LabelKind, rows: readonly Row[], judgments: number, seed: number): ReplicateFigures {
  const judged = rows.map((row) => ({ ...row, verdicts: [row.verdict, ...row.again] }));
  return replicateFigures(kind, judged, judgments, seed);
}

function differencesOf(
  labelled: readonly KeptRow[],
  [base, ...others]: readonly CheckedBy[],
  seed: number,
): CheckReport['differences'] {
  if (base === undefined) return [];
  return LABEL_KINDS.flatMap((kind) =>
    others.flatMap((other) => {
      const rows = labelled.flatMap((row, position) => {
        if (row.asked.kind !== kind) return [];
        const [first, second] = [base, other].map(({ verdicts }) => verdicts[position]?.verdict ?? null);
        return [{ ...row, kind, first: first ?? null, second: second ?? null }];
      });
      if (rows.length === 0) return [];
      return [{ kind, first: base.judge.name, second: other.judge.name, ...judgeDifference(rows, seed) }];
    }),
  );
}

/**
 * The judges and kinds whose balanced accuracy is not shown to reach the minimum: the lower bound of its interval is
 * below it, or there are too few questions for an interval. An undefined balanced accuracy is in no list.
 */
export function belowMinimum({ judges }: CheckReport, minimum: number): string[] {
  return judges.flatMap(({ name, labelled }) =>
    (labelled?.kinds ?? []).flatMap(({ kind, parts: [all] }) => {
      const balanced = all?.balanced_accuracy ?? null;
      if (balanced === null) return [];
      const lower = all?.interval?.[0] ?? null;
      if (lower !== null && lower >= minimum) return [];
      const bound =
        lower === null ? 'no lower bound, because there are too few questions' : `${lower.toFixed(3)} at least`;
      return [`${name}, ${kind}: ${balanced.toFixed(3)}, ${bound}`];
    }),
  );
}
