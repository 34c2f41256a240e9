/** Answers of a judge model that finds everything fully there, good or bad, and every citation in order. */
import * as z from 'zod';

const askedSchema = z.object({ response_format: z.object({ json_schema: z.object({ schema: z.unknown() }) }) });

/** Returns the body of a chat completion that answers the request. */
export function favourableCompletion(request: string, model: string): string {
  const { schema } = askedSchema.parse(JSON.parse(request)).response_format.json_schema;
  const message = { role: 'assistant', content: JSON.stringify(favourable(schema, '')) };
  return JSON.stringify({ model, choices: [{ index: 0, message, finish_reason: 'stop' }] });
}

const schemaSchema = z.object({
  type: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
});

function favourable(schema: unknown, name: string): unknown {
  const { type, anyOf: [first] = [], enum: values, properties = {}, items, minItems = 0 } = schemaSchema.parse(schema);
  if (first !== undefined) return favourable(first, name);
  if (values !== undefined) return values.includes(2) ? 2 : values[0];
  switch (type) {
    case 'object':
      return Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, favourable(one, key)]));
    case 'array':
      return Array.from({ length: minItems }, () => favourable(items, name));
    case 'boolean':
      return name !== 'needs_citation';
    default:
      return '';
  }
}
