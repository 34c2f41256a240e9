/**
 * `npm run capacity`: what a deployment carries, simulated with the policy classes of the desks on a virtual clock, and
 * what it costs. docs/reference/capacity.md explains the figures. Exit code 1: the load is not sustained.
 */
import { UsageError } from '../cli/shared/exit.ts';
import { type FlagDescription, type Flags, readFlags } from '../cli/shared/flags.ts';
import { MAX_CALLS_WITHOUT_HEADERS } from '../functions/desk/connection-gate.ts';
import { MAX_KV_PUTS_AT_ONCE } from '../functions/desk/store-limits.ts';
import { MAX_OBJECT_CALLS_PER_S } from '../functions/ledger/call-rate.ts';
import { costOf, PRICES_READ, storesAfter, valuesOf } from './capacity/cost.ts';
import type { Load } from './capacity/load.ts';
import { connectionSeconds, desksFor, planOf } from './capacity/plan.ts';
import { JUDGMENTS_PER_CPU_SECOND, type Simulated, simulate } from './capacity/simulated-desks.ts';
import { VirtualClock } from './capacity/virtual-clock.ts';
import { createDraws } from './demo-run/draws.ts';

/** Rates of the plan where none is given. */
const PLANNED_RATES = [10, 100, 1_000];

const FLAGS: readonly FlagDescription[] = [
  { name: 'rollouts-per-s', kind: 'text', value: 'N', help: 'Offered rollouts per second; default 1000.' },
  { name: 'group', kind: 'text', value: 'N', help: 'Rollouts of a group; default 8.' },
  { name: 'judgments', kind: 'text', value: 'N', help: 'Judgments of a rollout; default 2.' },
  { name: 'stored', kind: 'text', value: 'SHARE', help: 'Share of judgments that are stored already; default 0.' },
  { name: 'judge-s', kind: 'text', value: 'S', help: 'Mean time of a judge call in seconds; default 6.' },
  { name: 'header-s', kind: 'text', value: 'S', help: 'Time until its response headers in seconds; default 0.2.' },
  { name: 'slots', kind: 'text', value: 'N', help: 'Calls that the judge takes at once; default 15000.' },
  { name: 'desks', kind: 'text', value: 'N', help: 'Setting DESKS; default: by the rule of docs/guides/deploy.md.' },
  { name: 'desks-per-isolate', kind: 'text', value: 'N', help: 'Desks that share one isolate; default 4.' },
  { name: 'run-shards', kind: 'text', value: 'N', help: 'Setting RUN_SHARDS; default: as the load needs.' },
  { name: 'prompt-kb', kind: 'text', value: 'N', help: 'Size of a prompt in kilobytes; default 40.' },
  { name: 'kv-put-ms', kind: 'text', value: 'MS', help: 'Time of a write to KV in milliseconds; default 50.' },
  {
    name: 'judgment-retention-days',
    kind: 'text',
    value: 'N',
    help: 'Setting JUDGMENT_RETENTION_DAYS; default: judgments are kept.',
  },
  { name: 'seconds', kind: 'text', value: 'N', help: 'Simulated time; default 180. Its second half is measured.' },
  { name: 'outage-s', kind: 'text', value: 'S', help: 'The judge is away for this long in the middle; default 0.' },
  { name: 'seed', kind: 'text', value: 'N', help: 'Seed of the arrivals and judge times; default 1.' },
  { name: 'plan', kind: 'switch', help: 'Print settings, engines and cost, without a simulation.' },
  { name: 'engine-slots', kind: 'text', value: 'N', help: 'Sequences that an engine runs at a time; default 64.' },
  { name: 'json', kind: 'switch', help: 'Print one JSON object.' },
];

