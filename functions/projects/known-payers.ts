/** Projects that pay for batches and webhooks, which have no key whose lookup would read their budgets. */

import { createRecentlyUsed, type RecentlyUsed } from '../../src/recently-used.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import type { Budgets, Payer } from './budgets.ts';
import { ProjectTable } from './project-table.ts';

/** How long the budgets of a project count as they were read. */
const CACHE_MS = 45_000;
const MAX_REMEMBERED = 1_024;

type Known = { readonly budgets: Budgets | null; readonly until: number };

/** What an isolate has read, by database. */
const known = new WeakMap<D1Database, RecentlyUsed<Known>>();

/**
 * The project as a payer, with the budgets of its own or the usual ones. The project `default` has the usual ones.
 * @throws StorageError.
 */
export async function payerOf(db: D1Database, project: string, usual: Budgets): Promise<Payer> {
  if (project === DEFAULT_PROJECT) return { project, budgets: usual };
  const seen = known.get(db) ?? createRecentlyUsed<Known>({ entries: MAX_REMEMBERED, size: MAX_REMEMBERED });
  known.set(db, seen);
  const before = seen.get(project);
  if (before !== undefined && before.until > Date.now()) return { project, budgets: before.budgets ?? usual };
  const budgets = await new ProjectTable(db).budgets(project);
  seen.add(project, { budgets, until: Date.now() + CACHE_MS }, 1);
  return { project, budgets: budgets ?? usual };
}
