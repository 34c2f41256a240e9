/**
 * The simplest value that a JSON schema of ours allows: what a model says that has read nothing. For the fake AI worker
 * and for tests that need a well-formed reply.
 */

type Schema = {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly minItems?: unknown;
};

/**
 * A value for the schema; of an enum the first.
 * @throws TypeError for a schema beyond the keywords that reply-schema.ts uses.
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
    case 'boolean':
      return false;
    default:
      throw new TypeError('replyForSchema: a type that no judge schema has');
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
