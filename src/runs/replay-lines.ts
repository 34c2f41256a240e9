/**
 * Streams the report of a replay while the run is read: one line per group, one at the end of each step, one summary.
 * The Worker and the command line share it. Memory holds the current group (with a GDPO rule: the current step) and
 * running sums.
 */
import type { ReplayPlan } from './plan-replay.ts';
import {
  gapsOf,
  type Measurement,
  type PreparedGroup,
  prepareGroup,
  type ReplayedGroup,
  type ReplayedSample,
  replayPrepared,
} from './replay-group.ts';
import type { ReplayReportLine, ReplayReportLineOf } from './replay-report.ts';
import { finishedTogether, finishGroups } from './replay-step.ts';
import type { LedgerRow } from './row.ts';
import { RunReplay } from './run-replay.ts';
import { SweepReplay } from './sweep.ts';
import { ComparedJudges } from './two-judges.ts';

/** The rows of one group of one step, at least one, each at its latest attempt. */
export type RowsOfGroup = readonly LedgerRow[];

/**
 * Measures rollouts again under other recipes or with another judge; implemented where rollout text and a judge are
 * available.
 */
export type Measurer = {
  /** Returns a result for each row, by index; `null` = the row's own facts count. */
  readonly measure: (prepared: PreparedGroup, after: ReplayPlan['after']) => Promise<readonly (Measurement | null)[]>;
  readonly counts: NonNullable<ReplayReportLineOf<'summary'>['measured']> & { readonly judge_calls: number };
};

/** Chooses the rubric of each row, by index; `null` = the recorded one. */
type RubricChooser = { of(rows: RowsOfGroup): Promise<PreparedGroup['rubrics']> };

/** What a replay needs besides the rows. */
export type ReplayParts = {
  /** Required if the plan measures anything. */
  readonly measurer?: Measurer | null;
  /** Required if the plan has other sets of evolving rubrics. */
  readonly rubrics?: RubricChooser | null;
};

/** Streams the lines of a replay. */
export function replayLines(
  groups: AsyncIterable<RowsOfGroup>,
  plan: ReplayPlan,
  parts: ReplayParts = {},
): AsyncGenerator<ReplayReportLine> {
  return plan.points === null ? plainLines(groups, plan, parts) : sweepLines(groups, plan, plan.points, parts);
}

async function prepared(
  rows: RowsOfGroup,
  plan: ReplayPlan,
  { rubrics = null }: ReplayParts,
): Promise<PreparedGroup<LedgerRow>> {
  if (plan.rubrics !== null && rubrics === null) throw new Error('replay: no logs of the evolving rubrics');
  return prepareGroup(rows, plan.before, plan.advantages, undefined, await rubrics?.of(rows));
}

function headOf({ run, changes, measures, rubrics }: ReplayPlan): ReplayReportLineOf<'replay'> {
  return {
    kind: 'replay',
    run,
    ...(rubrics === null ? {} : { rubrics }),
    judge: measures.kind === 'all' ? measures.judge : null,
    recipes: changes.map(({ before, after, changed }) => ({ before, after, changed: [...changed] })),
  };
}

async function* plainLines(
  groups: AsyncIterable<RowsOfGroup>,
  plan: ReplayPlan,
  parts: ReplayParts,
): AsyncGenerator<ReplayReportLine> {
  const { measurer = null } = parts;
  yield headOf(plan);
  const replay = new RunReplay();
  const judges = plan.measures.kind === 'all' ? new ComparedJudges(plan.measures.judge) : null;
  const replayed = replayedGroups(groups, plan, parts, judges);
  for await (const together of finishedTogether(replayed, ({ step }) => step, plan.advantages)) {
    for (const group of finishGroups(together, plan.advantages)) {
      const over = replay.add(group);
      if (over !== null) yield { kind: 'step', step: over.step, ...over.figures };
      if (plan.samples) for (const sample of group.samples) yield sampleLine(sample);
      yield groupLine(group);
    }
  }
  const last = replay.endStep();
  if (last !== null) yield { kind: 'step', step: last.step, ...last.figures };
  const { figures, movers, different } = replay;
  const { judge_calls = 0, ...measured } = measurer?.counts ?? {};
  yield {
    kind: 'summary',
    rollouts: figures.rollouts,
    groups: figures.groups,
    judge_calls,
    measured: 'rollouts' in measured ? measured : null,
    judges: judges === null ? null : judges.comparison,
    figures,
    movers: [...movers],
    different: [...different],
  };
}

async function* replayedGroups(
  groups: AsyncIterable<RowsOfGroup>,
  plan: ReplayPlan,
  parts: ReplayParts,
  judges: ComparedJudges | null,
): AsyncGenerator<ReplayedGroup> {
  const { measurer = null } = parts;
  for await (const rows of groups) {
    const group = await prepared(rows, plan, parts);
    const measured = measurer === null ? [] : await measurer.measure(group, plan.after);
    if (judges !== null) compare(judges, rows, measured);
    yield replayPrepared(group, plan.after, measured);
  }
}

