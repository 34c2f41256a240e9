/**
 * `npm run bench:alerts`: trains each demo run with ten seeds in this process and prints how many runs had each alert,
 * and since which step. The table is in docs/guides/alerts.md.
 */
import { demoRuns, RUN_NAMES } from '../scripts/demo-run/runs.ts';
import { train } from '../scripts/demo-run/train.ts';
import { RECIPES } from '../src/families/composers.ts';
import { ALERT_RULES, type AlertRule } from '../src/runs/alert-rules.ts';
import { AlertWatch, type RunAlerts } from '../src/runs/alerts.ts';
import { scoringInProcess } from '../test/house/demo-run.ts';

/** Seeds up to 10 were looked at to choose the thresholds and the reference. */
const FIRST_SEED = 11;
const SEEDS = 10;
const DIGEST = 'd'.repeat(64);

/** The alerts of a demo run, as its ledger would give them. */
async function alertsOf(run: ReturnType<typeof demoRuns>[number]): Promise<RunAlerts> {
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

for (const name of RUN_NAMES) {
  const since = new Map<AlertRule, number[]>(ALERT_RULES.map((rule) => [rule, []]));
  let silent = 0;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const run = demoRuns(seed).find((one) => one.name === name);
    if (run === undefined) throw new Error(`there is no run ${name}`);
    const { alerts } = await alertsOf(run);
    if (alerts.length === 0) silent++;
    for (const alert of alerts) since.get(alert.rule)?.push(alert.since);
  }
  console.log(`\n${name}: ${silent} of ${SEEDS} runs without an alert`);
  for (const [rule, steps] of since) {
    if (steps.length === 0) continue;
    console.log(`  ${rule}: ${steps.length} runs, since step ${Math.min(...steps)} to ${Math.max(...steps)}`);
  }
}