try {
  const flags = readFlags('capacity', FLAGS, process.argv.slice(2));
  if (flags.isOn('help')) printHelp();
  else if (flags.isOn('plan')) printPlan(flags);
  else await run(flags);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function run(flags: Flags): Promise<void> {
  const load = loadOf(flags);
  const clock = new VirtualClock();
  const draws = createDraws('capacity', flags.count('seed', { min: 0, max: 1e9 }) ?? 1);
  let drawn = 0;
  const simulated = await simulate(load, clock, () => draws.share(drawn++));
  const ledgers =
    flags.count('run-shards', { min: 1, max: 64 }) ??
    Math.ceil(load.rollouts_per_s / load.group / MAX_OBJECT_CALLS_PER_S);
  const report = reportOf(load, simulated, ledgers);
  if (flags.isOn('json')) console.log(JSON.stringify(report));
  else print(load, report);
  process.exitCode = report.sustained ? 0 : 1;
}

/** Prints the settings for the rate that is given, else for three. */
function printPlan(flags: Flags): void {
  const load = loadOf(flags);
  const engine_slots = flags.count('engine-slots', { min: 1, max: 100_000 }) ?? 64;
  const rates = flags.text('rollouts-per-s') !== null ? [load.rollouts_per_s] : PLANNED_RATES;
  const plans = rates.map((rollouts_per_s) => planOf({ ...load, rollouts_per_s }, engine_slots));
  if (flags.isOn('json')) {
    console.log(JSON.stringify({ prices_read: PRICES_READ, plans }));
    return;
  }
  const columns = ['rollouts/s', 'slots', 'engines', 'DESKS', 'RUN_SHARDS', '$ a million', '$ a month', 'KV then'];
  const rows = plans.map((plan) => [
    count(plan.rollouts_per_s),
    count(plan.slots),
    count(plan.engines),
    String(plan.desks),
    String(plan.run_shards),
    plan.dollars_per_million.toFixed(2),
    count(plan.dollars_per_month),
    count(plan.kv_dollars_per_month),
  ]);
  for (const row of [columns, ...rows]) {
    console.log(row.map((cell, n) => cell.padStart(columns[n]?.length ?? 0)).join('  '));
  }
  console.log(
    `\nGroups of ${load.group}, ${load.judgments} judgments a rollout, ${(100 * load.stored).toFixed(0)} % stored, ` +
      `${load.judge_s} s a call, ${engine_slots} sequences an engine.\nCost at this rate all the time, without engines and ` +
      `the fee of the plan.\nKV then: ${kvThen(load)} Prices of ${PRICES_READ}.`,
  );
}

function loadOf(flags: Flags): Load {
  const positive = (name: string): number | null => flags.number(name, 'a number above 0', (value) => value > 0);
  const many = { min: 1, max: 1_000_000 };
  const rollouts_per_s = positive('rollouts-per-s') ?? 1000;
  const judgments = flags.count('judgments', { min: 1, max: 100 }) ?? 2;
  const stored = flags.number('stored', 'a share from 0 to 1', (value) => value <= 1) ?? 0;
  const header_s = positive('header-s') ?? 0.2;
  const slots = flags.count('slots', many) ?? 15_000;
  const kv_put_ms = positive('kv-put-ms') ?? 50;
  const desks_per_isolate = flags.count('desks-per-isolate', { min: 1, max: 1000 }) ?? 4;
  const needs = { rollouts_per_s, judgments, stored, header_s, slots, kv_put_ms };
  return {
    rollouts_per_s,
    group: flags.count('group', { min: 1, max: 1000 }) ?? 8,
    judgments,
    stored,
    judge_s: positive('judge-s') ?? 6,
    header_s,
    slots,
    desks: flags.count('desks', { min: 1, max: 10_000 }) ?? desksFor(needs),
    desks_per_isolate,
    prompt_bytes: 1000 * (positive('prompt-kb') ?? 40),
    kv_put_ms,
    judgment_retention_days: flags.count('judgment-retention-days', { min: 1, max: 36_500 }),
    seconds: flags.count('seconds', { min: 10, max: 3600 }) ?? 180,
    outage_s: flags.number('outage-s') ?? 0,
  };
}

function kvThen({ judgment_retention_days: days }: Load): string {
  return days === null
    ? 'what the judgments of one month cost in KV each month afterwards, as they do not expire.'
    : `what KV costs each month once it has the judgments of ${days} days; it does not grow then.`;
}

type Bound = { readonly part: string; readonly rollouts_per_s: number };
type Report = ReturnType<typeof reportOf>;

function reportOf(load: Load, simulated: Simulated, ledgers: number) {
  const bounds = boundsOf(load, ledgers);
  const uncached = Math.min(...boundsOf({ ...load, stored: 0 }, ledgers).map((bound) => bound.rollouts_per_s));
  const waits = [...simulated.waits_ms].sort((a, b) => a - b);
  const groups = [...simulated.groups_ms].sort((a, b) => a - b);
  const failed = [...simulated.failures.values()].reduce((sum, count) => sum + count, 0);
  const wait_s = { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) };
  const sustained = failed === 0 && wait_s.p99 < load.judge_s;
  const costs = costOf(load, simulated.turns_per_s, ledgers);
  return {
    sustained,
    offered_per_s: load.rollouts_per_s,
    scored_per_s: simulated.scored_per_s,
    wait_s,
    group_s: { p50: percentile(groups, 0.5), p99: percentile(groups, 0.99) },
    unscored_share: simulated.judgments === 0 ? 0 : failed / simulated.judgments,
    failures: Object.fromEntries(simulated.failures),
    waiting_at_the_end: simulated.waiting,
    backlog: simulated.backlog,
    bounds,
    uncached_per_s: uncached,
    stored_share_needed: Math.max(0, 1 - uncached / load.rollouts_per_s),
    objects: { desks: load.desks, ledgers },
    dollars_per_million: costs.reduce((sum, { dollars }) => sum + dollars, 0),
    costs,
    stores: storesAfter(1e9, load, ledgers),
  };
}

