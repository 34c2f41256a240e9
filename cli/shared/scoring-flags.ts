/** How rollouts are to be scored, as flags say it: for `citeward score` and for the rows of a batch. */
import type { FlagDescription, Flags } from './flags.ts';
import { changedRecipe, type FieldChanges, type RecipeFlag, readChanges, readRecipe } from './recipe-flags.ts';

const DEFAULT_RECIPE = 'refiner-gpt54-instance-rubric';

export const SCORING_FLAGS: readonly FlagDescription[] = [
  { name: 'recipe', kind: 'text', value: 'NAME|JSON|@FILE', help: `The recipe (default ${DEFAULT_RECIPE}).` },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  { name: 'judge', kind: 'text', value: 'NAME', help: 'The judge, by the name that the Worker has for it.' },
  {
    name: 'judgments',
    kind: 'text',
    value: 'use|only|skip',
    help: 'use stored ones or judge now; only stored ones; skip judging.',
  },
  { name: 'receipt', kind: 'switch', help: 'Have the rewards signed (a Worker with an ISSUER_KEY only).' },
];

export type ScoringOptions = {
  /** `null` = not said: a row's own, else the default. */
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

/** The recipe of rows that have none of their own. */
export function defaultRecipe({ recipe, changes }: ScoringOptions): RecipeFlag {
  return changedRecipe(recipe ?? DEFAULT_RECIPE, changes);
}

/** A row's fields with what the flags say, which wins. `--set` changes whichever recipe the row ends up with. */
export function applyScoringOptions(
  fields: Readonly<Record<string, unknown>>,
  { recipe, changes, judge, judgments, receipt }: ScoringOptions,
): Readonly<Record<string, unknown>> {
  const base = recipe ?? fields['recipe'] ?? DEFAULT_RECIPE;
  return {
    ...fields,
    recipe: typeof base === 'string' || isFields(base) ? changedRecipe(base, changes) : base,
    ...(judge === null ? {} : { judge }),
    ...(judgments === null ? {} : { judgments }),
    ...(receipt ? { receipt } : {}),
  };
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first flag that says anything; `null` = none does. */
export function firstScoringFlag({ recipe, changes, judge, judgments, receipt }: ScoringOptions): string | null {
  if (recipe !== null) return '--recipe';
  if (Object.keys(changes).length > 0) return '--set';
  if (judge !== null) return '--judge';
  if (judgments !== null) return '--judgments';
  return receipt ? '--receipt' : null;
}

/** Fields that flags set for every row. */
export function scoringFieldsSet({ recipe, changes, judge, judgments, receipt }: ScoringOptions): ReadonlySet<string> {
  const fields = new Set<string>();
  if (recipe !== null || Object.keys(changes).length > 0) fields.add('recipe');
  if (judge !== null) fields.add('judge');
  if (judgments !== null) fields.add('judgments');
  if (receipt) fields.add('receipt');
  return fields;
}
