/** One line a figure: what it says in words. docs/judge-check.md says what to do about each. */
import { countText, differenceText, kappaText, latencyText, percentText, tokensText } from './figure-text.ts';
import type { LaneReport } from './lane.ts';
import type { CheckReport, ClaimsFigures, ComparisonFigures, CriteriaFigures } from './report.ts';
import { lanesOf } from './report.ts';

export function readingsOf(report: CheckReport): string[] {
  return [
    ...(report.criteria === null ? [] : criteriaReadings(report.criteria)),
    ...(report.claims === null ? [] : claimReadings(report.claims)),
    ...failureReading(lanesOf(report)),
    ...cutReading(report.rows.cut),
  ];
}

function criteriaReadings({ joint, per_criterion, reversed, replicates }: CriteriaFigures): string[] {
  const readings = [
    `one by one: ${changes(per_criterion)}${costAgainst(joint, per_criterion)}`,
    `order: reversing it ${changes(reversed)}`,
  ];
  if (replicates === 'deterministic') {
    return [...readings, 'again: deterministic, nothing is sampled; asking again gives the same verdicts'];
  }
  return [...readings, ...replicates.map((one, position) => `again ${position + 1}: another seed ${changes(one)}`)];
}

/** `changes 12.0% of verdicts, scores -0.05 on average` */
function changes(figures: ComparisonFigures): string {
  const { exact_agreement, kappa, mean_difference, verdicts_asked, verdicts_compared } = figures;
  if (exact_agreement === null) return 'could not be compared: no verdict was given both ways';
  const lost = verdicts_asked - verdicts_compared;
  const share = `changes ${percentText(1 - exact_agreement)} of verdicts`;
  return [
    exact_agreement === 1 ? 'changes no verdict' : `${share}, scores ${differenceText(mean_difference)} on average`,
    ...(kappa === null ? ['; but all verdicts are one and the same score, which tells nothing'] : []),
    ...(lost === 0 ? [] : [`; ${lost} of ${verdicts_asked} not comparable`]),
  ].join('');
}

function costAgainst(joint: LaneReport, other: LaneReport): string {
  if (joint.calls === 0 || other.calls === 0) return '';
  const times = (count: number, base: number): string => `${(count / base).toFixed(1)}x`;
  const calls = `; ${times(other.calls, joint.calls)} the calls`;
  const [some, base] = [other.tokens, joint.tokens];
  if (some === null || base === null || base.prompt_tokens === 0) return calls;
  return `${calls}, ${times(some.prompt_tokens, base.prompt_tokens)} the prompt tokens`;
}

function claimReadings({ all, lane }: ClaimsFigures): string[] {
  const { accuracy, balanced_accuracy, kappa, mean_difference } = all.supported_or_not;
  if (accuracy === null) return ['claims: no claim got a verdict'];
  const { supported, partial, unsupported } = all.confusion;
  const passed = partial.full + unsupported.full;
  const refused = partial.partial + partial.none + unsupported.partial + unsupported.none;
  const missed = supported.partial + supported.none;
  const found = supported.full;
  const errors = [
    ...(passed + refused === 0
      ? []
      : [`passes ${percentText(passed / (passed + refused))} of those that people did not find supported`]),
    ...(missed + found === 0 ? [] : [`misses ${percentText(missed / (missed + found))} of the supported`]),
  ];
  return [
    `claims: right on supported or not for ${percentText(accuracy)}, balanced ${percentText(balanced_accuracy)} ` +
      `(guessing: 50%), kappa ${kappaText(kappa)}`,
    `claims: ${errors.join(', and ')}`,
    `claims: ${leaning(mean_difference)}`,
    `claims: ${costText(lane)}`,
  ];
}

/** Who calls more claims supported. @param difference share that the judge passes minus share that people do. */
function leaning(difference: number | null): string {
  if (difference === null || difference === 0) return 'calls as many claims supported as people do';
  const points = `${(100 * Math.abs(difference)).toFixed(1)} points`;
  return `calls ${points} ${difference > 0 ? 'more' : 'fewer'} of the claims supported than people do`;
}

function costText(lane: LaneReport): string {
  const tokens = lane.tokens === null ? [] : [`${tokensText(lane)} tokens`];
  return [countText(lane.calls, 'call'), ...tokens, `${latencyText(lane.mean_latency_ms)} a question`].join(', ');
}

function failureReading(lanes: readonly LaneReport[]): string[] {
  const questions = lanes.reduce((sum, lane) => sum + lane.questions, 0);
  const failed = lanes.reduce((sum, lane) => sum + lane.failures.total, 0);
  if (failed === 0) return [`failures: none in ${countText(questions, 'question')}`];
  const byReason = new Map<string, number>();
  for (const { failures } of lanes) {
    for (const [reason, count] of Object.entries(failures.by_reason)) {
      byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    }
  }
  const reasons = [...byReason].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} ${reason}`);
  return [
    `failures: ${failed} of ${countText(questions, 'question')} got no verdict and are in no figure: ${reasons.join(', ')}`,
  ];
}

function cutReading(cut: number): string[] {
  return cut === 0 ? [] : [`cut: in ${countText(cut, 'row')} the sources did not fit into the judge's context whole`];
}
