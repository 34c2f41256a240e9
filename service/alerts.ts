/** The alerts of a recorded run, read from the ledger: no text, no judge. */

import { ALERT_WINDOW_STEPS } from '../src/runs/alert-rules.ts';
import { AlertWatch, type RunAlerts } from '../src/runs/alerts.ts';
import type { StepRange, StoredRun } from './ledger-port.ts';
import type { LedgerReader } from './ports.ts';

/**
 * Watches the first steps of a run, and all from a step on.
 * @param fromStep `null` = the whole run.
 * @throws RequestError if the run is deleted meanwhile, StorageError.
 */
export async function alertsOf(ledger: LedgerReader, run: StoredRun, fromStep: number | null): Promise<RunAlerts> {
  const { recipes } = await ledger.contents(run);
  const watch = new AlertWatch(new Map([...recipes].map(([digest, { recipe }]) => [digest, recipe])));
  const steps = new Set<number | null>();
  for await (const { step, rows } of ledger.groups(run, {})) {
    if (fromStep !== null && !steps.has(step) && steps.size === ALERT_WINDOW_STEPS) break;
    // Rollouts without a step come first, and are not watched.
    if (step !== null) steps.add(step);
    watch.add(rows);
  }
  if (fromStep === null) return watch.alerts;
  const last = Math.max(-1, ...[...steps].filter((step) => step !== null));
  const rest: StepRange = { fromStep: Math.max(fromStep, last + 1) };
  for await (const { rows } of ledger.groups(run, rest)) watch.add(rows);
  return watch.alerts;
}
