/**
 * Reading a stored judgment. A record is used only if it is well formed and is what its key says: the key is computed
 * anew from the preimage. Anything else is `judgment_record_invalid`: reported, never used (ARCHITECTURE.md rule 1).
 * Version 1, which had no issuer, is read as version 2 without one. Signatures are checked where the keys are (obtain.ts
 * and the import), not here.
 */
import { judgmentSchema, judgmentSchemaV1 } from './judgment-schema.ts';
import { judgmentKey } from './key.ts';
import type { JudgeFailure, Judgment } from './types.ts';

/** A record that was found: usable, or invalid (`judgment_record_invalid`), or unreadable (`judgment_store_failed`). */
export type StoredJudgment =
  | { readonly ok: true; readonly judgment: Judgment }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** Parses and checks the JSON text that was stored under `key`. */
export async function checkRecord(key: string, text: string): Promise<StoredJudgment> {
  const parsed = parseJson(text);
  if (!parsed.ok) return invalid('the stored record is not JSON');
  const read = await readRecord(parsed.value);
  if (read.ok && read.judgment.key !== key) return invalid('the stored record carries another key');
  return read;
}

/** Checks a record wherever it comes from: its form, that it hashes to its own key, and that its verdicts are of its kind. */
export async function readRecord(value: unknown): Promise<StoredJudgment> {
  const judgment = currentForm(value);
  if (judgment === null) return invalid('the record is not a judgment of version 1 or 2');
  if ((await judgmentKey(judgment.preimage)) !== judgment.key) return invalid('the record does not hash to its key');
  if (judgment.verdicts.kind !== judgment.preimage.kind) return invalid('the verdicts are of another kind');
  return { ok: true, judgment };
}

function currentForm(value: unknown): Judgment | null {
  const current = judgmentSchema.safeParse(value);
  if (current.success) return current.data;
  const previous = judgmentSchemaV1.safeParse(value);
  return previous.success ? { ...previous.data, v: 2, issuer: null } : null;
}

function parseJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false };
    throw error;
  }
}

function invalid(detail: string): StoredJudgment {
  return { ok: false, failure: { reason: 'judgment_record_invalid', detail, retryable: false } };
}
