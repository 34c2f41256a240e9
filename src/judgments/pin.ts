/** Judgments as receipts and ledger rows name them: by key and by what was answered, as one key may be judged anew. */
import { digestJson } from './key.ts';
import type { ObtainedJudgment } from './obtain.ts';
import type { JudgmentKind } from './types.ts';

/** A judgment as receipts and ledger rows name it. */
export type PinnedJudgment = {
  readonly kind: JudgmentKind;
  readonly key: string;
  /** SHA-256 (hex) of the RFC 8785 JSON of the verdicts, which the key does not cover. */
  readonly verdicts: string;
};

/** Those that were had, in their order. */
export async function pinJudgments(obtained: readonly ObtainedJudgment[]): Promise<PinnedJudgment[]> {
  const pinned = obtained.map(async ({ kind, key, outcome }): Promise<PinnedJudgment[]> => {
    if (!outcome.ok) return [];
    if (key === null) throw new Error(`pinJudgments: a judgment of kind ${kind} was had without a key`);
    return [{ kind, key, verdicts: await digestJson(outcome.judgment.verdicts) }];
  });
  return (await Promise.all(pinned)).flat();
}
