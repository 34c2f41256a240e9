/** Says what the figures of `citeward judge check` mean, a sentence for each. */
import { countOf, differenceText, kappaText, percentText } from '../../shared/number-text.ts';
import { intervalText, KIND_TEXTS, pointsIntervalText, pointsText, WAY_TEXTS } from './labelled-tables.ts';
import type { JudgingReport } from './measured-judge.ts';
import {
  type CheckReport,
  type ComparisonFigures,
  type CriteriaFigures,
  type JudgeReport,
  judgingReportsOf,
  type KindFigures,
  type LabelledFigures,
} from './report.ts';

/**
 * Returns the reading of a report: one sentence for each figure. docs/guides/judge-check.md says what to do
 * about each figure.
 */
export function readingsOf(report: CheckReport): string[] {
  const [only, ...others] = report.judges;
  return [
    // The tables put several judges side by side; sentences about each would repeat them.
    ...(only === undefined || others.length > 0
      ? []
      : [
          ...(only.criteria === null ? [] : criteriaReadings(only.criteria)),
          ...(only.labelled === null ? [] : labelledReadings(only.labelled)),
        ]),
    ...report.judges.flatMap(quoteReading),
    ...report.judges.flatMap(thresholdReading),
    ...report.judges.flatMap(calibrationReadings),
    ...report.judges.flatMap(cascadeReadings),
    ...report.differences.map(differenceReading),
    ...failureReading(judgingReportsOf(report)),
    ...cutReading(report.rows.cut),
    ...(report.rows.labelled === 0 ? [] : [intervalReading(report)]),
  ];
}

function criteriaReadings({
  joint,
  per_criterion,
  batched,
  reversed,
  shuffled,
  replicates,
}: CriteriaFigures): string[] {
  const readings = [
    `one by one: ${changes(per_criterion)}${costAgainst(joint, per_criterion)}`,
    ...(batched === null ? [] : [`in batches: ${changes(batched)}${costAgainst(joint, batched)}`]),
    `order: reversing it ${changes(reversed)}`,
    `order: shuffling it ${changes(shuffled)}`,
  ];
  if (replicates === 'deterministic') {
    return [...readings, 'again: the judge is deterministic; judging again gives the same verdicts'];
  }
  return [...readings, ...replicates.map((one, position) => `again ${position + 1}: another seed ${changes(one)}`)];
}

/** `changes 12.0% of verdicts, scores -0.05 on average` */
function changes(figures: ComparisonFigures): string {
  const { exact_agreement, kappa, mean_difference, verdicts_asked, verdicts_compared } = figures;
  if (exact_agreement === null) return 'could not be compared: no criterion got both verdicts';
  const lost = verdicts_asked - verdicts_compared;
  const share = `changes ${percentText(1 - exact_agreement)} of verdicts`;
  return [
    exact_agreement === 1 ? 'changes no verdict' : `${share}, scores ${differenceText(mean_difference)} on average`,
    ...(kappa === null ? ['; but all verdicts are the same score, so there is nothing to compare'] : []),
    ...(lost === 0 ? [] : [`; ${lost} of ${verdicts_asked} not comparable`]),
  ].join('');
}

function costAgainst(joint: JudgingReport, other: JudgingReport): string {
  if (joint.calls === 0 || other.calls === 0) return '';
  const times = (count: number, base: number): string => `${(count / base).toFixed(1)}x`;
  const calls = `; ${times(other.calls, joint.calls)} the calls`;
  const [some, base] = [other.tokens, joint.tokens];
  if (some === null || base === null || base.prompt_tokens === 0) return calls;
  return `${calls}, ${times(some.prompt_tokens, base.prompt_tokens)} the prompt tokens`;
}

/** The quotes of each judge. A figure of its own, so that it is said of several judges too. */
function quoteReading({ name, labelled }: JudgeReport): string[] {
  const quotes = labelled?.judging.quotes ?? null;
  if (quotes === null) return [];
  const { supported, unverified, share } = quotes;
  return [
    `quotes of ${name}: ${unverified} of ${countOf(supported, 'supported claim')} unverified (${percentText(share)})`,
  ];
}

