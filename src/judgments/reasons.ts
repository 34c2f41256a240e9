/**
 * The reasons that a judge writes before its verdicts. They are text of a model about a caller's text, so they are no
 * part of a judgment: neither of its key nor of its signed record. A request may ask to keep them in a store beside the
 * judgments, from which a later request for the same judgment reads them.
 */
import type { ReasonPlace } from './protocol/judgment-kind.ts';
import { MAX_REASON_CHARS } from './protocol/prompt.ts';

type JudgeReason = ReasonPlace & { readonly reason: string };

/**
 * The reasons of one judgment. `not_kept`: the judgment was made without keeping them, or they have expired.
 * `not_given`: this judge gives none for this kind of question. `left_out`: reasons beyond MAX_JUDGMENT_REASON_CHARS.
 */
export type JudgmentReasons =
  | { readonly status: 'kept'; readonly entries: readonly JudgeReason[]; readonly left_out: number }
  | { readonly status: 'not_kept' | 'not_given' };

/** Most characters of all reasons of one judgment that are kept, in UTF-16 code units. */
export const MAX_JUDGMENT_REASON_CHARS = 20_000;

/** Keeps the reasons of judgments. Best effort: a failure loses reasons, never a verdict. */
export interface ReasonStore {
  /** The kept reasons by key, one for each entry of the judgment's request. Absent keys have none. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Keeps the reasons of judgments that were made together, by key. */
  put(made: ReadonlyMap<string, readonly string[]>): Promise<void>;
}

/** Cuts each reason to MAX_REASON_CHARS, and drops those beyond the limit of a judgment from the end. */
export function boundedReasons(reasons: readonly string[]): string[] {
  const kept: string[] = [];
  let chars = 0;
  for (const reason of reasons) {
    const cut = reason.slice(0, MAX_REASON_CHARS).toWellFormed();
    chars += cut.length;
    if (chars > MAX_JUDGMENT_REASON_CHARS) break;
    kept.push(cut);
  }
  return kept;
}
