/**
 * Generates the simplest value that a judge schema allows, for the fake AI worker and for tests that need a valid
 * reply.
 */

type Schema = {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly minItems?: unknown;
};

/**
 * Returns a value for the schema; for an enum its first member.
 * @throws TypeError if the schema uses keywords that judge schemas do not have.
 */
export function replyForSchema(schema: unknown): unknown {
  if (!isSchema(schema)) throw new TypeError('replyForSchema: the schema is no object');
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [name, replyForSchema(member)]),
      );
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => replyForSchema(schema.items));
    case 'string':
      return 'nothing was read';
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      throw new TypeError('replyForSchema: a type that no judge schema has');
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
