/**
 * Chooses the threshold of a judge that gives probabilities: the one with the highest balanced accuracy on half of the
 * questions, with its figures on the other half, which did not choose it. A classifier has a threshold of its own; a
 * language model gives a verdict in words beside the probability.
 */
import { type JudgedRow, type LabelFigures, labelFigures, type RowLabel } from './label-figures.ts';
import { LEVELS } from './labelled-row.ts';

/** A labelled row with the judge's probability of the highest level, 0 to 1; `null` = it gave none. */
export type ScoredRow = JudgedRow & { readonly score: number | null };

export type ThresholdFigures = {
  /** The judge's own threshold; `null` = it says its verdict in words. */
  readonly used: number | null;
  /** In steps of 0.001. */
  readonly chosen: number;
  readonly fitted_on: Pick<LabelFigures, 'rows' | 'questions' | 'balanced_accuracy'>;
  readonly tried_on: Pick<LabelFigures, 'rows' | 'questions' | 'balanced_accuracy' | 'interval'>;
  /** Of the judge's own threshold or words, on the rows of `tried_on`. */
  readonly balanced_accuracy_used: number | null;
  /** Expected calibration error of the probabilities on all rows, 0 to 1, in ten bins of equal width. */
  readonly calibration_error: number;
};

const STEPS = 1_000;

/**
 * @param rows of one kind, by clusters that count from 0: those with an even number choose, the others try.
 * @returns `null` if the rows that choose have only one label, or no row tries.
 */
export function thresholdFigures(
  rows: readonly ScoredRow[],
  used: number | null,
  seed: number,
): ThresholdFigures | null {
  const scored = rows.flatMap((row) => (row.score === null ? [] : [{ ...row, score: row.score }]));
  const [fitted, tried] = [0, 1].map((half) => scored.filter(({ cluster }) => cluster % 2 === half));
  const steps = fitted === undefined ? null : bestSteps(fitted);
  if (fitted === undefined || tried === undefined || steps === null || tried.length === 0) return null;
  const chosen = Math.ceil((steps.first + steps.last) / 2) / STEPS;
  const figures = (part: readonly JudgedRow[]): LabelFigures => labelFigures(part[0]?.kind ?? 'claim', part, seed);
  const at = (part: readonly (RowLabel & { readonly score: number })[], threshold: number): LabelFigures =>
    figures(part.map((row) => ({ ...row, verdict: row.score >= threshold ? highest(row) : 0 })));
  const [fit, test] = [at(fitted, chosen), at(tried, chosen)];
  return {
    used,
    chosen,
    fitted_on: { rows: fit.rows, questions: fit.questions, balanced_accuracy: fit.balanced_accuracy },
    tried_on: {
      ...{ rows: test.rows, questions: test.questions, balanced_accuracy: test.balanced_accuracy },
      interval: test.interval,
    },
    balanced_accuracy_used: (used === null ? figures(tried) : at(tried, used)).balanced_accuracy,
    calibration_error: calibrationError(scored),
  };
}

const BINS = 10;

/** The mean distance between a bin's share of supported rows and its mean score, weighted by its rows (Guo et al. 2017). */
function calibrationError(rows: readonly (RowLabel & { readonly score: number })[]): number {
  const excess = new Array<number>(BINS).fill(0);
  for (const row of rows) {
    const bin = Math.min(BINS - 1, Math.floor(row.score * BINS));
    excess[bin] = (excess[bin] ?? 0) + row.score - Number(row.level === highest(row));
  }
  return excess.reduce((sum, one) => sum + Math.abs(one), 0) / rows.length;
}

const highest = ({ kind }: RowLabel): number => LEVELS[kind].length - 1;

/** The first run of steps with the highest balanced accuracy; `null` = only one label occurs. */
function bestSteps(
  rows: readonly (RowLabel & { readonly score: number })[],
): { readonly first: number; readonly last: number } | null {
  // Rows by the number of steps that they reach, and how many rows are left at a step.
  const counts = { yes: new Array<number>(STEPS + 1).fill(0), no: new Array<number>(STEPS + 1).fill(0) };
  const left = { yes: 0, no: 0 };
  for (const row of rows) {
    const label = row.level === highest(row) ? 'yes' : 'no';
    const reached = stepsWithin(row.score);
    counts[label][reached] = (counts[label][reached] ?? 0) + 1;
    left[label]++;
  }
  const all = { ...left };
  if (all.yes === 0 || all.no === 0) return null;
  let best = { value: Number.NEGATIVE_INFINITY, first: 1, last: 1 };
  for (let step = 1; step <= STEPS; step++) {
    left.yes -= counts.yes[step - 1] ?? 0;
    left.no -= counts.no[step - 1] ?? 0;
    const value = left.yes / all.yes - left.no / all.no;
    if (value > best.value) best = { value, first: step, last: step };
    else if (value === best.value && best.last === step - 1) best.last = step;
  }
  return best;
}

/** The largest number of steps that a score reaches, as a comparison with `step / STEPS` decides. */
function stepsWithin(score: number): number {
  const near = Math.min(STEPS, Math.floor(score * STEPS) + 1);
  return near / STEPS <= score ? near : (near - 1) / STEPS <= score ? near - 1 : near - 2;
}
