/**
 * Finishes replayed groups under a GDPO rule, which normalises over all groups of a training step. Under any other rule
 * a group is final by itself.
 */
import type { InputProblem } from '../input-problem.ts';
import { MAX_RUN_GROUP } from '../limits.ts';
import type { Result } from '../result.ts';
import { type GdpoGroup, type GdpoOptions, gdpoAdvantages, isGdpo } from '../scoring/gdpo.ts';
import {
  type PreparedGroup,
  prepareGroup,
  type RecipesOfRun,
  type ReplayedGroup,
  type ReplayRule,
  replayPrepared,
  signChange,
} from './replay-group.ts';
import type { LedgerRow } from './row.ts';

/** Collects the groups that are finished together: those of a step under a GDPO rule, else each group by itself. */
export async function* finishedTogether<Group>(
  groups: AsyncIterable<Group>,
  stepOf: (group: Group) => number | null,
  rule: ReplayRule,
): AsyncGenerator<readonly Group[]> {
  let open: Group[] = [];
  for await (const group of groups) {
    const [first] = open;
    if (first !== undefined && !(isGdpo(rule) && stepOf(first) === stepOf(group))) {
      yield open;
      open = [];
    }
    open.push(group);
  }
  if (open.length > 0) yield open;
}

/** The components of a step do not fit the rule. A judge can cause it after `findStepProblems`: by judging more rows. */
export class StepRefused extends Error {
  readonly problems: readonly InputProblem[];

  constructor(problems: readonly InputProblem[]) {
    super(problems.map(({ message }) => message).join('; '));
    this.name = 'StepRefused';
    this.problems = problems;
  }
}

/** Gives the groups of `finishedTogether` their final advantages. @throws StepRefused */
export function finishGroups(groups: readonly ReplayedGroup[], rule: ReplayRule): readonly ReplayedGroup[] {
  if (!isGdpo(rule)) return groups;
  const finished = finishStep(groups, rule);
  if (finished.ok) return finished.value;
  throw new StepRefused(finished.error);
}

function finishStep(
  groups: readonly ReplayedGroup[],
  rule: GdpoOptions,
): Result<readonly ReplayedGroup[], readonly InputProblem[]> {
  const [before, after] = [sideOf(groups, 'before', rule), sideOf(groups, 'after', rule)];
  if (!before.ok) return before;
  if (!after.ok) return after;
  const finished = groups.map((group, n): ReplayedGroup => {
    const [old, other] = [before.value[n], after.value[n]];
    if (old === undefined || other === undefined) throw new Error('finishStep: a group was lost');
    return {
      ...group,
      samples: group.samples.map((sample, position) => {
        const one = { ...sample.before, advantage: old.advantages[position] ?? 0 };
        const two = { ...sample.after, advantage: other.advantages[position] ?? 0 };
        return { ...sample, before: one, after: two, sign: signChange(one, two) };
      }),
      degenerate: { before: old.degenerate, after: other.degenerate },
    };
  });
  return { ok: true, value: finished };
}

type FinishedSide = {
  readonly advantages: readonly number[];
  readonly degenerate: ReplayedGroup['degenerate']['before'];
};

function sideOf(
  groups: readonly ReplayedGroup[],
  which: 'before' | 'after',
  rule: GdpoOptions,
): Result<readonly FinishedSide[], readonly InputProblem[]> {
  const step = gdpoAdvantages(
    groups.map(({ contributions }) => {
      if (contributions === null) throw new Error('finishStep: a group that was prepared under another rule');
      return contributions[which].map((components) => ({ components }));
    }),
    rule,
  );
  if (!step.ok) return { ok: false, error: step.error.map((problem) => placed(problem, groups[0]?.step ?? null)) };
  const value = step.value.groups.map(({ members, degenerate }) => ({
    advantages: members.map(({ advantage }) => advantage),
    degenerate: degenerateOf(degenerate),
  }));
  return { ok: true, value };
}

function degenerateOf(degenerate: GdpoGroup['degenerate']): FinishedSide['degenerate'] {
  return degenerate === null ? null : { ...degenerate, dropped_by_filter: false };
}

/** Maps a path of `gdpoAdvantages` to the request of a replay, which has only the rule. */
function placed({ path: [first, ...rest], message }: InputProblem, step: number | null): InputProblem {
  return first === 'rule'
    ? { path: ['advantages', ...rest], message }
    : { path: ['advantages'], message: `step ${step}: ${message}` };
}

/** The part of a plan that decides whether a step can be finished. `points`: of a sweep. */
type StepPlan = {
  readonly before: RecipesOfRun;
  readonly after: RecipesOfRun;
  readonly points: readonly { readonly after: RecipesOfRun }[] | null;
  readonly advantages: ReplayRule;
};

/**
 * Why the run cannot be replayed under a GDPO rule; `[]` = it can. Reads the run once and holds one step, so that the
 * replay is refused before its first line.
 */
export async function findStepProblems(
  groups: AsyncIterable<readonly LedgerRow[]>,
  plan: StepPlan,
): Promise<readonly InputProblem[]> {
  const { advantages: rule } = plan;
  if (!isGdpo(rule)) return [];
  const others = plan.points === null ? [plan.after] : plan.points.map(({ after }) => after);
  const refused = (message: string): readonly InputProblem[] => [{ path: ['advantages'], message }];
  let open: PreparedGroup[] = [];
  let [step, rollouts] = [0, 0];
  const problems = (): readonly InputProblem[] => {
    if (open.length === 0) return [];
    for (const after of others) {
      const finished = finishStep(
        open.map((group) => replayPrepared(group, after)),
        rule,
      );
      if (!finished.ok) return finished.error;
    }
    return [];
  };
  for await (const rows of groups) {
    const own = rows[0]?.step ?? null;
    if (own === null) return refused('GDPO normalises over a training step, and rollouts of the run have no step');
    if (own !== step) {
      const found = problems();
      if (found.length > 0) return found;
      [open, step, rollouts] = [[], own, 0];
    }
    rollouts += rows.length;
    if (rollouts > MAX_RUN_GROUP) {
      return refused(`step ${own}: expected at most ${MAX_RUN_GROUP} rollouts in a step under a GDPO preset`);
    }
    open.push(prepareGroup(rows, plan.before, rule));
  }
  return problems();
}
