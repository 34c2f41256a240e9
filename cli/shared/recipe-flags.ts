/** From `--recipe` and `--set` to a recipe as a score request carries it. */
import { readFile } from 'node:fs/promises';
import { UsageError } from './exit.ts';

/** The recipe of the flags: a name, or an object of fields (with `base` where a named recipe is changed). */
export type RecipeFlag = string | Readonly<Record<string, unknown>>;

/** Fields as `--set field=value` gives them; nested fields by dots. */
export type FieldChanges = Readonly<Record<string, unknown>>;

/** Reads `--recipe NAME | JSON | @FILE`. @throws UsageError */
export async function readRecipe(text: string): Promise<RecipeFlag> {
  if (text.startsWith('@')) return parseObject(await readRecipeFile(text.slice(1)), `the recipe in ${text.slice(1)}`);
  return text.trimStart().startsWith('{') ? parseObject(text, 'the recipe') : text;
}

async function readRecipeFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--recipe: cannot read ${path}: ${why}`);
  }
}

function parseObject(text: string, what: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  if (!value.ok) throw new UsageError(`--recipe: ${what} is not JSON: ${value.why}`);
  if (!isObject(value.value)) throw new UsageError(`--recipe: ${what} is not a JSON object`);
  return value.value;
}

/** Reads `--set field=value`: the value as JSON where it is JSON, else as text. @throws UsageError */
export function readChanges(settings: readonly string[]): FieldChanges {
  const changes: Record<string, unknown> = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const path = setting.slice(0, at).split('.');
    if (at < 1 || path.includes('')) {
      throw new UsageError(`--set: expected field=value, got "${setting}"`, 'Example: --set citation_weight=0.5');
    }
    const text = setting.slice(at + 1);
    const json = parseJson(text);
    setField(changes, path, json.ok ? json.value : text, setting);
  }
  return changes;
}

function setField(target: Record<string, unknown>, path: readonly string[], value: unknown, setting: string): void {
  const [name, ...rest] = path;
  if (name === undefined) throw new Error('setField: an empty path after it was checked');
  if (rest.length === 0) {
    if (Object.hasOwn(target, name)) throw new UsageError(`--set: "${setting}" sets a field a second time`);
    define(target, name, value);
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : {};
  if (!isObject(inner)) throw new UsageError(`--set: "${setting}" goes into a field that is set to a plain value`);
  define(target, name, inner);
  setField(inner, rest, value, setting);
}

/** An own property whatever its name: `__proto__` stays a name, to be refused as an unknown field. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A recipe with some fields changed. */
export function changedRecipe(recipe: RecipeFlag, changes: FieldChanges): RecipeFlag {
  if (Object.keys(changes).length === 0) return recipe;
  return typeof recipe === 'string' ? { base: recipe, ...changes } : { ...recipe, ...changes };
}

type Json = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

function parseJson(text: string): Json {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, why: error.message };
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
