/**
 * What another recipe reads and the facts of a rollout do not hold. Such a rollout has no reward under that recipe until
 * somebody measures it: a failure is never a number.
 */

import { neededByDrTulu } from '../families/dr-tulu/compose.ts';
import { isPunished } from '../families/long-trace/compose.ts';
import type { Recipe } from '../families/recipes.ts';
import { neededJudgments } from '../families/refiner/compose.ts';
import type { Facts } from '../family/facts.ts';
import { recipeChange } from './recipe-change.ts';

/**
 * Names what is missing: `recipe.<measure field>` where other questions would have to be asked, `rollout.<field>` where
 * the request never said it. Empty: the replay is exact.
 */
export type GapFinder = (facts: Facts) => readonly string[];

const NONE: readonly string[] = [];

/**
 * A judgment that cannot change the reward leaves no gap: an answer that is not there earns 0 however it would have been
 * judged. A measure field that nothing here knows leaves one in every rollout.
 *
 * @throws RangeError for recipes of two families.
 */
export function createGapFinder(before: Recipe, after: Recipe): GapFinder {
  const checks = checksOf(before, after);
  if (checks.length === 0) return () => NONE;
  return (facts) => {
    const names = checks.flatMap(({ name, isOpen }) => (isOpen(facts) ? [name] : []));
    return names.length === 0 ? NONE : names;
  };
}

/** Whether any rollout at all could have one. @throws RangeError for recipes of two families. */
export function mayLeaveGaps(before: Recipe, after: Recipe): boolean {
  return checksOf(before, after).length > 0;
}

function checksOf(before: Recipe, after: Recipe): Check[] {
  const change = recipeChange(before, after);
  if (!change.ok) throw new RangeError(`replay: a run of ${change.before} has no reward under ${change.after}`);
  const questions = change.fields.flatMap(({ name, kind }) => (kind === 'measure' ? [questionOf(name, after)] : []));
  return [...questions, ...finishReasonGap(before, after), ...chunksGap(before, after)];
}

type Check = { readonly name: string; readonly isOpen: (facts: Facts) => boolean };

/** Whether the changed field asks something of a rollout that could change its reward. */
function questionOf(field: string, after: Recipe): Check {
  const name = `recipe.${field}`;
  switch (after.family) {
    case 'refiner': {
      const part = REFINER_PARTS.get(field);
      if (part === undefined) break;
      return { name, isOpen: (facts) => facts.family === 'refiner' && neededJudgments(facts, after).includes(part) };
    }
    case 'dr-tulu':
      if (field !== 'judging') break;
      return { name, isOpen: (facts) => facts.family === 'dr-tulu' && neededByDrTulu(facts, after).rubric };
    case 'tool-call': {
      const isOpen = TOOL_CALL_QUESTIONS.get(field);
      return { name, isOpen: isOpen ?? (() => true) };
    }
    case 'long-trace':
      break;
  }
  return { name, isOpen: () => true };
}

/** `answer` is not here: another block may also be another answer, so every rollout has to be read again. */
const REFINER_PARTS: ReadonlyMap<string, 'rubric' | 'citation'> = new Map([
  ['judging', 'rubric'],
  ['judge_static', 'rubric'],
  ['verbatim_gate', 'citation'],
]);

const TOOL_CALL_QUESTIONS: ReadonlyMap<string, (facts: Facts) => boolean> = new Map([
  ['math_equivalence', isUncompared],
  ['time_limit_s', hasRun],
  ['memory_limit_mb', hasRun],
]);

/** The sandbox was never asked. A run asks it of every answer, whatever its recipe says; a failure keeps its reason. */
function isUncompared(facts: Facts): boolean {
  if (facts.family !== 'tool-call' || facts.outcome.kind !== 'math' || facts.outcome.exact) return false;
  const { equivalent } = facts.outcome;
  return equivalent.status === 'unscored' && equivalent.reason === 'not_measured';
}

function hasRun(facts: Facts): boolean {
  return facts.family === 'tool-call' && facts.outcome.kind === 'code' && facts.outcome.runnable;
}

function readsFinishReason(recipe: Recipe): boolean {
  switch (recipe.family) {
    case 'refiner':
    case 'dr-tulu':
      return recipe.non_stop_penalty.enabled;
    case 'long-trace':
      return recipe.punish_ill_formed;
    case 'tool-call':
      return false;
  }
}

/** A request without `finish_reason` is refused by a recipe that reads it; here it is not taken for a truncation. */
function finishReasonGap(before: Recipe, after: Recipe): Check[] {
  if (!readsFinishReason(after) || readsFinishReason(before)) return [];
  const isOpen = (facts: Facts): boolean => facts.family !== 'tool-call' && facts.finish_reason === null;
  return [{ name: 'rollout.finish_reason', isOpen }];
}

/** The F-beta of the chunks was read off the text that the recorded recipe chose. */
function chunksGap(before: Recipe, after: Recipe): Check[] {
  if (before.family !== 'long-trace' || after.family !== 'long-trace' || before.text === after.text) return [];
  const isOpen = (facts: Facts): boolean =>
    facts.family === 'long-trace' &&
    facts.chunks !== null &&
    (after.variant === 'chunks' || facts.entities === null) &&
    !isPunished(facts, after);
  return [{ name: 'recipe.text', isOpen }];
}
