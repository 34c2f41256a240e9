/**
 * Measures the canned answers to rows of training data, an answer that each row ought to pay for, and the samples of a
 * policy that the rows have. The result holds facts and no text, so that a report under any recipe needs no judge.
 */
import type { SourceReader } from '../citations/recent-sources.ts';
import { BUILT_IN, type Facts, type Recipe } from '../families/composers.ts';
import type { Rollout } from '../family/rollout.ts';
import type { InputProblem } from '../input-problem.ts';
import type { ObtainedJudgment, ObtainOptions, ObtainTimings } from '../judgments/obtain.ts';
import type { JudgeFailure } from '../judgments/protocol/failure.ts';
import { type AnswerText, type AnswerWords, createWordCounter } from '../lexical/index.ts';
import { type ScoredRollout, scoreGroup } from '../scoring/score-rollouts.ts';
import type { CannedAnswerName, NotGiven } from './canned-answers.ts';
import { criteriaMet } from './observed.ts';
import type { KnownOrigin, PlannedRow, ProbePlan } from './plan-probe.ts';
import type { ProbeRow } from './probe-row.ts';

/** A row whose answers are measured. */
export type ProbedRow = {
  readonly id: ProbeRow['id'];
  /** The row's own positive criteria. */
  readonly own_criteria: number;
  /** The answer that the others are compared with; `null` = the row has no reference, no sample and no useful source. */
  readonly best_known: { readonly from: KnownOrigin; readonly facts: Facts } | null;
  readonly answers: readonly MeasuredAnswer[];
  readonly samples: readonly MeasuredSample[];
};

/** A canned answer, or why it could not be given. */
type MeasuredAnswer =
  | { readonly name: CannedAnswerName; readonly facts: Facts }
  | { readonly name: CannedAnswerName; readonly not_given: NotGiven };

export type MeasuredSample = {
  readonly facts: Facts;
  readonly outcome: number | null;
  /** Words of the answer, and those in spans that a source contains; `null` = the family does not read the answer. */
  readonly words: number | null;
  readonly copied: number | null;
};

export type ProbeResult =
  | {
      readonly status: 'done';
      readonly rows: readonly ProbedRow[];
      /** A failure behind an answer without a reward. */
      readonly failure: JudgeFailure | null;
      readonly obtained: readonly ObtainedJudgment[];
      readonly timings: ObtainTimings;
    }
  | Exclude<Awaited<ReturnType<typeof scoreGroup>>, { readonly status: 'done' }>;

/** Rows whose judgments are obtained at the same time. */
const ROWS_AT_ONCE = 4;

/**
 * Measures the answers of a plan. The deadline of the options spans all rows: answers without a judgment by then are
 * unscored. Problems name the row (`rows[2].question`).
 *
 * @param readSources reads sources; default `sourcesOf`.
 */
export async function measureProbe(
  { rows, recipe }: ProbePlan,
  options: ObtainOptions,
  readSources?: SourceReader,
): Promise<ProbeResult> {
  const score = (rollouts: readonly Rollout[], limited: ObtainOptions) => {
    const reader = readSources === undefined ? {} : { readSources };
    // Measures what no weight of the recipe reads, too: replays may change the weight.
    return scoreGroup({ rollouts, recipe, plan: { measureAll: true }, ...reader }, limited);
  };
  const started = options.elapsed();
  const limited = (): ObtainOptions => ({
    ...options,
    deadline_ms: Math.max(0, options.deadline_ms - (options.elapsed() - started)),
  });
  const probed: ProbedRow[] = [];
  const members: ScoredRollout[] = [];
  let timings = NO_TIME;
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const ends = await Promise.all(some.map((row) => measureRow(row, recipe.recipe, score, limited)));
    for (const [n, end] of ends.entries()) {
      if (end.status === 'missing') return end;
      if (end.status === 'invalid')
        return { ...end, problems: end.problems.map((problem) => ofRow(problem, from + n)) };
      probed.push(end.row);
      members.push(...end.members);
      timings = sumOf(timings, end.timings);
    }
  }
  const failure = members.find((member) => member.failure !== null)?.failure ?? null;
  const obtained = members.flatMap((member) => member.obtained);
  return { status: 'done', rows: probed, failure, obtained, timings };
}

