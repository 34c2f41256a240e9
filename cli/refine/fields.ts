/** What of a row refining reads, so that a row that was made for scoring can be refined as it is. */
import { refineRequestSchema } from '../../src/schema/refine.ts';
import { scoreRequestSchema } from '../../src/schema/score.ts';
import { changedRecipe } from '../arguments/recipe.ts';
import { withoutFields } from '../input/rows.ts';
import type { Asked } from '../score/asked.ts';

/** About a response that is there already. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(refineRequestSchema.shape, field)),
);

/** What says how candidates are scored, and is refused where they are not. */
const WITHOUT_RECIPE: ReadonlySet<string> = new Set([
  'positive_rubrics',
  'negative_rubrics',
  'judge',
  'judgments',
  'replicate',
  'on_judge_failure',
  'advantages',
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * A row's fields with what the scoring flags say, which wins. Without a recipe of either, nothing is scored: what only
 * scoring reads is left out.
 */
export function refineFields(fields: Fields, { recipe, changes, judge, judgments }: Asked): Fields {
  const own = withoutFields(fields, RESPONSE_FIELDS);
  const base = recipe ?? own['recipe'];
  if (base === undefined) return withoutFields(own, WITHOUT_RECIPE);
  return {
    ...own,
    recipe: typeof base === 'string' || isFields(base) ? changedRecipe(base, changes) : base,
    ...(judge === null ? {} : { judge }),
    ...(judgments === null ? {} : { judgments }),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
