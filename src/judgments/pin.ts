/**
 * Pins judgments in receipts and ledger rows by key and by a digest of the verdicts, because a key may be judged again.
 */
import { digestOnce } from '../digest.ts';
import type { JudgmentKind } from './kinds/names.ts';
import type { ObtainedJudgment } from './obtain.ts';

export type PinnedJudgment = {
  readonly kind: JudgmentKind;
  readonly key: string;
  /** SHA-256 (hex) of the RFC 8785 JSON of the verdicts, which the key does not cover. */
  readonly verdicts: string;
};

/** Pins the judgments that were obtained, in order; failed ones are left out. */
export function pinJudgments(obtained: readonly ObtainedJudgment[]): PinnedJudgment[] {
  return obtained.flatMap(({ kind, key, outcome }): PinnedJudgment[] => {
    if (!outcome.ok) return [];
    if (key === null) throw new Error(`pinJudgments: the ${kind} judgment has no key`);
    return [{ kind, key, verdicts: digestOnce(outcome.judgment.verdicts) }];
  });
}
