/** Reads `--recipe` and `--set` as the recipe of a score request. */
import { isJsonObject, readJson } from '../../src/json.ts';
import { UsageError } from './exit.ts';
import { readTextFile } from './input.ts';
import type { Fields } from './rows.ts';

/** A recipe of the flags: a name, or an object of fields, with `base` if it changes a named recipe. */
export type RecipeFlag = string | Fields;

/** The fields of `--set field=value`; `a.b=1` sets a field inside an object. */
export type FieldChanges = Fields;

/** Reads `--recipe NAME | JSON | @FILE`. @throws UsageError */
export function readRecipe(text: string): Promise<RecipeFlag> {
  return readNameOrObject('recipe', 'the recipe', text);
}

/** Reads a flag whose value is a name, JSON or @FILE. @param what it is, for errors. @throws UsageError */
export async function readNameOrObject(flag: string, what: string, text: string): Promise<string | Fields> {
  if (text.startsWith('@')) return parseObject(flag, await readTextFile(text.slice(1)), `${what} in ${text.slice(1)}`);
  return text.trimStart().startsWith('{') ? parseObject(flag, text, what) : text;
}

function parseObject(flag: string, text: string, what: string): Fields {
  const value = readJson(text);
  if (!value.ok) throw new UsageError(`--${flag}: ${what} is not JSON: ${value.error}`);
  if (!isJsonObject(value.value)) throw new UsageError(`--${flag}: ${what} is not a JSON object`);
  return value.value;
}

/** Reads `--set field=value`. A value that is not JSON is text. @throws UsageError */
export function readChanges(settings: readonly string[]): FieldChanges {
  const changes: Record<string, unknown> = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const path = setting.slice(0, at).split('.');
    if (at < 1 || path.includes('')) {
      throw new UsageError(`--set: expected field=value, got "${setting}"`, 'Example: --set citation_weight=0.5');
    }
    const text = setting.slice(at + 1);
    const json = readJson(text);
    setField(changes, path, json.ok ? json.value : text, setting);
  }
  return changes;
}

function setField(target: Record<string, unknown>, path: readonly string[], value: unknown, setting: string): void {
  const [name, ...rest] = path;
  if (name === undefined) throw new Error('setField: the path is empty');
  if (rest.length === 0) {
    if (Object.hasOwn(target, name))
      throw new UsageError(`--set: "${setting}" sets a field a second time; give each field once`);
    define(target, name, value);
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : {};
  if (!isJsonObject(inner)) throw new UsageError(`--set: "${setting}" sets a field inside a plain value`);
  define(target, name, inner);
  setField(inner, rest, value, setting);
}

/** Defines an own property even for `__proto__`, which is then refused as an unknown field. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The recipe with some fields changed. */
export function changedRecipe(recipe: RecipeFlag, changes: FieldChanges): RecipeFlag {
  if (Object.keys(changes).length === 0) return recipe;
  return typeof recipe === 'string' ? { base: recipe, ...changes } : { ...recipe, ...changes };
}