type RowEnd =
  | {
      readonly status: 'done';
      readonly row: ProbedRow;
      readonly members: readonly ScoredRollout[];
      readonly timings: ObtainTimings;
    }
  | Exclude<ProbeResult, { readonly status: 'done' }>;

const NO_TIME: ObtainTimings = { store_read: 0, judge: 0, store_write: 0 };

type Score = (rollouts: readonly Rollout[], options: ObtainOptions) => ReturnType<typeof scoreGroup>;

/** @param limited the options with the time that is left. */
async function measureRow(
  { row, own_criteria, good, canned }: PlannedRow,
  recipe: Recipe,
  score: Score,
  limited: () => ObtainOptions,
): Promise<RowEnd> {
  const given = canned.flatMap((one) => ('rollout' in one ? [one.rollout] : []));
  const answered = await score([...(good === null ? [] : [good.rollout]), ...given], limited());
  if (answered.status !== 'done') return answered;
  const rollouts = row.samples.map(({ rollout }) => rollout);
  const sampled =
    rollouts.length === 0
      ? ({ status: 'done', members: [], timings: NO_TIME } as const)
      : await score(rollouts, limited());
  if (sampled.status !== 'done') return sampled;
  const inOrder = answered.members.values();
  const facts = (): Facts => {
    const { value } = inOrder.next();
    if (value === undefined) throw new Error('probeRow: fewer scores than answers');
    return value.facts;
  };
  const known = good === null ? null : { from: good.from, facts: facts() };
  const countWords = createWordCounter();
  const samples = sampled.members.map((member, n) =>
    measuredSample(member, row.samples[n]?.outcome ?? null, countWords),
  );
  return {
    status: 'done',
    row: {
      id: row.id,
      own_criteria,
      best_known: bestKnown(known, samples, recipe),
      answers: canned.map(({ name, ...one }) =>
        'not_given' in one ? { name, not_given: one.not_given } : { name, facts: facts() },
      ),
      samples,
    },
    members: [...answered.members, ...sampled.members],
    timings: sumOf(answered.timings, sampled.timings),
  };
}

/**
 * The reference if the row has one. Else the best sample, unless the constructed answer meets more of the row's own
 * criteria, or as many and earns more.
 */
function bestKnown(
  made: ProbedRow['best_known'],
  samples: readonly MeasuredSample[],
  recipe: Recipe,
): ProbedRow['best_known'] {
  const worthOf = (facts: Facts): number[] => [
    criteriaMet(facts) ?? 0,
    BUILT_IN.compose(facts, recipe).reward ?? Number.NEGATIVE_INFINITY,
  ];
  const [best] = samples
    .map(({ facts, outcome }) => ({ facts, by: [outcome ?? 0, ...worthOf(facts)] }))
    .sort((a, b) => compared(b.by, a.by));
  if (best === undefined || made?.from === 'reference') return made;
  if (made !== null && compared(worthOf(made.facts), worthOf(best.facts)) > 0) return made;
  return { from: 'sample', facts: best.facts };
}

/** Above 0 if the first numbers that differ are larger in `a`. */
function compared(a: readonly number[], b: readonly number[]): number {
  const place = a.findIndex((value, n) => value !== b[n]);
  return place === -1 ? 0 : (a[place] ?? 0) > (b[place] ?? 0) ? 1 : -1;
}

function measuredSample(
  { facts, answer }: ScoredRollout,
  outcome: number | null,
  countWords: (text: AnswerText) => AnswerWords,
): MeasuredSample {
  if (answer === undefined) return { facts, outcome, words: null, copied: null };
  const { words, copied } = answer === null ? NO_WORDS : countWords(answer());
  return { facts, outcome, words, copied };
}

const NO_WORDS = { words: 0, copied: 0 };

function sumOf(one: ObtainTimings, other: ObtainTimings): ObtainTimings {
  return {
    store_read: one.store_read + other.store_read,
    judge: one.judge + other.judge,
    store_write: one.store_write + other.store_write,
  };
}

function ofRow({ path, message }: InputProblem, row: number): InputProblem {
  return { path: ['rows', row, ...path], message };
}
