/**
 * Lists the differences between two recipes. Compose fields can differ freely, because the facts hold everything they
 * read. A changed measure field asks the judge something else, so the recorded observations do not cover it.
 */

import { type FamilyName, familyOf, type Recipe } from '../families/registry.ts';
import type { FieldKind } from '../family/family.ts';

export type ChangedField = {
  readonly name: string;
  readonly kind: FieldKind;
  readonly before: unknown;
  readonly after: unknown;
};

type RecipeChange =
  /** In the order of the family's fields; empty = equal recipes. */
  | { readonly ok: true; readonly fields: readonly ChangedField[] }
  /** Facts of one family do not fit another. */
  | { readonly ok: false; readonly reason: 'other_family'; readonly before: FamilyName; readonly after: FamilyName };

export function recipeChange(before: Recipe, after: Recipe): RecipeChange {
  if (before.family !== after.family) {
    return { ok: false, reason: 'other_family', before: before.family, after: after.family };
  }
  const [old, other] = [valuesOf(before), valuesOf(after)];
  const fields = Object.entries(familyOf(before).recipe.fields);
  return {
    ok: true,
    fields: fields.flatMap(([name, kind]) =>
      sameJson(old[name], other[name]) ? [] : [{ name, kind, before: old[name], after: other[name] }],
    ),
  };
}

function valuesOf(recipe: Recipe): Readonly<Record<string, unknown>> {
  return recipe;
}

/** Whether two JSON values are equal, whatever the order of object members. */
function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const members = new Map(Object.entries(other));
  const own = Object.entries(one);
  return (
    own.length === members.size && own.every(([name, value]) => members.has(name) && sameJson(value, members.get(name)))
  );
}
