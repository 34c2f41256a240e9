/** The OpenAPI document states the bounds that the Worker checks, in patterns that other languages can read. */
import { expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/wire/openapi/document.ts';

type Field = readonly [name: string, schema: Readonly<Record<string, unknown>>];

/** Every field and parameter of the document, with its schema. */
function fieldsOf(value: unknown): Field[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  const named = 'in' in value && 'name' in value && 'schema' in value ? { [String(value.name)]: value.schema } : {};
  const fields = 'properties' in value && typeof value.properties === 'object' ? value.properties : {};
  const own = Object.entries({ ...fields, ...named }).map(([name, schema]): Field => [name, { ...Object(schema) }]);
  const within = Object.entries(value).flatMap(([name, one]) => (/^examples?$/u.test(name) ? [] : fieldsOf(one)));
  return [...own, ...within];
}

const fields = fieldsOf(buildOpenApi('0'));
const named = (name: string) => fields.flatMap(([one, schema]) => (one === name ? [schema] : []));

it('fields of a rule of advantages and of an adapter have their bounds', () => {
  const bounds = {
    bias: { minimum: 0, maximum: 1 },
    verification_reward: { exclusiveMinimum: 0, maximum: expect.any(Number) },
    min_valid: { type: 'integer', minimum: 1 },
    group_size: { type: 'integer', minimum: 1, maximum: expect.any(Number) },
  };
  for (const [name, expected] of Object.entries(bounds)) {
    expect(named(name).length, name).toBeGreaterThan(0);
    for (const schema of named(name)) expect(schema, name).toMatchObject(expected);
  }
});

it('the query parameter judges takes two to five names', () => {
  const patterns = named('judges').flatMap(({ type, pattern }) => (type === 'string' ? [String(pattern)] : []));
  expect(patterns.length).toBeGreaterThan(0);
  const five = ['a', 'b', 'c', 'd', 'e'];
  for (const pattern of patterns) {
    const fits = (...names: readonly string[]) => new RegExp(pattern, 'u').test(names.join(','));
    expect([fits('a'), fits('a', 'b#1'), fits(...five), fits(...five, 'f'), fits('a', '')]).toEqual([
      ...[false, true, true],
      ...[false, false],
    ]);
  }
});

it('patterns use nothing that a Python client cannot compile', () => {
  const patterns = fields.flatMap(([, schema]) => JSON.stringify(schema).match(/"pattern":"(?:[^"\\]|\\.)*"/gu) ?? []);
  expect(patterns.length).toBeGreaterThan(0);
  // Python's `re` has no classes of Unicode properties and names its groups otherwise.
  expect(patterns.filter((pattern) => /\\\\[pP]\{|\(\?<[a-z]/u.test(pattern))).toEqual([]);
});
