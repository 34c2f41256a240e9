/** The figures of a run's steps, by the names under which TensorBoard and W&B show them. */
import type { RunStep } from '../../../src/runs/summary.ts';

/** A figure of a step by its tag. TensorBoard and W&B group tags by the part before the slash. */
export type Figure = readonly [tag: string, value: number];

export type TaggedFigures = { readonly step: number; readonly figures: readonly Figure[] };

/** The figures of a step. A figure that the step does not have (no rollout scored, …) is left out: it is not 0. */
export function figuresOf(step: RunStep): Figure[] {
  const { rollouts, scored, groups, reward, components, spread, degenerate, judgments, judge_failures } = step;
  const { claims, citations, lengths, findings, criteria, agreement, words, copied, outcome, metrics = {} } = step;
  const figures: (readonly [string, number | null])[] = [
    ['reward/mean', reward.mean],
    ['reward/min', reward.min],
    ['reward/max', reward.max],
    ['reward/std', reward.std],
    ...Object.entries(components).map(([name, { mean }]) => [`component/${name}`, mean] as const),
    ['answer/claims', claims.mean],
    ['answer/citations', citations.mean],
    ['answer/chars', lengths.chars.mean],
    ['answer/tokens', lengths.tokens.mean],
    ['answer/words', words?.mean ?? null],
    ['answer/copied_share', copied?.mean ?? null],
    ['outcome/mean', outcome?.mean ?? null],
    ...Object.entries(metrics).map(([name, { mean }]) => [`metric/${name}`, mean] as const),
    ...Object.entries(findings.reasons).map(([reason, n]) => [`finding/${reason}`, n / findings.rollouts] as const),
    ...Object.entries(findings.shares).map(([reason, share]) => [`finding_share/${reason}`, share] as const),
    ...Object.entries(criteria).map(([name, { pass_rate }]) => [`criterion/${name}`, pass_rate] as const),
    ['group/count', groups],
    ['group/mean_std', spread.mean_std],
    ['group/no_signal_share', degenerate.share],
    ['rollout/count', rollouts],
    ['rollout/unscored', rollouts - scored],
    ['judge/failures', judge_failures],
    ['judge/agreement', agreement?.mean ?? null],
    ['judge/stored_share', judgments.hit_rate],
  ];
  return figures.flatMap(([tag, value]): Figure[] => (value === null ? [] : [[tag, value]]));
}
