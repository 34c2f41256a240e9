/** The whole families of this build: what scoring, the ledger, the wire and the documents read of them. */
import * as z from 'zod';
import { creditProblems } from '../family/credit.ts';
import type { Family, FamilyTypes, Measured, PlanOptions, ScoringFamily } from '../family/family.ts';
import { panelProblems, planPanel } from '../family/panel-plan.ts';
import { weightProblems } from '../family/requirements.ts';
import type { Rollout } from '../family/rollout.ts';
import { askedWith, type Stage } from '../family/stages.ts';
import type { InputProblem } from '../input-problem.ts';
import type { Result } from '../result.ts';
import type { Facts, FamilyName, Recipe, Score } from './composers.ts';
import { FAMILIES as LIST } from './list.ts';

/** The families' reports on a rollout; `POST /v1/score` adds the judgments, the recipe and the receipt. */
export type FamilyReply = z.infer<(typeof LIST)[number]['reply']['schema']>;

/** Unions over the built-in families: the types of a value whose family is known only at run time. */
export type BuiltInTypes = {
  readonly recipe: Recipe;
  readonly facts: Facts;
  readonly score: Score;
  readonly reply: FamilyReply;
};
type AnyFamily = Family<BuiltInTypes>;

const [FIRST, ...OTHERS]: readonly [AnyFamily, ...AnyFamily[]] = LIST;

/** Every family, in the order of documents and schemas. */
export const FAMILIES: readonly AnyFamily[] = LIST;

const byName: ReadonlyMap<string, AnyFamily> = new Map(FAMILIES.map((family) => [family.name, family]));

/** Returns the family of a recipe, of facts, of a score or of a reply. */
export function familyOf({ family: name }: { readonly family: FamilyName }): AnyFamily {
  const family = byName.get(name);
  if (family === undefined) throw new RangeError(`familyOf: no family is called ${name}`);
  return family;
}

/** Returns the union of all families' reply schemas, each with the fields of `more` appended. */
export function replySchemaWith<S extends z.ZodRawShape>(more: S): z.ZodType<FamilyReply & z.infer<z.ZodObject<S>>>;
export function replySchemaWith(more: z.ZodRawShape): z.ZodType {
  return z.discriminatedUnion('family', [
    FIRST.reply.schema.extend(more),
    ...OTHERS.map(({ reply }) => reply.schema.extend(more)),
  ]);
}

/** Plans the judgments of one rollout under a recipe. Problems are input errors (HTTP 422). */
export function planRollout(
  rollout: Rollout,
  recipe: Recipe,
  options: PlanOptions = {},
): Result<Stage<Measured<BuiltInTypes>>, readonly InputProblem[]> {
  const family = familyOf(recipe);
  if (options.explain === true && !family.canExplain) {
    const able = FAMILIES.filter(({ canExplain }) => canExplain).map(({ name }) => name);
    const message = `recipes of the ${able.join(' and the ')} family have compat modes`;
    return { ok: false, error: [{ path: ['explain'], message }] };
  }
  return planOf(family, rollout, recipe, options);
}

/** Plans the judgments of one rollout by the rules of one family, after the checks that all families share. */
export function planOf<T extends FamilyTypes>(
  family: ScoringFamily<T>,
  rollout: Rollout,
  recipe: T['recipe'],
  options: PlanOptions,
): Result<Stage<Measured<T>>, readonly InputProblem[]> {
  const problems = [
    ...weightProblems(rollout),
    ...creditProblems(rollout, options.credit),
    ...panelProblems(family, recipe, options),
  ];
  if (problems.length > 0) return { ok: false, error: problems };
  const planned = family.plan(rollout, recipe, options);
  if (!planned.ok) return planned;
  const { judge_options } = recipe;
  const asked = judge_options === undefined ? planned.value : askedWith(planned.value, judge_options);
  const { panel } = options;
  return { ok: true, value: panel === undefined ? asked : planPanel(family, asked, recipe, panel) };
}
