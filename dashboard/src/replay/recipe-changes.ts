/** Applies changed fields to the recipes of a run, like `{set: {…}}` in a replay request. */
import type { Recipe } from '../../../src/families/composers.ts';
import { recipeSchema } from '../../../src/families/schemas.ts';
import type { ReplayedRun } from './load-run.ts';
import type { FieldValue } from './recipe-fields.ts';

/** New values by path in the recipe; fields with their recorded value are absent. */
export type Changes = ReadonlyMap<string, FieldValue>;

export type ChangedRecipes =
  | { readonly ok: true; readonly recipes: ReadonlyMap<string, Recipe> }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The changed recipes, by the digests of the recorded recipes that they replace. */
export function changedRecipes(recorded: ReplayedRun['recipes'], changes: Changes): ChangedRecipes {
  const recipes = new Map<string, Recipe>();
  for (const [digest, { recipe }] of recorded) {
    const parsed = recipeSchema.safeParse(withChanges(recipe, changes));
    if (!parsed.success) {
      return { ok: false, problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) };
    }
    recipes.set(digest, parsed.data);
  }
  return { ok: true, recipes };
}

function withChanges(recipe: Recipe, changes: Changes): Readonly<Record<string, unknown>> {
  const changed = new Map<string, unknown>(Object.entries(recipe));
  for (const [path, value] of changes) {
    const [field = '', member] = path.split('.');
    const whole = changed.get(field);
    if (member === undefined) changed.set(field, value);
    else if (typeof whole === 'object' && whole !== null) changed.set(field, { ...whole, [member]: value });
  }
  return Object.fromEntries(changed);
}

/** The CLI command that replays the run on the server, or the file, with the same changes. */
export function replayCommand(origin: string, { id, file }: ReplayedRun, changes: Changes): string {
  const flags = [...changes].map(([path, value]) => ` \\\n  --set ${path}=${value}`);
  const run = file === null ? `${id} --url ${origin}` : `--file '${file.replaceAll("'", `'\\''`)}'`;
  return `npx citeward replay ${run}${flags.join('')}`;
}