function compare(judges: ComparedJudges, rows: RowsOfGroup, measured: readonly (Measurement | null)[]): void {
  for (const [position, row] of rows.entries()) {
    const again = measured[position] ?? null;
    if (again !== null && 'facts' in again) judges.add(row, again.facts);
  }
}

async function* sweepLines(
  groups: AsyncIterable<RowsOfGroup>,
  plan: ReplayPlan,
  points: NonNullable<ReplayPlan['points']>,
  parts: ReplayParts,
): AsyncGenerator<ReplayReportLine> {
  yield headOf(plan);
  const sweep = new SweepReplay(points);
  let read = { step: null as number | null, rollouts: 0, groups: 0 };
  for await (const together of finishedTogether(groups, stepOf, plan.advantages)) {
    const step = together[0] === undefined ? null : stepOf(together[0]);
    if (read.groups > 0 && step !== read.step) yield { kind: 'progress', step: read.step, rollouts: read.rollouts };
    sweep.add(await Promise.all(together.map((rows) => prepared(rows, plan, parts))));
    const rollouts = together.reduce((sum, rows) => sum + rows.length, read.rollouts);
    read = { step, rollouts, groups: read.groups + together.length };
  }
  for (const { value, figures } of sweep.points) yield { kind: 'point', value, ...figures };
  yield {
    kind: 'summary',
    rollouts: read.rollouts,
    groups: read.groups,
    judge_calls: 0,
    measured: null,
    judges: null,
    figures: null,
    movers: [],
    different: [...sweep.different],
  };
}

function stepOf([first]: RowsOfGroup): number | null {
  return first?.step ?? null;
}

function groupLine({ step, group, samples, tau, degenerate }: ReplayedGroup): ReplayReportLine {
  const side = (which: 'before' | 'after') => ({
    rewards: samples.map((sample) => sample[which].reward),
    advantages: samples.map((sample) => sample[which].advantage),
    degenerate: degenerate[which]?.reason ?? null,
  });
  return {
    kind: 'group',
    step,
    group,
    samples: samples.map(({ row }) => row.sample),
    before: side('before'),
    after: side('after'),
    flipped: samples.filter(({ sign }) => sign === 'flipped').length,
    tau,
    ...(samples.every(({ rubric }) => rubric === null) ? {} : { rubrics: rubricsOf(samples) }),
  };
}

function rubricsOf(samples: ReplayedGroup['samples']): NonNullable<ReplayReportLineOf<'group'>['rubrics']> {
  return {
    sets: samples.map(({ rubric }) => rubric?.set ?? null),
    missing: samples.map(({ rubric }) => [...(rubric?.missing ?? [])]),
  };
}

function sampleLine({ row, recorded, before, after, sign, gaps }: ReplayedSample): ReplayReportLine {
  const { step, group, sample, attempt } = row;
  const side = ({ components, depends_on, ...score }: ReplayedSample['before']) => ({
    ...score,
    ...(depends_on === undefined ? {} : { depends_on: [...depends_on] }),
    components: { ...components },
  });
  return {
    kind: 'sample',
    step,
    group,
    sample,
    attempt,
    recorded,
    before: side(before),
    after: side(after),
    sign,
    gaps: [...gaps],
  };
}

/** How much of a run lacks observations that a replay reads. */
export type MissingMeasures = {
  readonly rollouts: number;
  /** Number of rollouts with at least one gap. */
  readonly open: number;
  /**
   * Gaps by name, in alphabetical order; a rollout can have several. For a sweep: the largest count over its values.
   */
  readonly missing: Readonly<Record<string, number>>;
};

/** Counts the gaps of a whole run in constant memory, so the Worker can refuse a replay before its first line. */
export async function findMissing(groups: AsyncIterable<RowsOfGroup>, plan: ReplayPlan): Promise<MissingMeasures> {
  const others = plan.points === null ? [plan.after] : plan.points.map(({ after }) => after);
  const counts = others.map(() => new Map<string, number>());
  let rollouts = 0;
  let open = 0;
  for await (const rows of groups) {
    rollouts += rows.length;
    const isOpen = rows.map(() => false);
    for (const [at, after] of others.entries()) {
      for (const [position, gaps] of gapsOf(rows, plan.before, after).entries()) {
        if (gaps.length > 0) isOpen[position] = true;
        for (const gap of gaps) counts[at]?.set(gap, (counts[at].get(gap) ?? 0) + 1);
      }
    }
    open += isOpen.filter(Boolean).length;
  }
  const names = [...new Set(counts.flatMap((count) => [...count.keys()]))].sort();
  const most = (name: string): number => Math.max(...counts.map((count) => count.get(name) ?? 0));
  return { rollouts, open, missing: Object.fromEntries(names.map((name) => [name, most(name)])) };
}
