/**
 * Validates JSON. A null of an optional field is an absent field: data sets and typed clients write every column of a
 * row, with null where a row has no value. Absent fields are not validated: zod reads each as undefined, words what is
 * wrong with that, and drops it, which takes half the time of a request that lacks most fields.
 */
import * as z from 'zod';

/** Whether what is being validated is JSON, in which only an absent field is undefined. */
let readsJson = false;
/** Object schemas whose absent fields are skipped, and those fields. */
const skipping = new WeakSet<object>();

/** Validates a value that was read from JSON. A null of an optional field is read as its absence, at every depth. */
export function parseJsonValue<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const read = withoutNulls(schema, value);
  readsJson = true;
  try {
    return schema.safeParse(read);
  } finally {
    readsJson = false;
  }
}

function skipAbsent(schema: z.ZodObject): void {
  if (skipping.has(schema)) return;
  skipping.add(schema);
  for (const field of Object.values(schema.shape)) {
    if (!(field instanceof z.ZodExactOptional) || skipping.has(field)) continue;
    skipping.add(field);
    const { run } = field._zod;
    field._zod.run = (payload, context) => (readsJson && payload.value === undefined ? payload : run(payload, context));
  }
}

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
    // Most lists are of texts.
    if (!value.some((item) => typeof item === 'object') || !(schema instanceof z.ZodArray)) return value;
    return unlessSame(value, (item) => withoutNulls(schema.element, item));
  }
  if (!(schema instanceof z.ZodObject)) return value;
  skipAbsent(schema);
  const members = Object.entries(value);
  let changed: Map<string, unknown> | null = null;
  for (const [name, member] of members) {
    // Most are texts and numbers.
    if (typeof member !== 'object') continue;
    if (member === null && !optionalFieldsOf(schema).has(name)) continue;
    const field: z.core.$ZodType | undefined = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    const read = member === null || field === undefined ? member : withoutNulls(field, member);
    if (member !== null && read === member) continue;
    changed ??= new Map<string, unknown>(members);
    if (member === null) changed.delete(name);
    else changed.set(name, read);
  }
  return changed === null ? value : Object.fromEntries(changed);
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
