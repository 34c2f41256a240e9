/**
 * Accumulates the figures of a replay group by group, in constant memory: counts, and Welford's running mean and
 * variance. A replay keeps one instance per training step, one per value of a sweep, and one for the whole run.
 */
import type { Component } from '../family/score.ts';
import { Moments, Tally } from './moments.ts';
import type { ReplayedGroup, ReplayedSample, ReplayRow } from './replay-group.ts';
import type { ReplayFigures } from './replay-report.ts';

export class FiguresOfGroups {
  #groups = 0;
  #rollouts = 0;
  readonly #before = new Moments();
  readonly #after = new Moments();
  readonly #shift = new Moments();
  readonly #components = new Map<string, ComponentShift>();
  readonly #signs = { kept: 0, flipped: 0, silenced: 0, awakened: 0, not_compared: 0 };
  readonly #tau = new Moments();
  #leastTau: number | null = null;
  readonly #degenerate = { before: 0, after: 0, became: 0, ceased: 0 };
  readonly #unscoredBefore = new Tally();
  readonly #unscoredAfter = new Tally();
  readonly #gaps = new Tally();
  readonly #recorded = { equal: 0, alone: 0, different: 0 };

  add(group: ReplayedGroup<ReplayRow>): void {
    this.#groups++;
    for (const sample of group.samples) this.#addSample(sample);
    if (group.tau !== null) {
      this.#tau.add(group.tau);
      if (this.#leastTau === null || group.tau < this.#leastTau) this.#leastTau = group.tau;
    }
    const [before, after] = [group.degenerate.before !== null, group.degenerate.after !== null];
    if (before) this.#degenerate.before++;
    if (after) this.#degenerate.after++;
    if (after && !before) this.#degenerate.became++;
    if (before && !after) this.#degenerate.ceased++;
  }

  #addSample({ before, after, sign, gaps, recorded }: ReplayedSample<ReplayRow>): void {
    this.#rollouts++;
    this.#signs[sign]++;
    this.#recorded[recorded]++;
    for (const gap of gaps) this.#gaps.add(gap);
    if (before.reward === null) this.#unscoredBefore.add(before.reason ?? 'not_measured');
    else this.#before.add(before.reward);
    if (after.reward === null) this.#unscoredAfter.add(after.reason ?? 'not_measured');
    else this.#after.add(after.reward);
    if (before.reward !== null && after.reward !== null) this.#shift.add(after.reward - before.reward);
    // A score with a reward has every component of its recipe; what it lacks is a term that is off.
    const isWhole = before.reward !== null && after.reward !== null;
    for (const name of new Set([...Object.keys(before.components), ...Object.keys(after.components)])) {
      const value = after.components[name]?.value ?? null;
      if (value !== null) this.#shiftOf(name).addValue(value);
      const own = before.components[name] ?? (isWhole ? OFF : undefined);
      const other = after.components[name] ?? (isWhole ? OFF : undefined);
      if (own !== undefined && other !== undefined) this.#shiftOf(name).add(own, other);
    }
  }

  #shiftOf(name: string): ComponentShift {
    const known = this.#components.get(name);
    if (known !== undefined) return known;
    const made = new ComponentShift();
    this.#components.set(name, made);
    return made;
  }

  get rollouts(): number {
    return this.#rollouts;
  }

  get figures(): ReplayFigures {
    const { kept, flipped, silenced, awakened } = this.#signs;
    const compared = kept + flipped + silenced + awakened;
    return {
      groups: this.#groups,
      rollouts: this.#rollouts,
      before: momentsOf(this.#before),
      after: momentsOf(this.#after),
      shift: { compared: this.#shift.count, mean: this.#shift.mean },
      components: Object.fromEntries([...this.#components].map(([name, shift]) => [name, shift.figures])),
      advantages: {
        compared,
        flipped,
        silenced,
        awakened,
        flipped_share: compared === 0 ? null : flipped / compared,
      },
      tau: { groups: this.#tau.count, mean: this.#tau.mean, least: this.#leastTau },
      degenerate: { ...this.#degenerate },
      unscored: { before: this.#unscoredBefore.counts, after: this.#unscoredAfter.counts },
      gaps: this.#gaps.counts,
      recorded: { ...this.#recorded },
    };
  }
}

/** A term that the recipe does not have. */
const OFF: Component = { status: 'scored', value: 0, weight: 0, contribution: 0 };

class ComponentShift {
  readonly #after = new Moments();
  readonly #value = new Moments();
  readonly #contribution = new Moments();

  addValue(after: number): void {
    this.#after.add(after);
  }

  add(before: Component, after: Component): void {
    if (before.value !== null && after.value !== null) this.#value.add(after.value - before.value);
    if (before.contribution !== null && after.contribution !== null) {
      this.#contribution.add(after.contribution - before.contribution);
    }
  }

  get figures(): ReplayFigures['components'][string] {
    return {
      compared: this.#contribution.count,
      mean: this.#after.mean,
      value: this.#value.mean,
      contribution: this.#contribution.mean,
    };
  }
}

function momentsOf(moments: Moments): ReplayFigures['before'] {
  return { scored: moments.count, mean: moments.mean, std: moments.std };
}
