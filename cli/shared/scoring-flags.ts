/** The flags that say how rollouts are scored (`--recipe`, `--set`, `--judge`, …) and in which unit replies have offsets. */

import { CITATION_POLICIES } from '../../src/citations/citation-policy.ts';
import { GRAMMAR_NAMES } from '../../src/citations/grammars.ts';
import { OFFSET_UNITS, type OffsetUnit } from '../../src/citations/offset-units.ts';
import { RECIPE_NAMES } from '../../src/families/composers.ts';
import { isJsonObject } from '../../src/json.ts';
import type { MemberOfPanel } from '../../src/judgments/panel.ts';
import { UsageError } from './exit.ts';
import type { FlagDescription, Flags } from './flags.ts';
import { changedRecipe, type FieldChanges, type RecipeFlag, readChanges, readRecipe } from './recipe-flags.ts';
import type { Fields } from './rows.ts';

const DEFAULT_RECIPE = 'refiner-guarded';

/** Also for commands that verify without scoring. */
export const OFFSETS_FLAG: FlagDescription = {
  name: 'offsets',
  kind: 'text',
  value: OFFSET_UNITS.join('|'),
  help: 'Unit of offsets in JSON results (default utf16; codepoints for Python).',
};

export const SCORING_FLAGS: readonly FlagDescription[] = [
  {
    name: 'recipe',
    kind: 'text',
    value: 'NAME|JSON|@FILE',
    values: RECIPE_NAMES,
    help: `The recipe (default ${DEFAULT_RECIPE}).`,
  },
  { name: 'set', kind: 'list', value: 'FIELD=VALUE', help: 'Change one field of the recipe; may be repeated.' },
  {
    name: 'grammar',
    kind: 'text',
    value: 'NAME',
    values: GRAMMAR_NAMES,
    help: `The recipe's grammar: ${GRAMMAR_NAMES.join(', ')}. Like --set grammar=NAME.`,
  },
  {
    name: 'citations',
    kind: 'text',
    value: 'RULE',
    values: CITATION_POLICIES,
    help: `${CITATION_POLICIES.join(', ')}: an answer that breaks the rule earns 0. Like --set citations=RULE.`,
  },
  { name: 'judge', kind: 'text', value: 'JUDGE', help: 'The judge, by its name in the Worker.' },
  {
    name: 'judges',
    kind: 'text',
    value: 'A,B,…',
    help: 'Two to five judges that vote (--set vote=majority|mean|any|all); A#1 is another sample of A.',
  },
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
  /** The members of a panel, as a request names them; `null` = one judge. */
  readonly judges: readonly MemberOfPanel[] | null;
  readonly judgments: 'use' | 'only' | 'skip' | null;
  readonly receipt: boolean;
  readonly offsets: OffsetUnit | null;
};

/** Reads SCORING_FLAGS. @throws UsageError */
export async function readScoringOptions(flags: Flags): Promise<ScoringOptions> {
  const named = flags.text('recipe');
  const grammar = flags.choice('grammar', GRAMMAR_NAMES);
  const citations = flags.choice('citations', CITATION_POLICIES);
  return {
    recipe: named === null ? null : await readRecipe(named),
    changes: readChanges([
      ...flags.list('set'),
      ...(grammar === null ? [] : [`grammar=${grammar}`]),
      ...(citations === null ? [] : [`citations=${citations}`]),
    ]),
    judge: flags.text('judge'),
    judges: readMembers(flags.text('judges')),
    judgments: flags.choice('judgments', ['use', 'only', 'skip']),
    receipt: flags.isOn('receipt'),
    offsets: readOffsets(flags),
  };
}

/** Reads the members of a panel: names with commas between them, each perhaps with `#` and a replicate. */
function readMembers(text: string | null): readonly MemberOfPanel[] | null {
  if (text === null) return null;
  return text.split(',').map((member) => {
    const [, judge, replicate] = MEMBER.exec(member.trim()) ?? [];
    if (judge !== undefined) return { judge, replicate: Number(replicate ?? 0) };
    throw new UsageError(`--judges: expected names of judges with commas between them, such as qwen,llama,qwen#1`);
  });
}

const MEMBER = /^([^#]+)(?:#(\d{1,7}))?$/;

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
  const { judge, judges, judgments, receipt, offsets } = options;
  const { judge: _judge, judges: _judges, ...unjudged } = fields;
  return {
    ...applyOffsets(judge === null && judges === null ? fields : unjudged, offsets),
    recipe: typeof base === 'string' || isJsonObject(base) ? changedRecipe(base, options.changes) : base,
    ...(judge === null ? {} : { judge }),
    ...(judges === null ? {} : { judges: { members: judges } }),
    ...(judgments === null ? {} : { judgments }),
    ...(receipt ? { receipt } : {}),
  };
}

/** The first scoring flag on the command line; `null` if there is none. */
export function firstScoringFlag({
  recipe,
  changes,
  judge,
  judges,
  judgments,
  receipt,
}: ScoringOptions): string | null {
  if (recipe !== null) return '--recipe';
  if (Object.keys(changes).length > 0) return '--set';
  if (judge !== null) return '--judge';
  if (judges !== null) return '--judges';
  if (judgments !== null) return '--judgments';
  return receipt ? '--receipt' : null;
}

/** The fields that the flags set in every row. */
export function scoringFieldsSet(options: ScoringOptions): ReadonlySet<string> {
  const { recipe, changes, judge, judges, judgments, receipt, offsets } = options;
  const fields = new Set<string>();
  if (recipe !== null || Object.keys(changes).length > 0) fields.add('recipe');
  if (judge !== null) fields.add('judge');
  if (judges !== null) fields.add('judges');
  if (judgments !== null) fields.add('judgments');
  if (receipt) fields.add('receipt');
  if (offsets !== null) fields.add('offsets');
  return fields;
}
