/** Records a demo run in a Worker, and reads what is recorded: recorded groups are not scored again. */
import type { Client } from '../../clients/typescript/client.ts';
import { MAX_RUN_ROLLOUT_PAGE } from '../../src/limits.ts';
import { advantages } from '../../src/scoring/advantages.ts';
import type { RunRollout } from '../../src/wire/runs.ts';
import type { DemoRun } from './runs.ts';
import { type ScoredGroup, type TrainedStep, train } from './train.ts';

/**
 * Trains the policy of a run. The Worker scores and records the missing groups; the advantages of recorded groups are
 * computed from their recorded rewards, with the function that the Worker uses.
 * @param recorded what the Worker has recorded of the run.
 * @throws Error if a group cannot be scored.
 */
export function trainAndRecord(
  client: Client,
  run: DemoRun,
  recorded: readonly RunRollout[],
): AsyncGenerator<TrainedStep> {
  const groups = Map.groupBy(recorded, ({ step, group }) => groupKey(step, group));
  return train(run, async (request): Promise<ScoredGroup> => {
    const rows = groups.get(groupKey(request.run?.step ?? null, String(request.run?.group))) ?? [];
    if (rows.length === request.responses.length) return scoredAgain(rows);
    const reply = await client.group({ ...request, detail: 'reward' });
    if (!reply.ok) throw new Error(`${JSON.stringify(request.run)}: ${JSON.stringify(reply.failure)}`);
    return reply.body;
  });
}

/** The rollouts of a run that the Worker has recorded, by step, group and sample; none if the run is unknown. */
export async function recordedRollouts(client: Client, run: string): Promise<RunRollout[]> {
  const rollouts: RunRollout[] = [];
  let after: string | null = null;
  do {
    const limit = MAX_RUN_ROLLOUT_PAGE.rows;
    const page = await client.runs.rollouts(run, { limit, ...(after === null ? {} : { after }) });
    if (!page.ok) {
      const { failure } = page;
      if (failure.kind === 'problem' && failure.problem.reason === 'run_not_found') return [];
      throw new Error(`the rollouts of ${run}: ${JSON.stringify(failure)}`);
    }
    rollouts.push(...page.body.rollouts);
    after = page.body.next;
  } while (after !== null);
  return rollouts;
}

/** The reply that a recorded group had. */
function scoredAgain(rows: readonly RunRollout[]): ScoredGroup {
  const rewards = rows.toSorted((a, b) => Number(a.sample) - Number(b.sample)).map(({ reward }) => reward);
  const result = advantages(rewards, 'trl');
  if (!result.ok) throw new Error(`recorded rewards: ${JSON.stringify(result.error)}`);
  return { rewards, advantages: result.value.advantages.map((sample) => ({ ...sample })) };
}

function groupKey(step: number | null, group: string): string {
  return `${step} ${group}`;
}
