/** Finds from a replay whether the judge of a run drifts, and whether the policy fools it (judge-check.ts). */
import { ALERT_WINDOW_STEPS } from './alert-rules.ts';
import { type AuditCheck, type CanaryCheck, MAX_AUDITED_STEPS } from './judge-check-schema.ts';
import { Moments } from './moments.ts';
import type { JudgeComparison, ReplayFigures } from './replay-report.ts';

/** The share of a step's rewards that an audit may lack. */
const MOST_LOST = 0.1;

/**
 * Compares the verdicts and advantages of a fixed part of a run with those of its first judging.
 *
 * @param step the step of the run at which the canaries were due.
 * @returns `null` if nothing was compared, so nothing is known.
 */
export function canaryCheck(step: number, figures: ReplayFigures, judges: JudgeComparison): CanaryCheck | null {
  const pairs = judges.questions.reduce((sum, { pairs: count }) => sum + count, 0);
  if (pairs === 0) return null;
  const same = judges.questions.reduce((sum, one) => sum + one.pairs * (one.same ?? 0), 0);
  return {
    rule: 'canary_drift',
    judge: judges.judge,
    step,
    rollouts: judges.compared,
    verdicts_changed: Math.max(0, 1 - same / pairs),
    // The rewards of a panel come from its vote, so those of one member differ from them without any drift.
    advantages_flipped: judges.as_member > 0 ? null : figures.advantages.flipped_share,
    reward_shift: judges.as_member > 0 ? null : figures.shift.mean,
    questions: judges.questions.map(({ question, same: equal, mean_difference }) => ({
      question,
      same: equal,
      shift: mean_difference,
    })),
  };
}

/** The audit of one step: the recorded rewards minus those of the second judge, over rollouts that have both. */
type AuditedStep = AuditCheck['steps'][number] & { readonly std: number };

/** Collects the steps of an audit in their order. */
export class Audit {
  readonly #judge: string;
  readonly #steps: AuditedStep[] = [];

  /** @param judge name of the second judge. */
  constructor(judge: string) {
    this.#judge = judge;
  }

  add(step: number | null, { shift, before }: Pick<ReplayFigures, 'shift' | 'before'>): void {
    if (step === null || shift.mean === null || shift.compared === 0) return;
    // What the second judge failed to judge is unknown, so a step that lacks much of it is left out.
    if (shift.compared < (1 - MOST_LOST) * before.scored) return;
    this.#steps.push({ step, rollouts: shift.compared, gap: -shift.mean, std: before.std ?? 0 });
  }

  /** Compares the last audited steps with the first ones. @returns `null` if no step is audited. */
  get check(): AuditCheck | null {
    const last = this.#steps.at(-1);
    if (last === undefined) return null;
    return {
      rule: 'audit_gap',
      judge: this.#judge,
      step: last.step,
      rollouts: this.#steps.reduce((sum, { rollouts }) => sum + rollouts, 0),
      steps: this.#steps.slice(-MAX_AUDITED_STEPS).map(({ step, rollouts, gap }) => ({ step, rollouts, gap })),
      growth: this.#growth,
    };
  }

  get #growth(): AuditCheck['growth'] {
    if (this.#steps.length < 2 * ALERT_WINDOW_STEPS) return null;
    const [first, last] = [this.#steps.slice(0, ALERT_WINDOW_STEPS), this.#steps.slice(-ALERT_WINDOW_STEPS)];
    const std = meanOf(first.map((one) => one.std));
    if (std === 0) return null;
    const [before, after] = [meanGap(first), meanGap(last)];
    return { first: before, last: after, stds: (after - before) / std };
  }
}

/** Each rollout counts the same, so that small samples of a step weigh less. */
function meanGap(steps: readonly AuditedStep[]): number {
  const rollouts = steps.reduce((sum, one) => sum + one.rollouts, 0);
  return steps.reduce((sum, one) => sum + one.gap * one.rollouts, 0) / rollouts;
}

function meanOf(values: readonly number[]): number {
  const moments = new Moments();
  for (const value of values) moments.add(value);
  return moments.mean ?? 0;
}
