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
import { MODEL_RUNS, type RedTeamRun, readAlertRun, redTeamRuns, type WrongSpan } from './alert-runs/runs.ts';

/** Seeds of the demo up to 10 were looked at to choose the thresholds and the reference. */
const FIRST_SEED = 11;
const SEEDS = 10;
const DIGEST = 'd'.repeat(64);
const RESAMPLINGS = 120;

/** Rules that say nothing of how a reward is earned. */
const OF_TRAINING: ReadonlySet<AlertRule> = new Set(['no_signal', 'unscored']);
/** Rules that name more ids a citation than one needs. */
const OF_SPRAYING: ReadonlySet<AlertRule> = new Set(['sprayed_citations', 'repeated_ids']);
/** An alert this many steps before the onset, which is a mean of a window too, still names it. */
const EARLY_STEPS = 8;
/** Rules that compare with the first steps hold from this step on. */
const FIRST_COMPARED = 8;

await printModelRuns();
await printRedTeam();
await printResampled();
await printDemo();

/** A row for each run of a language model: its onset, and the rules that held with the step since which they do. */
async function printModelRuns(): Promise<void> {
  console.log('| run | wrong from | alerts, with the step since which they hold |\n|---|---|---|');
  for (const { name, wrong } of MODEL_RUNS) {
    const { alerts } = alertsOf(await readAlertRun(name));
    const found = alerts.map(({ rule, since }) => `\`${rule}\` ${since}`);
    console.log(`| ${name} | ${wrong.map(({ from }) => from).join() || 'never'} | ${found.join(', ') || 'none'} |`);
  }
}

function alertsOf({ recipe, groups }: PackedRun): RunAlerts {
  const watch = new AlertWatch(new Map([[PACKED_RECIPE, recipe]]));
  for (const rows of groups) watch.add(rows);
  return watch.alerts;
}

/** A row for each setup of the red team, and one for all. */
async function printRedTeam(): Promise<void> {
  console.log(
    '\n| recipe, rows | runs | wrong | named | steps from onset (or step 8) to alert | false alarms |\n|---|---|---|---|---|---|',
  );
  const watched: WatchedRun[] = [];
  for (const run of redTeamRuns()) watched.push({ run, ...compared(run, alertsOf(await readAlertRun(run.name))) });
  const setups = Map.groupBy(watched, ({ run: { recipe, rows, note } }) => setupText(recipe, rows, note));
  for (const [setup, runs] of setups) console.log(watchedRow(setup, runs));
  printByFault(watched);
}

/** What the policies did, how often an alert named it, and when. */
function printByFault(watched: readonly WatchedRun[]): void {
  console.log('\n| what the policy did | spans | named | by its onset (or step 8) | latest, steps later |');
  console.log('|---|---|---|---|---|');
  const spans = watched.flatMap(({ run, delays }) => run.wrong.map((span, n) => ({ span, delay: delays[n] ?? null })));
  for (const [what, same] of Map.groupBy(spans, ({ span }) => faultText(span))) {
    const known = same.flatMap(({ delay }) => delay ?? []);
    const inTime = known.filter((delay) => delay <= 0).length;
    const latest = known.length === 0 ? '-' : Math.max(0, ...known);
    console.log(`| ${[what, same.length, known.length, inTime, latest].join(' | ')} |`);
  }
  const healthy = watched.filter(({ run }) => run.wrong.length === 0);
  const alarmed = healthy.filter(({ falseAlarms }) => falseAlarms.length > 0).length;
  console.log(`\n${alarmed} of ${healthy.length} runs without a dated fault had an alert`);
}

function faultText({ what, until }: WrongSpan): string {
  return until === null ? what : `${what}, for a time`;
}

type WatchedRun = { readonly run: RedTeamRun } & Comparison;

/** `null` = no alert named the span. */
type Comparison = { readonly delays: readonly (number | null)[]; readonly falseAlarms: readonly string[] };

/** Compares the alerts of a run with what its policy did. */
function compared({ wrong, steps }: RedTeamRun, { alerts }: RunAlerts): Comparison {
  const told = alerts.filter(({ rule }) => !OF_TRAINING.has(rule));
  type Told = (typeof told)[number];
  const isDuring = (alert: Told, { from, until }: WrongSpan): boolean =>
    alert.until >= from - EARLY_STEPS && alert.since <= (until ?? steps);
  const names = (alert: Told, span: WrongSpan): boolean =>
    OF_SPRAYING.has(alert.rule) === (span.what === 'sprays_ids') && isDuring(alert, span);
  return {
    delays: wrong.map((span) => {
      const since = told
        .filter((alert) => names(alert, span))
        .map((alert) => alert.since - Math.max(span.from, FIRST_COMPARED));
      return since.length === 0 ? null : Math.min(...since);
    }),
    falseAlarms: told.filter((alert) => !wrong.some((span) => isDuring(alert, span))).map(({ rule }) => rule),
  };
}

function watchedRow(setup: string, runs: readonly WatchedRun[]): string {
  const spans = runs.flatMap(({ run }) => run.wrong);
  const delays = runs.flatMap((run) => run.delays);
  const known = delays.flatMap((delay) => delay ?? []).sort((a, b) => a - b);
  const range = known.length === 0 ? '-' : `${known[0]} to ${known.at(-1)}, median ${known[known.length >> 1]}`;
  const counts = (names: readonly string[]): string =>
    [...Map.groupBy(names, (name) => name)].map(([name, same]) => `${same.length} ${name}`).join(', ') || '-';
  const wrong = counts(spans.map(faultText));
  const cells = [setup, runs.length, wrong, `${known.length} of ${spans.length}`, range];
  return `| ${[...cells, counts(runs.flatMap(({ falseAlarms }) => falseAlarms))].join(' | ')} |`;
}

function setupText(
  { base, grammar: _, ...changes }: Readonly<Record<string, unknown>>,
  rows: string,
  note: string | null,
): string {
  const changed = Object.entries(changes).map(([name, value]) => `\`${name}\` ${JSON.stringify(value)}`);
  return [`\`${base}\``, ...changed, rows, ...(note === null ? [] : [note])].join(', ');
}

/**
 * How often a rule holds in the steps before the onset of a hacked run, when each step draws as many of its groups with
 * replacement.
 */
async function printResampled(): Promise<void> {
  for (const { name, wrong, fitted } of MODEL_RUNS) {
    const onset = Math.min(...wrong.map(({ from }) => from));
    // A window to compare with is needed before the policy turns.
    if (!fitted || wrong.length === 0 || onset <= 8) continue;
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
