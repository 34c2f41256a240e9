/**
 * Reports what a recipe pays for the canned answers to probed rows, which changes of the recipe would lower it, and what
 * group advantages on the samples would pay for. Pure: composes recorded facts, and asks no judge.
 */
import { BUILT_IN, type Facts, type Recipe } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import { createGapFinder } from '../runs/gaps.ts';
import { addRanks, NO_RANKS, rankCorrelation, rankSums } from '../runs/rank-correlation.ts';
import { type FieldChange, remedyChanges } from '../runs/remedies.ts';
import {
  CANNED_ANSWERS,
  type CannedAnswerName,
  cannedAnswerText,
  type NotGiven,
  needsRubric,
} from './canned-answers.ts';
import { citationCount, criteriaMet } from './observed.ts';
import type { KnownOrigin } from './plan-probe.ts';
import type { MeasuredSample, ProbedRow } from './probe-rows.ts';

/** A canned answer that earns more than this share of the best known answer is a warning. */
export const WARNED_SHARE = 0.7;
/** A best known answer that meets less of the row's own criteria on average is a warning. */
const MET_SHARE = 0.5;
/** A change is listed if it lowers the share of an answer by at least this much. */
const LOWERED_BY = 0.05;
/** A change that takes more than this share of the best known answer's reward is not listed. */
const MAX_TAKEN = 0.5;
/** Changes that are listed for one answer. */
const MAX_LISTED = 3;
/** Fields that are changed together. */
const MAX_TOGETHER = 4;

/** What a canned answer earns. Means are over the rows in which it and the best known answer have a reward. */
type Payment = {
  readonly rows: number;
  /** `null` = no such row. */
  readonly reward: number | null;
  readonly best_known: number | null;
  /** The reward as a share of the best known one; `null` = the best known answer earns nothing. */
  readonly share: number | null;
  /** Rows in which the answer was given and has no reward, because a judgment failed. */
  readonly unscored: number;
};

/** A change of the recipe, and what the answers would earn under it. */
export type TriedChange = {
  readonly set: Readonly<Record<string, FieldChange['value']>>;
  /** Mean reward of the best known answer. */
  readonly best_known: number | null;
  /** The share of the answer that the change is listed for; of the changes together, the largest share. */
  readonly share: number | null;
  /** The answers that would still be warned of. */
  readonly warns: readonly CannedAnswerName[];
};

export type AnswerReport = Payment & {
  readonly name: CannedAnswerName;
  readonly does: string;
  /** Rows in which it cannot be given, by reason. */
  readonly not_given: Partial<Readonly<Record<NotGiven, number>>>;
  readonly warns: boolean;
  /** For an answer that warns: the changes that lower its share most. */
  readonly lowered_by: readonly TriedChange[];
};

export const PROBE_WARNINGS = ['cheap_answer_paid', 'no_own_criteria', 'criteria_unmet', 'best_known_unpaid'] as const;

type ProbeWarning = {
  readonly kind: (typeof PROBE_WARNINGS)[number];
  /** The answer that is paid; only with `cheap_answer_paid`. */
  readonly answer?: CannedAnswerName;
  readonly text: string;
};

/** How far the reward and a figure rank the samples of a prompt alike (src/runs/rank-correlation.ts). */
type GroupCorrelation = {
  /** From -1 to 1; `null` = fewer than 16 groups in which both vary. */
  readonly correlation: number | null;
  /** Groups in which both vary. */
  readonly groups: number;
};

/** What the advantages of the samples follow inside groups of two samples or more. */
type SampleReport = {
  readonly groups: number;
  readonly samples: number;
  readonly unscored: number;
  /** Groups whose reward varies. */
  readonly with_signal: number;
  readonly follows: Readonly<Record<SampleFigure, GroupCorrelation>>;
};

/** Figures of a sample that are compared with its reward. */
export const SAMPLE_FIGURES = ['words', 'copied', 'citations', 'criteria_met', 'outcome'] as const;

export type SampleFigure = (typeof SAMPLE_FIGURES)[number];

