/** The projects whose desks may be at work, for `GET /metrics` with JUDGMENTS_SCOPE = "project". */
import * as z from 'zod';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/stored.ts';

/** A question would wake the desks of a project that is idle for longer. Uses of keys are noted to the hour. */
const ACTIVE_MS = 2 * 60 * 60 * 1000;

const rowSchema = z.object({ project: z.string(), active: z.int() });

type ActiveProjects = {
  /** `default` first, which also has callers without a stored key; then the last used ones. */
  readonly projects: readonly string[];
  /** How many projects are active beyond the limit. */
  readonly leftOut: number;
};

/**
 * Returns the projects that used a stored key during the last two hours, and `default`.
 * @param now in milliseconds since 1970. @param limit of projects, at least 1. @throws StorageError if D1 fails.
 */
export async function activeProjects(db: D1Database, now: number, limit: number): Promise<ActiveProjects> {
  const { results } = await stored('d1', 'projects_active', async () =>
    (await database(db))
      .prepare(
        `SELECT project, COUNT(*) OVER () AS active FROM api_keys WHERE last_used_at >= ?1 AND project <> ?2
         GROUP BY project ORDER BY MAX(last_used_at) DESC, project LIMIT ?3`,
      )
      // At least one row, which has the count of all.
      .bind(now - ACTIVE_MS, DEFAULT_PROJECT, limit)
      .all(),
  );
  const rows = results.map((row) => rowSchema.parse(row));
  const named = rows.slice(0, limit - 1).map(({ project }) => project);
  return { projects: [DEFAULT_PROJECT, ...named], leftOut: (rows[0]?.active ?? 0) - named.length };
}
