/** Runs in D1: their list, and the recipes that their rollouts were scored under. */
import * as z from 'zod';
import { FAMILY_NAMES, type FamilyName, type Recipe } from '../../src/families/composers.ts';
import { recipeSchema } from '../../src/families/schemas.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';

export type StoredRun = {
  readonly id: string;
  readonly family: FamilyName;
  /** Milliseconds since 1970. */
  readonly created_at: number;
  /** Time of the last recording, to the minute; milliseconds since 1970. */
  readonly active_at: number;
  /** Whether the text of any of its rollouts is stored. */
  readonly store_text: boolean;
  /** `null` = no rollout has a step. */
  readonly first_step: number | null;
  readonly last_step: number | null;
};

export type RunPage = { readonly runs: readonly StoredRun[]; readonly has_more: boolean };

/** A recipe of a run. `name` as requested; `null` = inline. */
export type RunRecipe = { readonly digest: string; readonly name: string | null; readonly recipe: Recipe };

/** Minimum and maximum of an index: one lookup each. */
const COLUMNS = `id, family, created_at, active_at, store_text,
  (SELECT min(step) FROM rollouts WHERE run = runs.id AND step >= 0) AS first_step,
  (SELECT max(step) FROM rollouts WHERE run = runs.id AND step >= 0) AS last_step`;
const columnsSchema = z.object({
  id: z.string(),
  family: z.enum(FAMILY_NAMES),
  created_at: z.int(),
  active_at: z.int(),
  store_text: z.literal([0, 1]).transform((flag) => flag === 1),
  first_step: z.int().nullable(),
  last_step: z.int().nullable(),
});

/** Returns null if the run does not exist or is being deleted. @throws StorageError. */
export async function findRun(db: D1Database, id: string): Promise<StoredRun | null> {
  const found = await stored('d1', 'run_find', async () =>
    (await database(db)).prepare(`SELECT ${COLUMNS} FROM runs WHERE id = ? AND deleting_at IS NULL`).bind(id).first(),
  );
  return found === null ? null : columnsSchema.parse(found);
}

/**
 * Lists runs, newest first. `after` is the last id of the previous page; returns null if that run does not exist.
 * @throws StorageError.
 */
export async function listRuns(
  db: D1Database,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<RunPage | null> {
  if (after !== null && (await findRun(db, after)) === null) return null;
  const where = after === null ? '' : 'AND (created_at, id) < (SELECT created_at, id FROM runs WHERE id = ?)';
  const { results } = await stored('d1', 'run_list', async () =>
    (await database(db))
      .prepare(
        `SELECT ${COLUMNS} FROM runs WHERE deleting_at IS NULL ${where} ORDER BY created_at DESC, id DESC LIMIT ?`,
      )
      .bind(...(after === null ? [] : [after]), limit + 1)
      .all(),
  );
  const runs = results.slice(0, limit).map((columns) => columnsSchema.parse(columns));
  return { runs, has_more: results.length > limit };
}

/** The recipes of a run by digest; empty if the run does not exist. @throws StorageError. */
export async function recipesOf(db: D1Database, run: string): Promise<ReadonlyMap<string, RunRecipe>> {
  const { results } = await stored('d1', 'run_recipes', async () =>
    (await database(db))
      .prepare('SELECT digest, name, recipe FROM run_recipes WHERE run = ? ORDER BY digest')
      .bind(run)
      .all<{ digest: string; name: string | null; recipe: string }>(),
  );
  return new Map(
    results.map(({ digest, name, recipe }) => [
      digest,
      { digest, name, recipe: recipeSchema.parse(JSON.parse(recipe)) },
    ]),
  );
}

/** The number of recorded rollouts, all attempts included. @throws StorageError. */
export async function countRollouts(db: D1Database, run: string): Promise<number> {
  const found = await stored('d1', 'run_count', async () =>
    (await database(db)).prepare('SELECT count(*) AS rollouts FROM rollouts WHERE run = ?').bind(run).first('rollouts'),
  );
  return Number(found);
}