export type ProbeReport = {
  readonly rows: number;
  readonly rows_without_own_criteria: number;
  /** The best known answers: their mean reward, and where they come from. */
  readonly best_known: {
    readonly reward: number | null;
    readonly rows: number;
    /** Mean share of the rows' own positive criteria that it meets; `null` = not known. */
    readonly criteria_met: number | null;
    readonly from: Readonly<Record<KnownOrigin, number>>;
  };
  readonly answers: readonly AnswerReport[];
  /** Changes that together leave least to warn of; `null` = nothing warns, or no change helps. */
  readonly together: TriedChange | null;
  readonly samples: SampleReport | null;
  readonly warnings: readonly ProbeWarning[];
};

/**
 * The report on probed rows.
 *
 * @param rows measured under the recipe.
 * @throws RangeError if the rows are of another family than the recipe.
 */
export function probeReport(rows: readonly ProbedRow[], recipe: Recipe): ProbeReport {
  const paid = paidUnder(rows, recipe);
  const anyWarns = paid.answers.some(warns);
  const singles = anyWarns ? triedChanges(rows, recipe, paid) : [];
  const report = {
    rows: rows.length,
    rows_without_own_criteria: rows.filter(({ own_criteria }) => own_criteria === 0).length,
    best_known: {
      ...paid.best_known,
      criteria_met: meanOf(
        rows.flatMap(({ best_known: known }) => (known === null ? [] : (criteriaMet(known.facts) ?? []))),
      ),
      from: originsOf(rows),
    },
    answers: paid.answers.map((answer) => ({
      ...answer,
      does: cannedAnswerText(answer.name),
      not_given: notGiven(rows, answer.name),
      warns: warns(answer),
      lowered_by: warns(answer) ? loweringOf(answer, singles) : [],
    })),
    together: anyWarns ? loweredTogether(rows, recipe, singles, paid) : null,
    samples: sampleReport(rows, recipe),
  };
  return { ...report, warnings: warningsOf(report, recipe) };
}

/** What a recipe pays: the part of a report that takes no search for changes. */
export type Paid = {
  readonly best_known: { readonly reward: number | null; readonly rows: number };
  /** In the order of `CANNED_ANSWERS`. */
  readonly answers: readonly ({ readonly name: CannedAnswerName } & Payment)[];
};

/** How far the share of an answer exceeds what is accepted; 0 = no warning. */
function excess({ name, share }: Paid['answers'][number]): number {
  return needsRubric(name) ? 0 : Math.max(0, (share ?? 0) - WARNED_SHARE);
}

/** Whether an answer earns more than is accepted. */
export function warns(answer: Paid['answers'][number]): boolean {
  return excess(answer) > 0;
}

/** What a recipe pays on rows that were measured under one with the same measure fields. */
export function paidUnder(rows: readonly ProbedRow[], recipe: Recipe): Paid {
  const rewards = rows.map((row) => rewardsOf(row, recipe));
  const known = rewards.flatMap(({ best }) => (best === null ? [] : [best]));
  const answers = CANNED_ANSWERS.map((name) => ({ name, ...paymentOf(name, rewards) }));
  return { best_known: { reward: meanOf(known), rows: known.length }, answers };
}

type RowRewards = {
  readonly best: number | null;
  /** Of the answers that were given; `null` = unscored. */
  readonly answers: ReadonlyMap<CannedAnswerName, number | null>;
};

/** The rewards of a row's answers, which are one group. */
function rewardsOf({ best_known, answers }: ProbedRow, recipe: Recipe): RowRewards {
  const given = answers.flatMap((one) => ('facts' in one ? [one] : []));
  const known = best_known === null ? [] : [best_known.facts];
  const rewards = BUILT_IN.composeGroup([...known, ...given.map(({ facts }) => facts)], recipe).map(
    ({ reward }) => reward,
  );
  return {
    best: known.length === 0 ? null : (rewards[0] ?? null),
    answers: new Map(given.map(({ name }, n) => [name, rewards[n + known.length] ?? null])),
  };
}

function paymentOf(name: CannedAnswerName, rows: readonly RowRewards[]): Payment {
  const given = rows.flatMap(({ answers, best }) => {
    const reward = answers.get(name);
    return reward === undefined ? [] : [{ reward, best }];
  });
  const both = given.flatMap(({ reward, best }) => (reward === null || best === null ? [] : [{ reward, best }]));
  const reward = meanOf(both.map((one) => one.reward));
  const best = meanOf(both.map((one) => one.best));
  return {
    rows: both.length,
    reward,
    best_known: best,
    share: reward === null || best === null || best <= 0 ? null : reward / best,
    unscored: given.filter((one) => one.reward === null).length,
  };
}

