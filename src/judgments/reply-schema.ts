/**
 * JSON schemas of judge replies: one property a criterion, claim and statement, in order, so that constrained decoding
 * (vLLM's and llama.cpp's grammars keep the order of properties) can neither miss nor invent an entry, and always
 * writes the reason first. Only keywords that all of these backends enforce; bounds are checked again by the reader.
 */
import { claimKey, statementKey } from './entry-keys.ts';
import type { CitationsRequest, RubricRequest } from './types.ts';

export type JsonSchema = { readonly [key: string]: JsonValue };
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonSchema;

/** Bounds on what the judge writes besides verdicts; they keep a rambling judge from running out of tokens. */
export const MAX_REASON_CHARS = 400;
export const MAX_QUOTE_CHARS = 500;

function exactObject(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const REASON: JsonSchema = { type: 'string', maxLength: MAX_REASON_CHARS };

export function rubricSchema(request: Pick<RubricRequest, 'criteria'>): JsonSchema {
  const entry = exactObject({ reason: REASON, score: { type: 'integer', enum: [0, 1, 2] } });
  return exactObject(Object.fromEntries(request.criteria.map(({ key }) => [key, entry])));
}

export function citationsSchema(request: Pick<CitationsRequest, 'claims' | 'statements'>): JsonSchema {
  const claims = request.claims.map(({ sources }, position): [string, JsonSchema] => [
    claimKey(position),
    exactObject({
      reason: REASON,
      quote: { type: 'string', maxLength: MAX_QUOTE_CHARS },
      support: { type: 'string', enum: ['full', 'partial', 'none'] },
      relevant: { type: 'array', items: { type: 'boolean' }, minItems: sources.length, maxItems: sources.length },
    }),
  ]);
  const statements = request.statements.map((_statement, position): [string, JsonSchema] => [
    statementKey(position),
    exactObject({ reason: REASON, needs_citation: { type: 'boolean' } }),
  ]);
  return exactObject(Object.fromEntries([...claims, ...statements]));
}

export const OUTCOME_SCHEMA: JsonSchema = exactObject({ reason: REASON, correct: { type: 'boolean' } });
