/**
 * What a check of a run's judge found. A canary is a fixed part of a run that its judge judges again: only the judge can
 * differ. An audit is a random share of the current rollouts that a second judge judges: a gap that grows while the
 * policy trains is what the policy earns from the first judge alone. A risk is what the judge's errors on labelled rows
 * mean for the run.
 */
import { plainLine } from '../text/foreign-line.ts';
import type { Estimate, JudgeCheck, RiskCheck } from './judge-check-schema.ts';

/** Shares of advantages and of verdicts that changed, above which a canary is an alert. */
export const CANARY_LIMITS = { flipped: 0.05, verdicts: 0.1 } as const;

/** The growth of the gap from which an audit is an alert, in standard deviations of the first rewards. */
const AUDIT_LIMIT_STDS = 0.5;

/** Whether a check is an alert. A risk is none: nothing in the run changed. */
export function isAlert(check: JudgeCheck): boolean {
  switch (check.rule) {
    case 'canary_drift':
      return check.verdicts_changed > CANARY_LIMITS.verdicts || (check.advantages_flipped ?? 0) > CANARY_LIMITS.flipped;
    case 'audit_gap':
      return check.growth !== null && check.growth.stds >= AUDIT_LIMIT_STDS;
    case 'judge_error':
      return false;
  }
}

/** The check in words: `verdicts changed 12.5 %`, … */
export function checkTexts(check: JudgeCheck): string[] {
  switch (check.rule) {
    case 'canary_drift':
      return [
        `verdicts changed ${percent(check.verdicts_changed)}`,
        `advantages flipped ${check.advantages_flipped === null ? 'unknown' : percent(check.advantages_flipped)}`,
        `mean reward ${signed(check.reward_shift)}`,
        ...check.questions.map(
          ({ question, same, shift }) =>
            `${plainLine(question)}: ${same === null ? 'unknown' : percent(same)} kept, ${signed(shift)} levels`,
        ),
      ];
    case 'audit_gap': {
      const { growth, steps } = check;
      if (growth === null) return [`${steps.length} audited steps`];
      return [
        `above the audit ${growth.first.toFixed(2)} -> ${growth.last.toFixed(2)}`,
        `${signed(growth.stds)} standard deviations of the first rewards`,
      ];
    }
    case 'judge_error':
      return [
        `signs that may be wrong ${estimateText(check.flipped)}, to or from 0 too ${estimateText(check.changed)}`,
        ...leftOutTexts(check.kinds),
        ...check.kinds.flatMap(({ kind, changed }) =>
          changed === null ? [] : [`${kind} alone ${estimateText(changed)}`],
        ),
      ];
  }
}

/** Says of which kinds of verdicts the errors are not in the figures; empty if all are. */
export function leftOutTexts(kinds: RiskCheck['kinds']): string[] {
  const left = kinds.flatMap(({ kind, changed }) => (changed === null ? [kind] : []));
  return left.length === 0 ? [] : [`without the errors of: ${left.join(', ')}`];
}

/** The latest check of each rule and judge, in the order of the checks. @param checks in the order of their steps. */
export function latestChecks<T extends JudgeCheck>(checks: readonly T[]): T[] {
  const latest = new Map(checks.map((check) => [JSON.stringify([check.rule, check.judge]), check]));
  return [...latest.values()];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function estimateText(estimate: Estimate | null): string {
  if (estimate === null) return 'unknown';
  return `${percent(estimate.share)} (${percent(estimate.low)} to ${percent(estimate.high)})`;
}

function signed(value: number | null): string {
  return value === null ? 'unknown' : `${value < 0 ? '' : '+'}${value.toFixed(2)}`;
}
