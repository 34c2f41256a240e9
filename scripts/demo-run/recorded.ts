/** What of a run is there already, so that no step is scored twice. */
import { problemSchema } from '../../src/wire/problem.ts';
import { runDetailSchema } from '../../src/wire/runs.ts';

/**
 * The steps that are recorded in full.
 * @param rollouts of a whole step.
 * @throws Error if the Worker does not say.
 */
export async function recordedSteps(url: string, run: string, rollouts: number): Promise<ReadonlySet<number>> {
  const reply = await fetch(`${url}/v1/runs/${run}`);
  const body: unknown = await reply.json();
  if (!reply.ok) {
    const problem = problemSchema.parse(body);
    if (reply.status === 404 && problem.reason !== 'route_unknown') return new Set();
    throw new Error(`GET /v1/runs/${run}: ${problem.reason}: ${problem.detail}`);
  }
  const { steps } = runDetailSchema.parse(body);
  return new Set(steps.flatMap((one) => (one.step !== null && one.rollouts === rollouts ? [one.step] : [])));
}
