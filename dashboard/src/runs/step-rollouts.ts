/** The rollouts of a step as the page shows them: with standing and replayed score, filtered and sorted. */
import type { FindingReason } from '../../../src/citations/types.ts';
import type { AdvantagePreset } from '../../../src/scoring/advantage-presets.ts';
import type { RunRollout } from '../../../src/wire/runs.ts';
import type { Replayed, ReplayedScore } from '../recipe/use-replayed.ts';
import { type GroupStandings, groupStandings, type Standing } from './group-standings.ts';
import { NATURAL } from './place.ts';

/** A rollout with its standing. The fields of `rollout` are those of the ledger. */
export type ShownRollout = {
  readonly rollout: RunRollout;
  readonly standing: Standing;
  /** `null` = nothing is replayed. */
  readonly replayed: ReplayedScore | null;
};

export type ShownGroup = {
  readonly group: string;
  /** `null` = no text is stored, or the rollout is imported. */
  readonly question: string | null;
  readonly standings: GroupStandings;
  readonly rollouts: readonly ShownRollout[];
};

/** The groups in the order of their names; each with all of its samples, on which advantages depend. */
export function shownGroups(
  rollouts: readonly RunRollout[],
  preset: AdvantagePreset,
  replayed: Replayed,
): ShownGroup[] {
  return groupsOf(rollouts).map((rows) => {
    const standings = groupStandings(rows, preset);
    return {
      group: rows[0]?.group ?? '',
      question: rows.find(({ summary }) => summary?.question != null)?.summary?.question ?? null,
      standings,
      rollouts: rows.map((rollout, position) => ({
        rollout,
        standing: standings.samples[position] ?? { advantage: null, rank: null },
        replayed: replayed.state === 'replayed' ? replayed.scoreOf(rollout) : null,
      })),
    };
  });
}

function groupsOf(rollouts: readonly RunRollout[]): RunRollout[][] {
  const groups = [...Map.groupBy(rollouts, ({ group }) => group)];
  return groups.sort(([one], [other]) => NATURAL.compare(one, other)).map(([, rows]) => rows);
}

/** The rollouts of the groups that are loaded to their end. @param isWhole whether the step is. */
export function completeGroups(rollouts: readonly RunRollout[], isWhole: boolean): readonly RunRollout[] {
  if (isWhole) return rollouts;
  const last = rollouts.at(-1)?.group;
  return rollouts.slice(0, rollouts.findLastIndex(({ group }) => group !== last) + 1);
}

/** What a reader looks for in a step. */
export const FILTERS = {
  zero: 'Reward 0',
  invented: 'Invented ids',
  flipped: 'Sign flipped',
  unscored: 'Unscored',
} as const;
export type Filter = keyof typeof FILTERS;

export const FILTER_NAMES: readonly Filter[] = ['zero', 'invented', 'flipped', 'unscored'];

export function matches({ rollout, replayed }: ShownRollout, filter: Filter): boolean {
  switch (filter) {
    case 'zero':
      return rollout.reward === 0;
    case 'invented':
      return findingCount(rollout, 'citation_id_unknown') > 0;
    case 'flipped':
      return replayed?.hasFlipped === true;
    case 'unscored':
      return rollout.reward === null;
  }
}

export function findingCount({ summary }: RunRollout, reason: FindingReason): number {
  return summary?.finding_counts?.[reason] ?? 0;
}

export type Sort = { readonly by: 'group' | 'reward' | 'advantage'; readonly isDescending: boolean };

/** The groups with the rollouts that match any of the filters; no filter = all. Groups without one are left out. */
export function filtered(groups: readonly ShownGroup[], filters: ReadonlySet<Filter>): readonly ShownGroup[] {
  if (filters.size === 0) return groups;
  return groups.flatMap((group) => {
    const rollouts = group.rollouts.filter((one) => [...filters].some((filter) => matches(one, filter)));
    return rollouts.length === 0 ? [] : [{ ...group, rollouts }];
  });
}

/** The rollouts in order; equal and missing values keep the order of the groups, missing ones last. */
export function sorted(groups: readonly ShownGroup[], { by, isDescending }: Sort): ShownRollout[] {
  const rollouts = groups.flatMap((group) => group.rollouts);
  if (by === 'group') return rollouts;
  const sortValue = ({ rollout, standing }: ShownRollout): number | null =>
    by === 'reward' ? rollout.reward : standing.advantage;
  return rollouts.sort((one, other) => {
    const [a, b] = [sortValue(one), sortValue(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return isDescending ? b - a : a - b;
  });
}
