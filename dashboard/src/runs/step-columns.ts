/** Series of a run's steps for charts and the table. */
import type { RunStep } from '../../../src/runs/summary.ts';
import type { ChartLine, Values } from '../charts/line-chart.tsx';
import { FINDING_WORDS } from '../words/findings.ts';

/** A step with a number, which charts need. */
export type NumberedStep = RunStep & { readonly step: number };

export function numberedSteps(steps: readonly RunStep[]): NumberedStep[] {
  return steps.flatMap(({ step, ...rest }): NumberedStep[] => (step === null ? [] : [{ ...rest, step }]));
}

/** The names of all components, in order of first occurrence. */
export function componentNames(steps: readonly RunStep[]): string[] {
  return [...new Set(steps.flatMap(({ components }) => Object.keys(components)))];
}

export function componentLines(steps: readonly RunStep[]): ChartLine[] {
  return componentNames(steps).map((name) => ({
    name: name.replaceAll('_', ' '),
    values: steps.map(({ components }) => components[name]?.mean ?? null),
  }));
}

/** Whether rubrics of the run evolve, so that some rollouts have a reward by their persistent criteria alone. */
export function hasPersistentRewards(steps: readonly RunStep[]): boolean {
  return steps.some(({ persistent_reward }) => persistent_reward !== undefined);
}

/** One standard deviation below and above the mean reward. */
export function rewardBand(steps: readonly RunStep[]): { readonly low: Values; readonly high: Values } {
  const edge = (sign: 1 | -1): Values =>
    steps.map(({ reward: { mean, std } }) => (mean === null ? null : mean + sign * (std ?? 0)));
  return { low: edge(-1), high: edge(1) };
}

/** Shares of unscored rollouts: the total, then the `most` frequent reasons. */
export function unscoredLines(
  steps: readonly RunStep[],
  most: number,
  nameOf: (reason: string) => string,
): ChartLine[] {
  const counts = new Map<string, number>();
  for (const { unscored } of steps) {
    for (const [reason, count] of Object.entries(unscored)) counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  const reasons = [...counts].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
  const share = (count: number, { rollouts }: RunStep): number | null => (rollouts === 0 ? null : count / rollouts);
  const total: ChartLine = {
    name: 'not scored',
    values: steps.map((step) => share(step.rollouts - step.scored, step)),
  };
  const byReason = reasons.slice(0, most).map((reason): ChartLine => {
    return { name: nameOf(reason), values: steps.map((step) => share(step.unscored[reason] ?? 0, step)) };
  });
  return [total, ...byReason];
}

/** The mean of a number of each rollout; steps whose rollouts have none are gaps. */
export function meanLine(
  name: string,
  steps: readonly RunStep[],
  meanOf: (step: RunStep) => { readonly mean: number | null },
): ChartLine {
  return { name, values: steps.map((step) => meanOf(step).mean) };
}

/** Findings per rollout, the `most` frequent reasons first. */
export function findingLines(steps: readonly RunStep[], most: number): ChartLine[] {
  const counts = new Map<string, number>();
  for (const { findings } of steps) {
    for (const [reason, count] of Object.entries(findings.reasons))
      counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  const reasons = [...counts].sort((one, other) => other[1] - one[1]).slice(0, most);
  return reasons.map(([reason]) => ({
    name: findingTitle(reason),
    values: steps.map(({ findings: { rollouts, reasons: own } }) =>
      rollouts === 0 ? null : (own[reason] ?? 0) / rollouts,
    ),
  }));
}

function findingTitle(reason: string): string {
  return new Map<string, { readonly title: string }>(Object.entries(FINDING_WORDS)).get(reason)?.title ?? reason;
}

/** Pass rates of criteria, those that changed most first. */
export function criterionLines(steps: readonly RunStep[], most: number): ChartLine[] {
  const names = [...new Set(steps.flatMap(({ criteria }) => Object.keys(criteria)))];
  const lines = names.map((name): ChartLine => {
    return { name: name.replace('_', ' '), values: steps.map(({ criteria }) => criteria[name]?.pass_rate ?? null) };
  });
  return lines.sort((one, other) => changeOf(other) - changeOf(one)).slice(0, most);
}

/** How far the last value is from the first. */
function changeOf({ values }: ChartLine): number {
  const known = values.filter((value) => value !== null);
  return Math.abs((known.at(-1) ?? 0) - (known[0] ?? 0));
}