function originsOf(rows: readonly ProbedRow[]): ProbeReport['best_known']['from'] {
  const from = { reference: 0, sample: 0, constructed: 0 };
  for (const { best_known } of rows) if (best_known !== null) from[best_known.from]++;
  return from;
}

function notGiven(rows: readonly ProbedRow[], name: CannedAnswerName): AnswerReport['not_given'] {
  const counts: Partial<Record<NotGiven, number>> = {};
  for (const answer of rows.flatMap(({ answers }) => answers)) {
    if (answer.name !== name || !('not_given' in answer)) continue;
    counts[answer.not_given] = (counts[answer.not_given] ?? 0) + 1;
  }
  return counts;
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A recipe with some fields changed, and what it pays. */
type Tried = { readonly set: TriedChange['set']; readonly recipe: Recipe; readonly paid: Paid };

/** All single changes that leave the best known answers most of their reward, and pay for the same parts of it. */
function triedChanges(rows: readonly ProbedRow[], recipe: Recipe, paid: Paid): readonly Tried[] {
  return remedyChanges(recipe).flatMap((change) => tried(rows, { set: {}, recipe, paid }, change, paid) ?? []);
}

/**
 * What is paid after one more change; `null` = the change does not fit, needs other judgments, takes too much, or stops
 * paying for a part of the answer: a weight of 1 for citations leaves nothing for the rubric.
 */
function tried(rows: readonly ProbedRow[], from: Tried, { field, value }: FieldChange, unchanged: Paid): Tried | null {
  if (Object.hasOwn(from.set, field)) return null;
  const read = familyOf(from.recipe).recipe.schema.safeParse({ ...from.recipe, [field]: value });
  if (!read.success) return null;
  const recipe = read.data;
  const gaps = createGapFinder(from.recipe, recipe);
  if (rows.some((row) => factsOf(row).some((facts) => gaps(facts).length > 0))) return null;
  const parts = partsPaid(rows, recipe);
  if ([...partsPaid(rows, from.recipe)].some((part) => !parts.has(part))) return null;
  const paid = paidUnder(rows, recipe);
  const [before, left] = [unchanged.best_known.reward, paid.best_known.reward];
  const takes = before !== null && before > 0 && (left === null || left < before * (1 - MAX_TAKEN));
  return takes ? null : { set: { ...from.set, [field]: value }, recipe, paid };
}

/** The contributions that any best known answer gets. */
function partsPaid(rows: readonly ProbedRow[], recipe: Recipe): ReadonlySet<string> {
  const known = rows.flatMap(({ best_known }) => (best_known === null ? [] : [best_known.facts]));
  const paid = known.flatMap((facts) =>
    Object.entries(BUILT_IN.contributions(BUILT_IN.compose(facts, recipe), recipe) ?? {}),
  );
  return new Set(paid.flatMap(([part, contribution]) => (contribution > 0 ? [part] : [])));
}

function factsOf({ best_known, answers }: ProbedRow): Facts[] {
  const given = answers.flatMap((one) => ('facts' in one ? [one.facts] : []));
  return best_known === null ? given : [best_known.facts, ...given];
}

/** The changes that lower the share of one answer most. */
function loweringOf(
  { name, share: before }: Paid['answers'][number],
  singles: readonly Tried[],
): readonly TriedChange[] {
  return singles
    .flatMap((one) => {
      const share = one.paid.answers.find((other) => other.name === name)?.share ?? null;
      return share === null || before === null || share > before - LOWERED_BY ? [] : [{ one, share }];
    })
    .sort((a, b) => a.share - b.share)
    .slice(0, MAX_LISTED)
    .map(({ one, share }) => reportOf(one, share));
}

/** Adds the change that leaves least to warn of, again and again, until no answer warns or no change helps. */
function loweredTogether(
  rows: readonly ProbedRow[],
  recipe: Recipe,
  singles: readonly Tried[],
  paid: Paid,
): TriedChange | null {
  let best: Tried = { set: {}, recipe, paid };
  const left = ({ paid: { answers } }: Tried): number => answers.reduce((sum, answer) => sum + excess(answer), 0);
  const changes = remedyChanges(recipe);
  let next = singles;
  while (left(best) > 0 && Object.keys(best.set).length < MAX_TOGETHER) {
    const [first] = [...next].sort((a, b) => left(a) - left(b));
    if (first === undefined || left(first) > left(best) - LOWERED_BY) break;
    best = first;
    next = changes.flatMap((change) => tried(rows, first, change, paid) ?? []);
  }
  const shares = best.paid.answers.flatMap(({ name, share }) => (share === null || needsRubric(name) ? [] : [share]));
  return Object.keys(best.set).length === 0 ? null : reportOf(best, Math.max(...shares));
}

function reportOf({ set, paid }: Tried, share: number): TriedChange {
  return {
    set,
    best_known: paid.best_known.reward,
    share,
    warns: paid.answers.filter(warns).map(({ name }) => name),
  };
}

function sampleReport(rows: readonly ProbedRow[], recipe: Recipe): SampleReport | null {
  const groups = rows.flatMap(({ samples }) => (samples.length < 2 ? [] : [samples]));
  if (groups.length === 0) return null;
  const scored = groups.map((samples) => {
    const scores = BUILT_IN.composeGroup(
      samples.map(({ facts }) => facts),
      recipe,
    );
    return samples.map((sample, n) => ({ sample, reward: scores[n]?.reward ?? null }));
  });
  const follows = (figureOf: (sample: MeasuredSample) => number | null): GroupCorrelation => {
    const sums = { ...NO_RANKS };
    for (const group of scored) {
      const known = group.flatMap(({ sample, reward }): [number, number][] => {
        const figure = figureOf(sample);
        return reward === null || figure === null ? [] : [[reward, figure]];
      });
      addRanks(sums, rankSums(known));
    }
    return { correlation: rankCorrelation(sums), groups: sums.groups };
  };
  const rewards = scored.map((group) => group.flatMap(({ reward }) => (reward === null ? [] : [reward])));
  return {
    groups: groups.length,
    samples: groups.flat().length,
    unscored: scored.flat().filter(({ reward }) => reward === null).length,
    with_signal: rewards.filter((group) => new Set(group).size > 1).length,
    follows: {
      words: follows(({ words }) => words),
      copied: follows(({ words, copied }) => (words === null || copied === null ? null : copied / Math.max(1, words))),
      citations: follows(({ facts }) => citationCount(facts)),
      criteria_met: follows(({ facts }) => criteriaMet(facts)),
      outcome: follows(({ outcome }) => outcome),
    },
  };
}

function warningsOf(
  { rows, rows_without_own_criteria: without, best_known, answers }: Omit<ProbeReport, 'warnings'>,
  recipe: Recipe,
): readonly ProbeWarning[] {
  const warnings: ProbeWarning[] = [];
  // Families whose rows have one right answer read it as the criterion.
  if (without > 0 && !familyOf(recipe).hasReference) {
    const text =
      `${without} of ${rows} rows have no positive criterion of their own, so an answer that says nothing can earn what ` +
      'the other parts pay (vacuous credit): give each row one';
    warnings.push({ kind: 'no_own_criteria', text });
  }
  if (best_known.reward !== null && best_known.reward <= 0) {
    const text =
      'the best known answers earn nothing, so no share can be computed: check the rows, the grammar and the judge';
    warnings.push({ kind: 'best_known_unpaid', text });
  }
  const { criteria_met: met } = best_known;
  if (met !== null && met < MET_SHARE) {
    const text =
      `the best known answers meet ${Math.round(100 * met)} % of the rows' own criteria: sources may not contain what the ` +
      'criteria ask for, or the judge may not see it; a reference answer in each row would tell';
    warnings.push({ kind: 'criteria_unmet', text });
  }
  for (const { name, does, share, warns } of answers) {
    if (!warns || share === null) continue;
    const text = `an answer that ${does} earns ${Math.round(100 * share)} % of the best known answer`;
    warnings.push({ kind: 'cheap_answer_paid', answer: name, text });
  }
  return warnings;
}
