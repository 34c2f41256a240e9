/** Random values that a JSON schema of the OpenAPI document allows; the rules between fields are left to chance. */
import * as z from 'zod';
import { buildOpenApi } from '../../src/wire/openapi/document.ts';
import type { SeededChoices } from '../unit/seeded-random.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;
const documentSchema = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });
const SCHEMAS = new Map(Object.entries(documentSchema.parse(buildOpenApi('0')).components.schemas));

const TEXTS = ['The Aare is 288 km long.', '<answer><snippet id=S1>Long.</snippet></answer>', '42', 'S1', 'lexical'];

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function schemaNamed(reference: string): unknown {
  return SCHEMAS.get(reference.slice(reference.lastIndexOf('/') + 1));
}

/** A value for a schema. Values of unknown schemas are null. */
export function valueFor(schema: unknown, choices: SeededChoices, depth = 0): unknown {
  if (!isFields(schema) || depth > MAX_DEPTH) return null;
  const inside = (part: unknown): unknown => valueFor(part, choices, depth + 1);
  if (typeof schema['$ref'] === 'string') return inside(schemaNamed(schema['$ref']));
  if ('const' in schema) return schema['const'];
  for (const list of [schema['enum'], schema['anyOf'], schema['oneOf']]) {
    if (!Array.isArray(list) || list.length === 0) continue;
    const chosen: unknown = list[choices.below(list.length)];
    return list === schema['enum'] ? chosen : inside(chosen);
  }
  switch (schema['type']) {
    case 'string':
      return textFor(schema, choices);
    case 'integer':
      return choices.of([numberOf(schema['minimum'], 0), choices.below(20), numberOf(schema['maximum'], 1e9)]);
    case 'number':
      return choices.of([numberOf(schema['minimum'], 0), choices.below(100) / 100, numberOf(schema['maximum'], 1)]);
    case 'boolean':
      return choices.chance(50);
    case 'array':
      return arrayFor(schema, choices, inside);
    case 'object':
      return objectFor(schema, choices, inside);
    default:
      return null;
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function textFor({ minLength, maxLength }: Fields, choices: SeededChoices): string {
  const most = numberOf(maxLength, 10_000);
  const atLimit = 'x'.repeat(Math.min(most, 10_000));
  const text = choices.chance(85) ? choices.of(TEXTS) : atLimit;
  return text.slice(0, most).padEnd(numberOf(minLength, 0), 'x');
}

function arrayFor(schema: Fields, choices: SeededChoices, inside: (part: unknown) => unknown): unknown[] {
  const fixed = listOf(schema['prefixItems']);
  if (fixed.length > 0) return fixed.map(inside);
  const least = numberOf(schema['minItems'], 0);
  const most = Math.min(numberOf(schema['maxItems'], 3), least + 3);
  return Array.from({ length: least + choices.below(most - least + 1) }, () => inside(schema['items']));
}

function objectFor(schema: Fields, choices: SeededChoices, inside: (part: unknown) => unknown): unknown {
  const required = new Set(listOf(schema['required']));
  const entries = Object.entries(isFields(schema['properties']) ? schema['properties'] : {})
    .filter(([name]) => required.has(name) || choices.chance(40))
    .map(([name, part]) => [name, inside(part)]);
  if (entries.length === 0 && isFields(schema['additionalProperties'])) {
    entries.push(['any', inside(schema['additionalProperties'])]);
  }
  return Object.fromEntries(entries);
}
