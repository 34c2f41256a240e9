/** Places the samples of trainers in a run: numbers the visits of a prompt, so that its epochs never merge. */

import type { Result } from '../src/result.ts';
import { visitId, visitOf, type WantedPlace } from '../src/wire/adapters/run-place.ts';
import type { RequestFailure } from './failures.ts';
import { newId } from './ids.ts';
import type { Ledger } from './ports.ts';
import { StorageError } from './storage-error.ts';

export type PlacedSample = {
  readonly run: string;
  readonly step: number | null;
  readonly group: string;
  readonly sample: string;
  readonly grouping: 'given' | 'inferred';
};

type Placing = {
  /** Digest of each sample's content. */
  readonly contents: readonly string[];
  /** Samples of a prompt in a step; `null` = unknown. */
  readonly groupSize: number | null;
};

/**
 * Finds the place of each sample, in order. Reads the ledger for samples whose prompt is visited again in each epoch.
 * Samples of one visit may be placed at the same time in different isolates: each sees the visit before its own write,
 * and visits of one prompt do not overlap.
 */
export async function placeSamples(
  wanted: readonly WantedPlace[],
  { contents, groupSize }: Placing,
  ledger: Ledger,
): Promise<Result<readonly PlacedSample[], RequestFailure>> {
  const placed: PlacedSample[] = [];
  for (const [position, { run, step, group, sample, isVisited, grouping }] of wanted.entries()) {
    const place = { run, step, grouping };
    if (!isVisited) {
      placed.push({ ...place, group, sample: sample ?? newId('') });
      continue;
    }
    try {
      const latest = await ledger.latestVisit({ run, prompt: group, sample, content: contents[position] ?? '' });
      const visit = visitOf(latest, groupSize, Date.now());
      placed.push({ ...place, group: visitId(group, visit), sample: sample ?? latest?.unscored ?? newId('') });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return { ok: false, error: { reason: 'ledger_failed', why: 'storage' } };
    }
  }
  return { ok: true, value: placed };
}
