/**
 * Warns of a deployment whose runs are recorded faster than the objects of a run may take calls: at its start by the
 * slots of its judges, and in `GET /readyz` also by the calls that the objects of active runs have counted.
 */
import type { BackendsConfig } from '../service/backends/settings-schema.ts';
import { BUSY_SLOTS } from '../service/desk/capacity.ts';
import type { Readiness } from '../src/wire/health.ts';
import { MAX_OBJECT_CALLS_PER_S } from './ledger/call-rate.ts';
import type { ObjectLoad } from './ledger/ledger-messages.ts';

type Warning = Readiness['warnings'][number];

type SizeOfDeployment = { readonly backends: BackendsConfig; readonly runShards: number };

/** What `npm run capacity -- --plan` assumes, and docs/guides/deploy.md: judgments of a rollout, and their time. */
const JUDGMENTS = 2;
const JUDGMENT_S = 6;

/** The share of the platform's limit from which an object that is measured is warned of. */
const NEAR_LIMIT = 0.5;

/** The warning that follows from the settings: the judges may make more rollouts a second than the objects take. */
export function configuredWarnings({ backends, runShards }: SizeOfDeployment): Warning[] {
  const ofJudges = backends.judges.map(({ routes }) => Math.min(...routes.map((route) => route.slots)));
  const all = [...ofJudges, ...backends.classifiers.map((classifier) => classifier.slots)];
  const slots = all.reduce((sum, one) => sum + one, 0);
  const rollouts_per_s = Math.floor((slots * BUSY_SLOTS) / (JUDGMENTS * JUDGMENT_S));
  const needed = Math.ceil(rollouts_per_s / MAX_OBJECT_CALLS_PER_S);
  if (needed <= runShards) return [];
  const assumed = `${JUDGMENTS} calls of ${JUDGMENT_S} s a rollout`;
  const message =
    `the judges' ${slots} slots carry about ${rollouts_per_s} rollouts/s (${assumed}); recorded one by one in one run, ` +
    `they are more than ${runShards * MAX_OBJECT_CALLS_PER_S} calls/s, the platform's limit for ${objects(runShards)}; ` +
    `set RUN_SHARDS to ${needed}, or record whole groups`;
  return [{ setting: 'RUN_SHARDS', message }];
}

/** The warning that follows from measured calls. @param shards the objects of active runs. */
export function measuredWarnings(shards: readonly ObjectLoad[]): Warning[] {
  const highest = Math.max(0, ...shards.map(({ calls_per_s }) => calls_per_s));
  if (highest < NEAR_LIMIT * MAX_OBJECT_CALLS_PER_S) return [];
  const message =
    `an object of a run took ${Math.round(highest)} calls/s in the last 20 seconds, and the platform lets it take ` +
    `about ${MAX_OBJECT_CALLS_PER_S}; raise RUN_SHARDS before the next run begins, or record whole groups`;
  return [{ setting: 'RUN_SHARDS', message }];
}

function objects(count: number): string {
  return count === 1 ? 'one object' : `${count} objects`;
}