/** The threshold of each classifier. A figure of its own, so that it is said of several judges too. */
function thresholdReading({ name, labelled }: JudgeReport): string[] {
  const figures = labelled?.threshold ?? null;
  if (figures === null) return [];
  const { chosen, used, fitted_on, tried_on, balanced_accuracy_used, calibration_error } = figures;
  const bal = (value: number | null): string => (value === null ? 'undefined' : percentText(value));
  return [
    `threshold of ${name}: ${chosen}, chosen on ${countOf(fitted_on.questions, 'question')}; on the other ` +
      `${tried_on.questions}, balanced accuracy ${bal(tried_on.balanced_accuracy)} (${intervalText(tried_on.interval)}) ` +
      `with it, ${bal(balanced_accuracy_used)} with the judge's ${used ?? 'words'}`,
    `calibration error of ${name}: ${calibration_error.toFixed(3)}, 0 if its probabilities are those of the labels`,
  ];
}

const WITHOUT_PROBABILITIES = {
  'not reported': 'not reported by the server',
  unreadable: 'reported by the server, but no token says a verdict, or a log-probability is above 0',
  'too few rows': 'too few rows; each half of the questions needs rows, and the first half both labels',
} as const;

/** The probabilities of each language model that was asked for them, for each kind of rows. */
function calibrationReadings({ name, labelled }: JudgeReport): string[] {
  return (labelled?.kinds ?? []).flatMap(({ kind, calibration, parts: [all] }) => {
    const { rows } = KIND_TEXTS[kind];
    if (calibration === null) return [];
    if (typeof calibration === 'string') {
      return [`probabilities of ${name}, ${rows}: ${WITHOUT_PROBABILITIES[calibration]}`];
    }
    const { scored, calibration_error, chosen, fitted_on, tried_on, balanced_accuracy_used } = calibration;
    return [
      `probabilities of ${name}, ${rows}: calibration error ${calibration_error.toFixed(3)}, in ${scored} of ` +
        countOf(all?.rows ?? scored, 'row'),
      `threshold of ${name}, ${rows}: ${chosen}, chosen on ${countOf(fitted_on.questions, 'question')}; on the other ` +
        `${tried_on.questions}, balanced accuracy ${percentText(tried_on.balanced_accuracy)} ` +
        `(${intervalText(tried_on.interval)}) with it, ${percentText(balanced_accuracy_used)} in the judge's words`,
    ];
  });
}

/** The tiers of each cascade, and the calls that they save. */
function cascadeReadings({ name, labelled }: JudgeReport): string[] {
  const figures = labelled?.cascade ?? null;
  if (figures === null) return [];
  const { tiers, saved, claims } = figures;
  const text = (value: number | null): string => (value === null ? '-' : percentText(value));
  return [
    ...tiers.map(
      ({ judge, decided, error, passes_no, misses_yes }, position) =>
        `tier ${position + 1} of ${name}, ${judge}: decides ${decided} of ${countOf(claims, 'claim')}, ${text(error)} of ` +
        `them wrongly (passes ${text(passes_no)} of those not supported, misses ${text(misses_yes)} of those that are)`,
    ),
    `calls saved by ${name}: ${tiers.at(-1)?.judge ?? ''} is not asked about ${saved} of ${countOf(claims, 'claim')} ` +
      `(${text(claims === 0 ? null : saved / claims)})`,
  ];
}

function labelledReadings({ kinds, advantages }: LabelledFigures): string[] {
  const flips =
    advantages === null || advantages.answers === 0
      ? []
      : [
          `advantages: the errors change the sign of ${percentText(advantages.changed_share)} ` +
            `(${percentText(advantages.flipped_share)} from plus to minus or back), in ${countOf(advantages.groups, 'group')}`,
        ];
  return [...kinds.flatMap(kindReadings), ...flips];
}

