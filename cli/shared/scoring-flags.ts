/** The flags that say how rollouts are scored: `--recipe`, `--set`, `--judge`, `--judgments`, `--receipt`. */
import type { FlagDescription, Flags } from './flags.ts';
import { changedRecipe, type FieldChanges, type RecipeFlag, readChanges, readRecipe } from './recipe-flags.ts';
import { type Fields, isFields } from './rows.ts';

export const DEFAULT_RECIPE = 'refiner-gpt54-instance-rubric';

export const SCORING_FLAGS: readonly FlagDescription[] = [
  { name: 'recipe', kind: 'text', value: 'NAME|JSON|@FILE', help: `The recipe (default ${DEFAULT_RECIPE}).` },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The judge, by its name in the Worker.' },
  {
    name: 'judgments',
    kind: 'text',
    value: 'use|only|skip',
    help: 'use: stored judgments, else judge; only: stored judgments only; skip: do not judge.',
  },
  { name: 'receipt', kind: 'switch', help: 'Sign the rewards (only in a Worker with an ISSUER_KEY).' },
];

export type ScoringOptions = {
  /** The recipe of the flags; `null` = the recipe of the row, else the default. */
  readonly recipe: RecipeFlag | null;
  readonly changes: FieldChanges;
  readonly judge: string | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
  readonly receipt: boolean;
};

/** Reads SCORING_FLAGS. @throws UsageError */
export async function readScoringOptions(flags: Flags): Promise<ScoringOptions> {
  const named = flags.text('recipe');
  return {
    recipe: named === null ? null : await readRecipe(named),
    changes: readChanges(flags.list('set')),
    judge: flags.text('judge'),
    judgments: flags.choice('judgments', ['use', 'only', 'skip']),
    receipt: flags.isOn('receipt'),
  };
}

/** The recipe of rows without one of their own. */
export function defaultRecipe({ recipe, changes }: ScoringOptions): RecipeFlag {
  return changedRecipe(recipe ?? DEFAULT_RECIPE, changes);
}

/**
 * Combines the fields of a row and of the flags; a flag overrides the row. `--set` changes the recipe of the flag, the
 * row or the default.
 */
export function applyScoringOptions(fields: Fields, options: ScoringOptions): Fields {
  const base = options.recipe ?? fields['recipe'] ?? DEFAULT_RECIPE;
  const { judge, judgments, receipt } = options;
  return {
    ...fields,
    recipe: typeof base === 'string' || isFields(base) ? changedRecipe(base, options.changes) : base,
    ...(judge === null ? {} : { judge }),
    ...(judgments === null ? {} : { judgments }),
    ...(receipt ? { receipt } : {}),
  };
}

/** The first scoring flag on the command line; `null` if there is none. */
export function firstScoringFlag({ recipe, changes, judge, judgments, receipt }: ScoringOptions): string | null {
  if (recipe !== null) return '--recipe';
  if (Object.keys(changes).length > 0) return '--set';
  if (judge !== null) return '--judge';
  if (judgments !== null) return '--judgments';
  return receipt ? '--receipt' : null;
}

/** The fields that the flags set in every row. */
export function scoringFieldsSet({ recipe, changes, judge, judgments, receipt }: ScoringOptions): ReadonlySet<string> {
  const fields = new Set<string>();
  if (recipe !== null || Object.keys(changes).length > 0) fields.add('recipe');
  if (judge !== null) fields.add('judge');
  if (judgments !== null) fields.add('judgments');
  if (receipt) fields.add('receipt');
  return fields;
}
