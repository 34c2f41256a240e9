/** Replays groups under the settings of the address. Without settings nothing is loaded and nothing is replayed. */
import { useEffect, useState } from 'preact/hooks';
import type { RunDetail, RunRollout } from '../../../src/wire/runs.ts';
import type { Query } from '../navigation/route.ts';

export type ReplayedScore = {
  /** `null` = unscored under the other recipe. */
  readonly reward: number | null;
  /** `null` = masked. */
  readonly advantage: number | null;
  /** Whether the advantage changes between positive and negative. */
  readonly hasFlipped: boolean;
};

export type Replayed =
  /** The address changes no setting, or the replay is not done. */
  | { readonly state: 'none' }
  | { readonly state: 'failed'; readonly problem: string }
  | {
      readonly state: 'replayed';
      /** The changes in words. */
      readonly changes: string;
      readonly scoreOf: (place: Pick<RunRollout, 'group' | 'sample'>) => ReplayedScore | null;
    };

const NONE: Replayed = { state: 'none' };

/** @param rollouts the latest attempts of all samples of some groups of one step. */
export function useReplayed(rollouts: readonly RunRollout[], recipes: RunDetail['recipes'], query: Query): Replayed {
  const [replayed, setReplayed] = useState<Replayed>(NONE);
  // The preset alone changes no reward.
  const isAsked = [...query.keys()].some((name) => name !== 'advantages') && rollouts.length > 0 && recipes.length > 0;
  useEffect(() => {
    setReplayed(NONE);
    if (!isAsked) return;
    let isCurrent = true;
    replay(rollouts, recipes, query).then((result) => {
      if (isCurrent) setReplayed(result);
    });
    return () => {
      isCurrent = false;
    };
  }, [query, isAsked, rollouts]);
  return replayed;
}

async function replay(rollouts: readonly RunRollout[], recipes: RunDetail['recipes'], query: Query): Promise<Replayed> {
  const { replayedSamples, sampleKey } = await import('./replayed-samples.ts');
  const groups = [...Map.groupBy(rollouts, ({ group }) => group).values()];
  const result = replayedSamples(groups, recipes, query);
  if (!result.ok) return { state: 'failed', problem: result.error };
  const { changes, samples } = result.value;
  return {
    state: 'replayed',
    changes,
    scoreOf: (place) => {
      const sample = samples.get(sampleKey(place));
      if (sample === undefined) return null;
      const { reward, advantage, masked } = sample.after;
      return { reward, advantage: masked ? null : advantage, hasFlipped: sample.sign === 'flipped' };
    },
  };
}
