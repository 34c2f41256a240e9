/**
 * What a million recorded rollouts cost on Cloudflare's paid plan, and what the stores then contain. The operations of a
 * rollout are counted (test/functions/operation-counts.test.ts); the prices are those of the platform's public list, in
 * dollars, beyond what the plan includes (read in November 2026).
 */
import type { Load } from './load.ts';

/** When the prices were read from the platform's public lists (Workers, KV, Durable Objects, R2). */
export const PRICES_READ = 'November 2026';

/** Dollars for one unit. */
const PRICES = {
  request: 0.3e-6,
  cpuMs: 0.02e-6,
  kvRead: 0.5e-6,
  kvWrite: 5e-6,
  objectRequest: 0.15e-6,
  objectGbSecond: 12.5e-6,
  objectRowWritten: 1e-6,
  objectGbMonth: 0.2,
  r2GbMonth: 0.015,
  kvGbMonth: 0.5,
} as const;

/** An object is billed for 128 MB while it works or waits for a call. */
const OBJECT_GB = 0.128;

/** Operations that were counted. */
export const COUNTED = {
  /** The Worker reads one value for the judgments of a rollout; a desk reads again only if that failed. */
  kvReadsPerRollout: 1,
  /** The value that a desk writes for the judgments of a rollout. */
  kvWritesPerRollout: 1,
  /** Rows that a desk writes for a judgment; alarms are counted by turn. */
  deskRowsPerJudgment: 1,
  /** Rows that a turn of a desk's alarm writes: three times the alarm, once how far KV has it. */
  deskRowsPerTurn: 4,
  /** Rows that a run's object writes for a recorded group. */
  ledgerRowsPerGroup: 3,
  /** Rows that it writes later to move the content of the group into R2; a segment of 1,000 groups takes few more. */
  ledgerRowsPerSealedGroup: 2,
  /** CPU of the Worker for a rollout of a group of 8 whose judgments are made anew, in milliseconds. */
  cpuMsPerRollout: 2.4,
  /** Bytes of a sealed rollout in the run's object, which keeps its entry; measured on imported rollouts. */
  ledgerBytesPerRollout: 270,
  /** Bytes of a sealed rollout in R2; 281 were measured on imported rollouts, the report is estimated. */
  segmentBytesPerRollout: 550,
  /** Bytes of a judgment in KV. */
  kvBytesPerJudgment: 2_000,
} as const;

/** Seconds of a day. */
export const SECONDS_PER_DAY = 24 * 60 * 60;

/** The most bytes that one object may store. */
const OBJECT_BYTES = 10e9;

export type CostLine = { readonly what: string; readonly perMillion: number; readonly dollars: number };

/**
 * The operations of a million rollouts by kind, with their price.
 * @param turns_per_s turns of the desks' alarms per second, of all desks together.
 * @param ledgers the objects of the run.
 */
export function costOf(load: Load, turns_per_s: number, ledgers: number): readonly CostLine[] {
  const million = 1_000_000;
  const fresh = million * load.judgments * (1 - load.stored);
  const { unknown, alone } = valuesOf(load, million);
  const groups = million / load.group;
  const seconds = million / load.rollouts_per_s;
  const turns = turns_per_s * seconds;
  const line = (what: string, perMillion: number, price: number): CostLine => ({
    what,
    perMillion,
    dollars: perMillion * price,
  });
  const rows =
    fresh * COUNTED.deskRowsPerJudgment +
    turns * COUNTED.deskRowsPerTurn +
    groups * (COUNTED.ledgerRowsPerGroup + COUNTED.ledgerRowsPerSealedGroup);
  return [
    line('KV writes', unknown * COUNTED.kvWritesPerRollout + alone, PRICES.kvWrite),
    line('KV reads', million * COUNTED.kvReadsPerRollout + alone, PRICES.kvRead),
    line('rows written by objects', rows, PRICES.objectRowWritten),
    line('requests to objects', groups * (deskMessages(load) + 1) + turns, PRICES.objectRequest),
    line('GB-seconds of objects', (load.desks + ledgers) * OBJECT_GB * seconds, PRICES.objectGbSecond),
    line('requests', groups, PRICES.request),
    line('CPU milliseconds', million * COUNTED.cpuMsPerRollout, PRICES.cpuMs),
  ];
}

/** The KV values that the fresh judgments of some rollouts become. */
export type FreshValues = {
  /** Rollouts without a stored judgment: one value each. */
  readonly unknown: number;
  /** Fresh judgments of other rollouts, each of which is a value of its own, and looked up by itself. */
  readonly alone: number;
};

export function valuesOf({ judgments, stored }: Pick<Load, 'judgments' | 'stored'>, rollouts: number): FreshValues {
  const unknown = rollouts * (1 - stored) ** judgments;
  return { unknown, alone: rollouts * judgments * (1 - stored) - unknown * judgments };
}

/**
 * Messages of a group to desks: one to each desk that owns a fresh judgment, on average. One desk owns the judgments of
 * a rollout, and keys choose it at random.
 */
function deskMessages({ desks, group, judgments, stored }: Load): number {
  return desks * (1 - (1 - 1 / desks) ** (group * (1 - stored ** judgments)));
}

/** What the stores contain after a number of rollouts. */
export type StoreLine = {
  readonly store: string;
  readonly bytes: number;
  /** The most bytes that the store takes; `null` = no limit. */
  readonly limit: number | null;
  readonly dollarsPerMonth: number;
};

/**
 * KV has the judgments of the last days only, if they expire.
 * @param rollouts of one run, in `ledgers` objects.
 */
export function storesAfter(rollouts: number, load: Load, ledgers: number): readonly StoreLine[] {
  const days = load.judgment_retention_days ?? Number.POSITIVE_INFINITY;
  const kept = Math.min(rollouts, load.rollouts_per_s * days * SECONDS_PER_DAY);
  const kvBytes = kept * load.judgments * (1 - load.stored) * COUNTED.kvBytesPerJudgment;
  const ledgerBytes = rollouts * COUNTED.ledgerBytesPerRollout;
  const segmentBytes = rollouts * COUNTED.segmentBytesPerRollout;
  return [
    { store: 'KV', bytes: kvBytes, limit: null, dollarsPerMonth: (kvBytes / 1e9) * PRICES.kvGbMonth },
    {
      store: ledgers === 1 ? 'the object of the run' : `${ledgers} objects of the run`,
      bytes: ledgerBytes,
      limit: ledgers * OBJECT_BYTES,
      dollarsPerMonth: (ledgerBytes / 1e9) * PRICES.objectGbMonth,
    },
    { store: 'R2', bytes: segmentBytes, limit: null, dollarsPerMonth: (segmentBytes / 1e9) * PRICES.r2GbMonth },
  ];
}
