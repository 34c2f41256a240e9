/** The fake backend's replies: an object that fits a schema, or prose that depends on a seed. */
import * as z from 'zod';

const schemaSchema = z.object({
  type: z.enum(['object', 'string', 'integer', 'number', 'boolean', 'array']),
  properties: z.record(z.string(), z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
});

/** The simplest value that fits. `reversed` writes the keys of objects backwards. */
export function valueFor(schema: unknown, reversed: boolean): unknown {
  const { type, properties, enum: allowed, items, minItems } = schemaSchema.parse(schema);
  if (allowed !== undefined) return allowed[0];
  switch (type) {
    case 'object': {
      const entries = Object.entries(properties ?? {}).map(([key, inner]) => [key, valueFor(inner, reversed)]);
      return Object.fromEntries(reversed ? entries.reverse() : entries);
    }
    case 'array':
      return Array.from({ length: minItems ?? 0 }, () => valueFor(items, reversed));
    case 'string':
      return 'as the sources say';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return true;
  }
}

const WORDS = ['lamp', 'lens', 'tower', 'beam', 'coast', 'keeper', 'fog', 'chart'];

/** A word a token; the same seed gives the same words. */
export function proseTokens(seed: number, count: number): string[] {
  let state = (seed * 2_654_435_761) >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ` ${WORDS[state >>> 29]}`;
  });
}
