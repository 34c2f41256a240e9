/**
 * Describes the compose fields of a recipe as controls, with kind, bounds and description from the recipe's schema.
 * Measure fields are left out: changing one needs new judgments, which the browser cannot make.
 */
import * as z from 'zod';
import type { Recipe } from '../../../src/families/composers.ts';
import { BUILT_IN } from '../../../src/families/composers.ts';
import { recipeSchemaOf } from '../../../src/families/schemas.ts';

export type FieldValue = string | number | boolean;

/** New values by path in the recipe; fields with their recorded value are absent. */
export type Changes = ReadonlyMap<string, FieldValue>;

type FieldOf<Kind extends string> = {
  readonly kind: Kind;
  /** Path in the recipe: `field` or `field.member`. */
  readonly name: string;
  readonly description: string;
};

export type RecipeField =
  | (FieldOf<'number'> & {
      readonly value: number;
      readonly isInteger: boolean;
      /** Bounds of the schema; `null` = unbounded. */
      readonly least: number | null;
      readonly most: number | null;
      /** Ends of the slider. */
      readonly span: readonly [number, number];
      readonly stride: number;
    })
  | (FieldOf<'switch'> & { readonly value: boolean })
  | (FieldOf<'choice'> & { readonly value: string; readonly options: readonly string[] });

/** The fields in schema order; an object field yields one entry per member. */
export function composeFields(recipe: Recipe): RecipeField[] {
  const { fields } = BUILT_IN.of(recipe).recipe;
  const values: Readonly<Record<string, unknown>> = recipe;
  return Object.entries(recipeSchemaOf(recipe).shape).flatMap(([name, part]: [string, z.ZodType]) =>
    fields[name] === 'compose' ? fieldsOf(name, part, values[name], wordsOf(part)) : [],
  );
}

function fieldsOf(name: string, schema: z.ZodType, value: unknown, description: string): RecipeField[] {
  // A switch that the recipe lacks is off. Another parameter that it lacks has no control.
  if (schema instanceof z.ZodExactOptional) {
    const inner = schema.unwrap();
    const given = value ?? (inner instanceof z.ZodBoolean ? false : undefined);
    return given !== undefined && inner instanceof z.ZodType ? fieldsOf(name, inner, given, wordsOf(inner)) : [];
  }
  if (schema instanceof z.ZodObject) {
    const members = new Map(Object.entries(typeof value === 'object' && value !== null ? value : {}));
    return Object.entries(schema.shape).flatMap(([member, part]: [string, z.ZodType]) =>
      fieldsOf(`${name}.${member}`, part, members.get(member), wordsOf(part) || description),
    );
  }
  if (typeof value === 'boolean') return [{ kind: 'switch', name, description, value }];
  if (typeof value === 'number') return [numberField(name, schema, value, description)];
  if (typeof value === 'string' && schema instanceof z.ZodEnum) {
    return [{ kind: 'choice', name, description, value, options: schema.options.map(String) }];
  }
  return [];
}

function numberField(name: string, schema: z.ZodType, value: number, description: string): RecipeField {
  const bounds = schema instanceof z.ZodNumber ? schema : null;
  const least = finite(bounds?.minValue ?? null);
  const most = finite(bounds?.maxValue ?? null);
  const isInteger = bounds?.isInt ?? false;
  const span = spanOf(value, least, most);
  const stride = isInteger ? 1 : strideOf(span[1] - span[0]);
  return { kind: 'number', name, description, value, isInteger, least, most, span, stride };
}

function finite(bound: number | null): number | null {
  return bound === null || !Number.isFinite(bound) ? null : bound;
}

const STRIDES = 200;
const ROOM = 2;

/** The slider spans twice the value, at least 1, within the bounds: bounds alone may be far from useful values. */
function spanOf(value: number, least: number | null, most: number | null): readonly [number, number] {
  const far = Math.max(1, Math.abs(value) * ROOM);
  const low = Math.max(least ?? -far, -far);
  const high = Math.min(most ?? far, far);
  return [Math.min(low, value), Math.max(high, value)];
}

/** A step of 1 or 5 times a power of ten that divides the span into about 200 parts. */
function strideOf(span: number): number {
  const rough = span / STRIDES;
  const power = 10 ** Math.floor(Math.log10(rough));
  return rough <= power ? power : rough <= power * 5 ? power * 5 : power * 10;
}

function wordsOf(schema: z.ZodType): string {
  return z.globalRegistry.get(schema)?.description ?? '';
}
