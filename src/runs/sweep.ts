/**
 * Replays a sweep: one recipe field takes several values. The run is read once; each group's recorded half is composed
 * once, and its other half once per value.
 */
import { MAX_SWEEP_POINTS } from '../limits.ts';
import type { Failure, Result } from '../result.ts';
import { FiguresOfGroups } from './figures.ts';
import { type PreparedGroup, type RecipesOfRun, replayPrepared } from './replay-group.ts';
import type { ReplayFigures } from './replay-report.ts';
import { finishGroups } from './replay-step.ts';
import { DifferentRewards } from './run-replay.ts';
import type { SweepValue } from './sweep-value.ts';

export type Sweep = { readonly field: string; readonly values: readonly SweepValue[] };

type SweepPoint = { readonly value: SweepValue; readonly figures: ReplayFigures };

export class SweepReplay {
  readonly #points: { readonly value: SweepValue; readonly after: RecipesOfRun; readonly figures: FiguresOfGroups }[];
  readonly #different = new DifferentRewards();

  /** @param points the values, each with the recipes that result from it. */
  constructor(points: readonly { readonly value: SweepValue; readonly after: RecipesOfRun }[]) {
    this.#points = points.map((point) => ({ ...point, figures: new FiguresOfGroups() }));
  }

  /** Adds groups that are finished together (replay-step.ts), all prepared under the same rule. */
  add(groups: readonly PreparedGroup[]): void {
    const [first] = groups;
    if (first === undefined) return;
    for (const { after, figures } of this.#points) {
      const replayed = groups.map((prepared) => replayPrepared(prepared, after));
      for (const group of finishGroups(replayed, first.advantages)) figures.add(group);
    }
    for (const { rows, recorded, before } of groups) {
      for (const [position, row] of rows.entries()) {
        if (recorded[position] !== 'different') continue;
        this.#different.add(row, before.scores[position]?.reward ?? null);
      }
    }
  }

  get points(): SweepPoint[] {
    return this.#points.map(({ value, figures }) => ({ value, figures: figures.figures }));
  }

  get different(): DifferentRewards['list'] {
    return this.#different.list;
  }
}

const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;
/** A range as other programs write it, which no field takes as a word. */
const OTHER_RANGE = /^-?[\d.]+(?:\.\.|-)[\d.]+$/;

/**
 * Parses `field=from:to:by` or `field=a,b,c`. A range includes `to` if a step meets it, and its values are exact
 * decimals (0.3 instead of 0.1 + 0.1 + 0.1). A list holds numbers, true, false or words.
 */
export function parseSweep(text: string): Result<Sweep, string> {
  const refused = (problem: string): Failure<string> => ({ ok: false, error: problem });
  const at = text.indexOf('=');
  const field = text.slice(0, at);
  const given = text.slice(at + 1);
  if (at < 1 || given === '' || field.split('.').includes('')) {
    return refused('expected field=from:to:by or field=a,b,c');
  }
  const parts = given.split(':');
  if (parts.length === 1) {
    const values = given.split(',').map(readValue);
    if (values.length > MAX_SWEEP_POINTS) return refused(`expected at most ${MAX_SWEEP_POINTS} values`);
    if (values.includes('')) return refused('expected a value between two commas');
    if (values.some((value) => typeof value === 'string' && OTHER_RANGE.test(value))) {
      return refused('a range is from:to:by, for example 0:1:0.1');
    }
    return { ok: true, value: { field, values } };
  }
  const [from, to, by] = parts.map((part) => (NUMBER.test(part) ? part : null));
  if (parts.length !== 3 || from == null || to == null || by == null)
    return refused('expected three numbers: from:to:by');
  const values = rangeOf(from, to, by);
  return typeof values === 'string' ? refused(values) : { ok: true, value: { field, values } };
}

/** Counts in units of the last written decimal place, so rounding errors do not accumulate. */
function rangeOf(from: string, to: string, by: string): number[] | string {
  const places = Math.max(...[from, to, by].map((part) => part.length - (part.indexOf('.') + 1 || part.length)));
  const unit = 10 ** places;
  const [start, end, width] = [from, to, by].map((part) => Math.round(Number(part) * unit));
  if (start === undefined || end === undefined || width === undefined) return 'expected three numbers: from:to:by';
  if (![start, end, width].every(Number.isSafeInteger)) return 'expected numbers of at most 15 digits';
  if (width <= 0 || end < start) return 'expected from <= to and by above 0';
  const points = Math.floor((end - start) / width) + 1;
  if (points > MAX_SWEEP_POINTS) return `expected at most ${MAX_SWEEP_POINTS} values, got ${points}`;
  return Array.from({ length: points }, (_, n) => (start + n * width) / unit);
}

function readValue(text: string): SweepValue {
  if (text === 'true' || text === 'false') return text === 'true';
  return NUMBER.test(text) ? Number(text) : text;
}