/** What each part carries by arithmetic, in rollouts per second. */
function boundsOf(load: Load, ledgers: number): readonly Bound[] {
  const calls = load.judgments * (1 - load.stored);
  const { unknown, alone } = valuesOf(load, 1);
  const forCalls = (calls_per_s: number): number => calls_per_s / calls;
  return [
    { part: "the judge's slots", rollouts_per_s: forCalls(load.slots / load.judge_s) },
    {
      part: 'processors of the desks',
      rollouts_per_s: forCalls(Math.ceil(load.desks / load.desks_per_isolate) * JUDGMENTS_PER_CPU_SECOND),
    },
    {
      part: 'connections of the desks',
      rollouts_per_s: (load.desks * MAX_CALLS_WITHOUT_HEADERS) / connectionSeconds(load),
    },
    {
      part: 'writes to KV',
      rollouts_per_s: (load.desks * MAX_KV_PUTS_AT_ONCE * 1000) / (load.kv_put_ms * (unknown + alone)),
    },
    { part: 'objects of the run', rollouts_per_s: ledgers * MAX_OBJECT_CALLS_PER_S * load.group },
  ];
}

/** In seconds; 0 for no values. */
function percentile(sorted_ms: readonly number[], share: number): number {
  return (sorted_ms[Math.min(sorted_ms.length - 1, Math.floor(sorted_ms.length * share))] ?? 0) / 1000;
}

function print(load: Load, report: Report): void {
  const { wait_s, group_s, objects } = report;
  const rows: [string, string][] = [
    [
      'offered',
      `${count(load.rollouts_per_s)} rollouts/s in groups of ${load.group}, ${load.judgments} judgments each`,
    ],
    ['judge', `${load.judge_s} s a call, headers after ${load.header_s} s, ${count(load.slots)} slots`],
    ['stored already', `${(100 * load.stored).toFixed(1)} % of the judgments`],
    [
      'objects',
      `${count(objects.desks)} desks, ${load.desks_per_isolate} an isolate; ${count(objects.ledgers)} for the run`,
    ],
    ['a write to KV', `${load.kv_put_ms} ms`],
    ['scored', `${report.scored_per_s.toFixed(1)} rollouts/s`],
    ['a call waits', `p50 ${wait_s.p50.toFixed(2)} s, p99 ${wait_s.p99.toFixed(2)} s, beside the judge's own work`],
    ['a group takes', `p50 ${group_s.p50.toFixed(1)} s, p99 ${group_s.p99.toFixed(1)} s`],
    ['unscored', `${(100 * report.unscored_share).toFixed(2)} % of the judgments`],
    ...Object.entries(report.failures).map(([reason, n]): [string, string] => [`  ${reason}`, count(n)]),
    ['waits for KV', `at most ${count(report.backlog)} judgments at one desk`],
  ];
  printRows(rows);
  console.log('\nWhat each part carries:');
  printRows(report.bounds.map(({ part, rollouts_per_s }) => [part, `${count(rollouts_per_s)} rollouts/s`]));
  console.log(`\nA million rollouts, beyond what the plan includes (prices of ${PRICES_READ}):`);
  printRows([
    ...report.costs.map(({ what, perMillion, dollars }): [string, string] => [
      what,
      `$${dollars.toFixed(2).padStart(5)}  (${count(perMillion)})`,
    ]),
    ['in all', `$${report.dollars_per_million.toFixed(2).padStart(5)}`],
  ]);
  console.log(`\nAfter a billion rollouts in one run, each month until they are deleted (prices of ${PRICES_READ}):`);
  printRows(
    report.stores.map(({ store, bytes, limit, dollarsPerMonth }) => [
      store,
      `${count(bytes / 1e9)} GB${limit === null ? '' : ` of ${count(limit / 1e9)} GB`}, $${count(dollarsPerMonth)} a month`,
    ]),
  );
  console.log(`\n${verdictOf(load, report)}`);
}

function verdictOf(load: Load, report: Report): string {
  if (report.sustained) return 'Sustained: everything is scored, and the p99 wait is below one judge call.';
  const [least] = [...report.bounds].sort((a, b) => a.rollouts_per_s - b.rollouts_per_s);
  if (least === undefined || least.rollouts_per_s >= load.rollouts_per_s) {
    return 'Not sustained, although each part would carry the load on average: bursts and outages need room.';
  }
  const share = (100 * report.stored_share_needed).toFixed(1);
  return (
    `Not sustained: the limit is ${least.part}. The deployment carries ${count(report.uncached_per_s)} rollouts/s ` +
    `without stored judgments, and ${count(load.rollouts_per_s)} if ${share} % of the judgments are stored.`
  );
}

function printRows(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`);
}

function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

function printHelp(): void {
  console.log('npm run capacity -- [--rollouts-per-s 1000] [--judge-s 6] [--slots 15000] …\n');
  printRows(FLAGS.map(({ name, value, help }) => [`  --${name}${value === undefined ? '' : ` ${value}`}`, help]));
}
