/**
 * Reads a null of an optional field of a request as an absent field: data sets and typed clients write every column of a
 * row, with null where a row has no value.
 */
import * as z from 'zod';

/** The optional fields of each schema to which null is no value. */
const optionalFields = new WeakMap<z.ZodObject, ReadonlySet<string>>();

function optionalFieldsOf(schema: z.ZodObject): ReadonlySet<string> {
  const known = optionalFields.get(schema);
  if (known !== undefined) return known;
  const fields = Object.entries(schema.shape).flatMap(([name, field]) => {
    const isOptional = z.safeParse(field, undefined).success || field instanceof z.ZodExactOptional;
    return isOptional && !z.safeParse(field, null).success ? [name] : [];
  });
  const set = new Set(fields);
  optionalFields.set(schema, set);
  return set;
}

/** The value without the nulls of its optional fields; any other value as it is. Only the members of the top are read. */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  const members: [string, unknown][] = Object.entries(value);
  if (members.every(([, member]) => member !== null)) return value;
  const optional = optionalFieldsOf(schema);
  return Object.fromEntries(members.filter(([name, member]) => member !== null || !optional.has(name)));
}
