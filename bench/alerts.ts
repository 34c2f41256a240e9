/**
 * `npm run bench:alerts`: what the alerts say of runs whose end is known, and since which step. Recorded runs
 * (alert-runs/), the demo runs with ten seeds, and resamplings of the healthy steps of a recorded run. The tables are in
 * docs/guides/alerts.md.
 */
import { demoRuns, RUN_NAMES } from '../scripts/demo-run/runs.ts';
import { train } from '../scripts/demo-run/train.ts';
import { RECIPES } from '../src/families/composers.ts';
import type { AlertRule } from '../src/runs/alert-rules.ts';
import { AlertWatch, type RunAlerts } from '../src/runs/alerts.ts';
import { scoringInProcess } from '../test/house/demo-run.ts';
import { randomOf } from '../test/unit/seeded-random.ts';
import { PACKED_RECIPE, type PackedRun } from './alert-runs/packed-run.ts';
import { ALERT_RUNS, type AlertRun, readAlertRun } from './alert-runs/runs.ts';

/** Seeds of the demo up to 10 were looked at to choose the thresholds and the reference. */
const FIRST_SEED = 11;
const SEEDS = 10;
const DIGEST = 'd'.repeat(64);
const RESAMPLINGS = 120;

await printRecorded();
await printResampled();
await printDemo();

/** A row for each recorded run: its onset, and the rules that held with the step since which they do. */
async function printRecorded(): Promise<void> {
  console.log('| run | fitted | wrong from | alerts, with the step since which they hold |\n|---|---|---|---|');
  for (const run of ALERT_RUNS) {
    const { alerts } = alertsOf(await readAlertRun(run.name));
    const found = alerts.map(({ rule, since }) => `\`${rule}\` ${since}`);
    const onset = run.onset === null ? 'never' : String(run.onset);
    console.log(`| ${run.name} | ${run.fitted ? 'yes' : 'no'} | ${onset} | ${found.join(', ') || 'none'} |`);
  }
}

function alertsOf({ recipe, groups }: PackedRun): RunAlerts {
  const watch = new AlertWatch(new Map([[PACKED_RECIPE, recipe]]));
  for (const rows of groups) watch.add(rows);
  return watch.alerts;
}

/**
 * How often a rule holds in the steps before the onset of a hacked run, when each step draws as many of its groups with
 * replacement.
 */
async function printResampled(): Promise<void> {
  for (const { name, onset } of ALERT_RUNS.filter(isHealthyAtFirst)) {
    const { recipe, groups } = await readAlertRun(name);
    const before = groups.filter(([row]) => row?.step != null && row.step < onset);
    const steps = [...Map.groupBy(before, ([row]) => row?.step ?? -1).values()];
    const held = new Map<AlertRule, number>();
    for (let seed = 0; seed < RESAMPLINGS; seed++) {
      const random = randomOf(seed);
      const drawn = steps.flatMap((own) => own.map(() => own[Math.floor(random() * own.length)] ?? []));
      for (const { rule } of alertsOf({ recipe, groups: drawn }).alerts) held.set(rule, (held.get(rule) ?? 0) + 1);
    }
    const shares = [...held].map(([rule, count]) => `${rule} ${count}`);
    console.log(`\n${name} before step ${onset}, ${RESAMPLINGS} resamplings: ${shares.join(', ') || 'no alerts'}`);
  }
}

/** Runs that have a window to compare with before the policy turns. */
function isHealthyAtFirst(run: AlertRun): run is AlertRun & { readonly onset: number } {
  return run.onset !== null && run.onset > 8;
}

/** For each demo run, how many of its seeds had each alert, and since which steps. */
async function printDemo(): Promise<void> {
  for (const name of RUN_NAMES) {
    const since = new Map<AlertRule, number[]>();
    let silent = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const run = demoRuns(seed).find((one) => one.name === name);
      if (run === undefined) throw new Error(`there is no run ${name}`);
      const { alerts } = await alertsOfDemo(run);
      if (alerts.length === 0) silent++;
      for (const alert of alerts) since.set(alert.rule, [...(since.get(alert.rule) ?? []), alert.since]);
    }
    console.log(`\n${name}: ${silent} of ${SEEDS} runs without an alert`);
    for (const [rule, steps] of since) {
      console.log(`  ${rule}: ${steps.length} runs, since step ${Math.min(...steps)} to ${Math.max(...steps)}`);
    }
  }
}

/** The alerts of a demo run, as its ledger would give them. */
async function alertsOfDemo(run: ReturnType<typeof demoRuns>[number]): Promise<RunAlerts> {
  const { recipe } = run;
  const { base, ...changes } = typeof recipe === 'string' ? { base: recipe } : recipe;
  const watch = new AlertWatch(new Map([[DIGEST, { ...RECIPES[base], ...changes }]]));
  for await (const { step, groups } of train(run, scoringInProcess(run))) {
    groups.forEach(({ scored: { facts, rewards, counts } }, group) => {
      watch.add(
        facts.map((fact, n) => ({
          ...{ step, group: String(group), sample: String(n), recipe: DIGEST, facts: fact },
          reward: rewards[n] ?? null,
          ...(counts[n] === undefined ? {} : { counts: counts[n] }),
        })),
      );
    });
  }
  return watch.alerts;
}