function kindReadings({ kind, parts: [all], pairs: [pairs], ways }: KindFigures): string[] {
  if (all === undefined) return [];
  const { rows, yes } = KIND_TEXTS[kind];
  if (all.accuracy === null) return [`${rows}: no row got a verdict`];
  const balanced =
    all.balanced_accuracy === null
      ? `all labels are the same, so that balanced accuracy is undefined; ${percentText(all.accuracy)} of the verdicts are right`
      : `balanced accuracy ${percentText(all.balanced_accuracy)} (${intervalText(all.interval)}; guessing: 50%), ` +
        `${countOf(all.questions, 'question')}`;
  const errors = [
    ...(all.passes_no === null ? [] : [`passes ${percentText(all.passes_no)} of the ${rows} that are not ${yes}`]),
    ...(all.finds_yes === null ? [] : [`misses ${percentText(1 - all.finds_yes)} of those that are`]),
  ];
  return [
    `${rows}: ${balanced}`,
    `${rows}: ${errors.join(', and ')}`,
    ...(pairs === undefined || pairs.pairs === 0
      ? []
      : [
          `${rows}: of ${countOf(pairs.pairs, 'pair')} both rows right ${percentText(pairs.both_right_share)}, the same ` +
            `verdict for both ${percentText(pairs.same_verdict / pairs.pairs)}`,
        ]),
    ...(all.kappa === null || all.ac1 === null
      ? []
      : [`${rows}: agreement beyond chance, kappa ${kappaText(all.kappa)}, AC1 ${kappaText(all.ac1)}`]),
    ...ways.flatMap(({ way, same, changed_interval, mean_difference }) =>
      same === null || same === 1
        ? []
        : [
            `${rows}: ${WAY_TEXTS[way]} changes ${percentText(1 - same)} (${intervalText(changed_interval)}) of ` +
              `verdicts, ${differenceText(mean_difference)} on average`,
          ],
    ),
  ];
}

function differenceReading(one: CheckReport['differences'][number]): string {
  const { difference, interval, first, second, rows_needed, smallest_shown } = one;
  const about = `${KIND_TEXTS[one.kind].rows}: ${second} against ${first}`;
  if (difference === 0 && one.only_first_right + one.only_second_right === 0) {
    return `${about}: equally right on all ${countOf(one.rows, 'row')}`;
  }
  if (difference === null || interval === null) return `${about}: cannot be compared; too few rows got both verdicts`;
  const figures = `${pointsText(difference)} points of balanced accuracy (${pointsIntervalText(interval)})`;
  if (one.shown) return `${about}: ${figures}; the sample shows the difference`;
  const least = smallest_shown === null ? '' : `; it can show ${(100 * smallest_shown).toFixed(1)} points`;
  const needed =
    rows_needed === null ? '' : `, and a difference of this size with ${neededText(rows_needed, one.rows)}`;
  return `${about}: ${figures}; the sample of ${countOf(one.rows, 'row')} does not show a difference${least}${needed}`;
}

/** Beyond so many times the rows that there are, a number would be false precision. */
const MAX_TIMES = 100;

function neededText(needed: number, rows: number): string {
  return needed > MAX_TIMES * rows ? `more than ${MAX_TIMES} times as many` : `about ${countOf(needed, 'row')}`;
}

function intervalReading({ intervals: { resamples, seed } }: CheckReport): string {
  return `intervals: 95 %, bootstrap over questions, ${countOf(resamples, 'resample')}, seed ${seed}`;
}

function failureReading(reports: readonly JudgingReport[]): string[] {
  const questions = reports.reduce((sum, report) => sum + report.questions, 0);
  const failed = reports.reduce((sum, report) => sum + report.failures.total, 0);
  if (failed === 0) return [`failures: none in ${countOf(questions, 'question')}`];
  const byReason = new Map<string, number>();
  for (const { failures } of reports) {
    for (const [reason, count] of Object.entries(failures.by_reason)) {
      byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    }
  }
  const reasons = [...byReason].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} ${reason}`);
  return [
    `failures: ${failed} of ${countOf(questions, 'question')} got no verdict and are left out of all figures: ` +
      reasons.join(', '),
  ];
}

function cutReading(cut: number): string[] {
  return cut === 0 ? [] : [`cut: in ${countOf(cut, 'row')} the sources were cut to fit into the context of the judge`];
}
