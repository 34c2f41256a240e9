/** The flags that say how rollouts are scored (`--recipe`, `--set`, `--judge`, …) and in which unit replies have offsets. */
import { OFFSET_UNITS, type OffsetUnit } from '../../src/citations/offset-units.ts';
import type { FlagDescription, Flags } from './flags.ts';
import { changedRecipe, type FieldChanges, type RecipeFlag, readChanges, readRecipe } from './recipe-flags.ts';
import { type Fields, isFields } from './rows.ts';

export const DEFAULT_RECIPE = 'refiner-gpt54-instance-rubric';

/** Also for commands that verify without scoring. */
export const OFFSETS_FLAG: FlagDescription = {
  name: 'offsets',
  kind: 'text',
  value: OFFSET_UNITS.join('|'),
  help: 'Unit of offsets in JSON results (default utf16; codepoints for Python).',
};

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
  OFFSETS_FLAG,
];

export type ScoringOptions = {
  /** The recipe of the flags; `null` = the recipe of the row, else the default. */
  readonly recipe: RecipeFlag | null;
  readonly changes: FieldChanges;
  readonly judge: string | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
  readonly receipt: boolean;
  readonly offsets: OffsetUnit | null;
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
    offsets: readOffsets(flags),
  };
}

/** Reads OFFSETS_FLAG; `null` = the unit of the row. @throws UsageError */
export function readOffsets(flags: Flags): OffsetUnit | null {
  return flags.choice('offsets', OFFSET_UNITS);
}

/** A row with the unit of offsets that a flag names. */
export function applyOffsets(fields: Fields, offsets: OffsetUnit | null): Fields {
  return offsets === null ? fields : { ...fields, offsets };
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
  const { judge, judgments, receipt, offsets } = options;
  return {
    ...applyOffsets(fields, offsets),
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
export function scoringFieldsSet(options: ScoringOptions): ReadonlySet<string> {
  const { recipe, changes, judge, judgments, receipt, offsets } = options;
  const fields = new Set<string>();
  if (recipe !== null || Object.keys(changes).length > 0) fields.add('recipe');
  if (judge !== null) fields.add('judge');
  if (judgments !== null) fields.add('judgments');
  if (receipt) fields.add('receipt');
  if (offsets !== null) fields.add('offsets');
  return fields;
}
