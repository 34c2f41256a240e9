/** Reads members of untyped JSON: each function returns `null` (or an empty list) if the value has another type. */

import { isJsonObject } from '../../json.ts';

/** A JSON object with unknown members. */
export type Json = Readonly<Record<string, unknown>>;

export function objectIn(value: unknown): Json | null {
  return isJsonObject(value) ? value : null;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A whole number from 0. */
export function indexIn(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The first member of these names that the object has: vendors write camelCase or snake_case. */
export function member(value: Json, ...names: readonly string[]): unknown {
  for (const name of names) if (value[name] !== undefined && value[name] !== null) return value[name];
  return undefined;
}

/** The objects of a list, each with its index. */
export function objectsIn(value: unknown): readonly (readonly [number, Json])[] {
  return listIn(value).flatMap((item, n) => (isJsonObject(item) ? [[n, item] as const] : []));
}
