/**
 * Compares two runs, or one run under two recipes: figures by step, and the reward of each rollout that both have. A
 * rollout is the same in both if step, group and sample are equal.
 */
import type { Recipe } from '../../../src/families/composers.ts';
import { Moments } from '../../../src/runs/moments.ts';
import {
  type PreparedGroup,
  prepareGroup,
  type ReplayedScore,
  replayPrepared,
} from '../../../src/runs/replay-group.ts';
import type { LedgerRow } from '../../../src/runs/row.ts';
import type { AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';

/** The figures of one step. */
export type SideStep = {
  readonly step: number;
  readonly rollouts: number;
  readonly reward: Moments;
  readonly components: ReadonlyMap<string, Moments>;
  /** Standard deviations of the rewards within groups. */
  readonly spread: Moments;
  readonly groups: number;
  readonly degenerate: number;
};

/** One of the two runs. */
export type Side = {
  /** In order; rollouts without a step are left out. */
  readonly steps: readonly SideStep[];
  readonly rewards: ReadonlyMap<string, PlacedReward>;
};

type PlacedReward = Pick<LedgerRow, 'step' | 'group' | 'sample'> & { readonly reward: number | null };

/** The run of a side, and the recipes under which it is replayed; `after` is `null` for the recorded rewards. */
export type SideRequest = {
  readonly groups: readonly (readonly LedgerRow[])[];
  readonly before: ReadonlyMap<string, Recipe>;
  readonly after: ReadonlyMap<string, Recipe> | null;
  readonly preset: AdvantagePreset;
};

/** Leaves the browser time to draw in a frame of 16.7 ms. */
const SLICE_MS = 12;

/** Computes a side in slices, so that the page stays responsive. @returns null if `signal` aborts. */
export async function computeSide(request: SideRequest, signal: AbortSignal): Promise<Side | null> {
  const steps = new Map<number, OpenStep>();
  const rewards = new Map<string, PlacedReward>();
  let began = performance.now();
  for (const rows of request.groups) {
    addGroup(rows, request, steps, rewards);
    if (performance.now() - began < SLICE_MS) continue;
    await new Promise((drawn) => requestAnimationFrame(drawn));
    if (signal.aborted) return null;
    began = performance.now();
  }
  return { steps: [...steps.values()].sort((one, other) => one.step - other.step), rewards };
}

type OpenStep = {
  readonly step: number;
  rollouts: number;
  readonly reward: Moments;
  readonly components: Map<string, Moments>;
  readonly spread: Moments;
  groups: number;
  degenerate: number;
};

function addGroup(
  rows: readonly LedgerRow[],
  { before, after, preset }: SideRequest,
  steps: Map<number, OpenStep>,
  rewards: Map<string, PlacedReward>,
): void {
  const prepared = prepareGroup(rows, before, preset);
  const { scores, isDegenerate } = after === null ? recordedScores(prepared) : replayedScores(prepared, after);
  for (const [position, { step, group, sample }] of rows.entries()) {
    const reward = scores[position]?.reward ?? null;
    rewards.set(JSON.stringify([step, group, sample]), { step, group, sample, reward });
  }
  const step = rows[0]?.step ?? null;
  if (step !== null) addToStep(stepOf(steps, step), scores, isDegenerate);
}

type Scores = {
  readonly scores: readonly Pick<ReplayedScore, 'reward' | 'components'>[];
  readonly isDegenerate: boolean;
};

/** The recorded rewards, even where this version of the formula gives others. */
function recordedScores({ rows, before }: PreparedGroup): Scores {
  const scores = rows.map(({ reward }, position) => ({
    reward,
    components: before.scores[position]?.components ?? {},
  }));
  return { scores, isDegenerate: before.degenerate !== null };
}

function replayedScores(prepared: PreparedGroup, after: ReadonlyMap<string, Recipe>): Scores {
  const { samples, degenerate } = replayPrepared(prepared, after);
  return { scores: samples.map((sample) => sample.after), isDegenerate: degenerate.after !== null };
}

function stepOf(steps: Map<number, OpenStep>, step: number): OpenStep {
  const known = steps.get(step);
  if (known !== undefined) return known;
  const made: OpenStep = {
    step,
    rollouts: 0,
    reward: new Moments(),
    components: new Map(),
    spread: new Moments(),
    groups: 0,
    degenerate: 0,
  };
  steps.set(step, made);
  return made;
}

function addToStep(step: OpenStep, scores: Scores['scores'], isDegenerate: boolean): void {
  const own = new Moments();
  for (const { reward, components } of scores) {
    step.rollouts++;
    if (reward !== null) {
      step.reward.add(reward);
      own.add(reward);
    }
    for (const [name, { value }] of Object.entries(components)) {
      const moments = step.components.get(name) ?? new Moments();
      step.components.set(name, moments);
      if (value !== null) moments.add(value);
    }
  }
  step.groups++;
  if (isDegenerate) step.degenerate++;
  if (own.std !== null) step.spread.add(own.std);
}

/** A rollout that both sides have and score. */
export type RewardChange = Omit<PlacedReward, 'reward'> & {
  readonly a: number;
  readonly b: number;
  /** `b` minus `a`. */
  readonly change: number;
};

export type RewardChanges = {
  readonly changes: readonly RewardChange[];
  readonly onlyA: number;
  readonly onlyB: number;
  /** Rollouts of both that a side does not score. */
  readonly unscored: number;
};

export function rewardChanges(a: Side, b: Side): RewardChanges {
  const changes: RewardChange[] = [];
  let onlyA = 0;
  let unscored = 0;
  for (const [key, { step, group, sample, reward }] of a.rewards) {
    const other = b.rewards.get(key);
    if (other === undefined) onlyA++;
    else if (reward === null || other.reward === null) unscored++;
    else changes.push({ step, group, sample, a: reward, b: other.reward, change: other.reward - reward });
  }
  return { changes, onlyA, onlyB: b.rewards.size - (a.rewards.size - onlyA), unscored };
}
