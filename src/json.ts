/** Reads JSON whose content is unknown. */
import type { Result } from './result.ts';

/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text, or what is wrong with it; the words may quote the text. */
export function readJson(text: string): Result<unknown, string> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, error: error.message };
    throw error;
  }
}

/** The value of a JSON text; `undefined`, which no JSON text means, if it is not JSON. */
export function parsedJson(text: string): unknown {
  const read = readJson(text);
  return read.ok ? read.value : undefined;
}
