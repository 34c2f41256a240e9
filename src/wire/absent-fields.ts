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

/** The value without the nulls of its optional fields, at every depth; any other value as it is. */
export function withoutNulls(schema: z.core.$ZodType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = withoutWrapper(schema);
  if (inner !== null) return withoutNulls(inner, value);
  if (schema instanceof z.ZodUnion) {
    const [first, ...others] = schema.options.filter((option) => mayRead(option, value));
    return first === undefined || others.length > 0 ? value : withoutNulls(first, value);
  }
  if (Array.isArray(value)) {
    return schema instanceof z.ZodArray ? unlessSame(value, (item) => withoutNulls(schema.element, item)) : value;
  }
  if (!(schema instanceof z.ZodObject)) return value;
  let isSame = true;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (member === null && optionalFieldsOf(schema).has(name)) {
      isSame = false;
      return [];
    }
    const field: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    const read = field === undefined ? member : withoutNulls(field, member);
    isSame &&= read === member;
    return [[name, read] as const];
  });
  return isSame ? value : Object.fromEntries(members);
}

/** The schema inside one that adds a default, an absence or a check; `null` = it is none of them. */
function withoutWrapper(schema: z.core.$ZodType): z.core.$ZodType | null {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) return schema.unwrap();
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return schema.unwrap();
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodLazy) return schema.unwrap();
  return schema instanceof z.ZodPipe ? schema.in : null;
}

/** Whether an option of a union reads values of this kind: a list, or an object with these members. */
function mayRead(option: z.core.$ZodType, value: object): boolean {
  const inner = withoutWrapper(option);
  if (inner !== null) return mayRead(inner, value);
  if (Array.isArray(value)) return option instanceof z.ZodArray;
  return option instanceof z.ZodObject && Object.keys(value).every((name) => Object.hasOwn(option.shape, name));
}

/** The list with each item as `read` returns it; the same list if no item changes. */
function unlessSame(items: readonly unknown[], read: (item: unknown) => unknown): readonly unknown[] {
  const found = items.map(read);
  return found.every((item, n) => item === items[n]) ? items : found;
}
