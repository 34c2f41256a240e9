/**
 * The settings and the cost of a deployment for a number of rollouts per second, by arithmetic: the rows of
 * `npm run capacity -- --plan`. The rules are those of docs/guides/deploy.md.
 */
import { MAX_CALLS_WITHOUT_HEADERS } from '../../functions/desk/connection-gate.ts';
import { DEFAULT_DESKS } from '../../functions/desk/desk-layout.ts';
import { GATHER_MS } from '../../functions/desk/store-limits.ts';
import { MAX_OBJECT_CALLS_PER_S } from '../../functions/ledger/call-rate.ts';
import { BUSY_SLOTS } from '../../service/desk/capacity.ts';
import { costOf, SECONDS_PER_DAY, storesAfter, valuesOf } from './cost.ts';
import type { Load } from './load.ts';
import { JUDGMENTS_PER_CPU_SECOND } from './simulated-desks.ts';

/** Slots for one desk (docs/guides/deploy.md). */
const SLOTS_PER_DESK = 128;
/** Connections of a desk that may be busy on average: a burst needs the fifth. */
const BUSY_CONNECTIONS = MAX_CALLS_WITHOUT_HEADERS - 1;
const DAYS_PER_MONTH = 30;

type DeskNeeds = Pick<Load, 'rollouts_per_s' | 'judgments' | 'stored' | 'header_s' | 'slots' | 'kv_put_ms'>;

/** The setting DESKS. */
export function desksFor(needs: DeskNeeds): number {
  const calls_per_s = needs.rollouts_per_s * needs.judgments * (1 - needs.stored);
  return Math.max(
    DEFAULT_DESKS,
    Math.ceil(needs.slots / SLOTS_PER_DESK),
    Math.ceil(calls_per_s / JUDGMENTS_PER_CPU_SECOND),
    Math.ceil((needs.rollouts_per_s * connectionSeconds(needs)) / BUSY_CONNECTIONS),
  );
}

/** How long a rollout holds connections of a desk: until the headers of its calls, and while it is written to KV. */
export function connectionSeconds(needs: Omit<DeskNeeds, 'rollouts_per_s' | 'slots'>): number {
  const { judgments, stored, header_s, kv_put_ms } = needs;
  const { unknown, alone } = valuesOf({ judgments, stored }, 1);
  return judgments * (1 - stored) * header_s + ((unknown + alone) * kv_put_ms) / 1000;
}

export type Plan = {
  readonly rollouts_per_s: number;
  /** Setting `slots` of the judge, of all its engines together. */
  readonly slots: number;
  readonly engines: number;
  /** Setting DESKS. */
  readonly desks: number;
  /** Setting RUN_SHARDS: also enough if each rollout is recorded by itself. */
  readonly run_shards: number;
  readonly dollars_per_million: number;
  /** Of a month at this rate, without the judge, the plan's own fee and what it includes. */
  readonly dollars_per_month: number;
  /** What KV costs each month afterwards for the judgments of this one; if they expire, for those that it keeps. */
  readonly kv_dollars_per_month: number;
};

/** @param engine_slots sequences that one engine runs at a time. */
export function planOf(load: Load, engine_slots: number): Plan {
  const { rollouts_per_s, judgments, stored, judge_s } = load;
  const slots = Math.max(1, Math.ceil((rollouts_per_s * judgments * (1 - stored) * judge_s) / BUSY_SLOTS));
  const desks = desksFor({ ...load, slots });
  const run_shards = Math.ceil(rollouts_per_s / MAX_OBJECT_CALLS_PER_S);
  const costs = costOf({ ...load, slots, desks }, turnsPerSecond(load, desks), run_shards);
  const rolloutsPerMonth = rollouts_per_s * DAYS_PER_MONTH * SECONDS_PER_DAY;
  const keptDays = load.judgment_retention_days ?? DAYS_PER_MONTH;
  const kv = storesAfter(rollouts_per_s * keptDays * SECONDS_PER_DAY, load, run_shards).find(
    ({ store }) => store === 'KV',
  );
  const dollars_per_million = costs.reduce((sum, { dollars }) => sum + dollars, 0);
  return {
    rollouts_per_s,
    slots,
    engines: Math.ceil(slots / engine_slots),
    desks,
    run_shards,
    dollars_per_million,
    dollars_per_month: (dollars_per_million * rolloutsPerMonth) / 1e6,
    kv_dollars_per_month: kv?.dollarsPerMonth ?? 0,
  };
}

/** Turns of the alarms of all desks: a desk gathers for GATHER_MS from the first judgment after a turn. */
function turnsPerSecond({ rollouts_per_s, stored, judgments }: Load, desks: number): number {
  const { unknown, alone } = valuesOf({ judgments, stored }, rollouts_per_s);
  const values_per_s = (unknown + alone) / desks;
  return values_per_s === 0 ? 0 : desks / (GATHER_MS / 1000 + 1 / values_per_s);
}
