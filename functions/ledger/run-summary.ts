/** Summarises the steps of a run: merges the figures that its shards keep. */
import { type RunStep, StepFigures } from '../../src/runs/summary.ts';
import { askShard, shardsOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION, NO_STEP, type StepsPage } from './ledger-messages.ts';
import type { RunShards } from './run-rows.ts';

export type StepPage = {
  readonly steps: readonly RunStep[];
  /** The first step of the next page; `null` = there are no more. */
  readonly next_step: number | null;
};

const NOTHING: StepsPage = { steps: [], next: null };

/**
 * Summarises steps in order, rollouts without a step first.
 * @param fromStep the first step; `null` = from the beginning.
 * @param limit the maximum number of steps. @throws StorageError, RequestError.
 */
export async function summariseSteps(shards: RunShards, fromStep: number | null, limit: number): Promise<StepPage> {
  const steps = new Map<number, StepFigures>();
  const nexts = await Promise.all(
    shardsOf(shards.life).map(async (shard) => {
      const page = await stepsOfShard(shards, shard, fromStep ?? NO_STEP, limit);
      for (const { step, figures } of page.steps) {
        const merged = steps.get(step) ?? new StepFigures();
        steps.set(step, merged);
        merged.merge(figures);
      }
      return page.next ?? Number.POSITIVE_INFINITY;
    }),
  );
  // A later step may lack the figures of a shard.
  const end = Math.min(...nexts);
  const complete = [...steps].filter(([step]) => step < end).sort(([one], [other]) => one - other);
  const next = complete[limit]?.[0] ?? end;
  return {
    steps: complete.slice(0, limit).map(([step, figures]) => figures.summary(step === NO_STEP ? null : step)),
    next_step: next === Number.POSITIVE_INFINITY ? null : next,
  };
}

/** Asks until the shard has computed the figures of `limit` steps. */
async function stepsOfShard(
  { objects, life }: RunShards,
  shard: number,
  from: number,
  limit: number,
): Promise<StepsPage> {
  const steps: StepsPage['steps'][number][] = [];
  for (let next = from; ; ) {
    const page = await askShard(objects, life, shard, NOTHING, async (object) =>
      object.steps(LEDGER_MESSAGE_VERSION, next, limit - steps.length),
    );
    steps.push(...page.steps);
    if (page.next === null || steps.length === limit) return { steps, next: page.next };
    next = page.next;
  }
}
