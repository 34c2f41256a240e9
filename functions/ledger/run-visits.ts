/** Finds the latest visit of a prompt in a run, for trainers that send no ids of groups. */

import type { RunLife, VisitedPrompt } from '../../service/ledger-port.ts';
import { type PromptVisit, visitId } from '../../src/wire/adapters/run-place.ts';
import { askShard, type LedgerObjects, shardOf } from './ledger-calls.ts';
import { LEDGER_MESSAGE_VERSION } from './ledger-messages.ts';

/** Reads the latest visit; `null` = the run has none of this prompt. @throws StorageError, RequestError. */
export async function latestVisit(
  objects: LedgerObjects,
  life: RunLife,
  { prompt, sample, content }: VisitedPrompt,
): Promise<PromptVisit | null> {
  const first = visitId(prompt, 0);
  // The ids of visits end in digits, and ":" is the character after "9".
  const call = { v: LEDGER_MESSAGE_VERSION, first, end: `${prompt}.:`, sample, content };
  const visit = await askShard(objects, life, shardOf(life, first), null, async (object) => object.latestVisit(call));
  if (visit === null) return null;
  const { group, ...latest } = visit;
  return { ...latest, number: Number(group.slice(prompt.length + 1)) };
}
