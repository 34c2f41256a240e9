/** Each hour (wrangler.toml, triggers): runs whose time is over, and deletions that were left unfinished. */

import type { Environment, SettingsResult } from '../environment.ts';
import { MAX_CLEARED_AT_ONCE } from '../storage/files.ts';
import { inactiveSince } from './run-list.ts';
import { clearRuns } from './run-removal.ts';

/** Where the settings are malformed nothing is deleted: nobody knows how long runs are to be kept. */
export async function clearExpiredRuns(
  environment: Environment,
  settingsOf: (environment: Environment) => SettingsResult,
  now: number,
): Promise<void> {
  const read = settingsOf(environment);
  if (!read.ok) return;
  const since = inactiveSince(read.settings.runRetentionDays, now);
  await clearRuns(environment.DB, environment.FILES, since, MAX_CLEARED_AT_ONCE, now);
}
