/**
 * Reading a stored judgment. A record is used only if it is well formed and is what its key says: the key is computed
 * anew from the preimage. Anything else is `judgment_record_invalid`: reported, never used (ARCHITECTURE.md rule 1).
 */
import { judgmentSchema } from '../schema/judgment.ts';
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
  const record = judgmentSchema.safeParse(parsed.value);
  if (!record.success) return invalid('the stored record is not a judgment of version 1');
  const judgment: Judgment = record.data;
  if (judgment.key !== key) return invalid('the stored record carries another key');
  if ((await judgmentKey(judgment.preimage)) !== key) return invalid('the stored record does not hash to its key');
  if (judgment.verdicts.kind !== judgment.preimage.kind) return invalid('the stored verdicts are of another kind');
  return { ok: true, judgment };
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
