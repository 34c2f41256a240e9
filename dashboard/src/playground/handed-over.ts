/** A rollout that another page opens in the playground. It stays in memory: its text has no place in an address. */
import { type Draft, draftOf } from './draft.ts';

export type HandedOver = { readonly draft: Draft; readonly note: string };

let waiting: HandedOver | null = null;

/** @returns false where the fields are no rollout with a response. */
export function handOver(rollout: unknown, note: string): boolean {
  const draft = draftOf(rollout);
  if (draft === null) return false;
  waiting = { draft, note };
  return true;
}

/** What waits, until something else is handed over. */
export function handedOver(): HandedOver | null {
  return waiting;
}
