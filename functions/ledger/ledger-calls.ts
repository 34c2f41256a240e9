/**
 * Calls the `RunLedger` objects of a run. Every operation of the object is idempotent, so a call whose answer was lost
 * (the object restarts, as in a deployment) is repeated.
 */

import { RequestError } from '../../service/failures.ts';
import type { RunLife } from '../../service/ledger-port.ts';
import { StorageError } from '../../service/storage-error.ts';
import { sha256 } from '../../src/digest.ts';
import type { Environment } from '../environment.ts';
import { logEvent } from '../log-event.ts';
import { isolateCounts } from '../metrics/counts.ts';
import { rpcFailure } from '../rpc.ts';
import type { LedgerAnswer, LedgerRefusal } from './ledger-messages.ts';

export type LedgerObjects = Environment['RUN_LEDGER'];
type LedgerObject = ReturnType<LedgerObjects['getByName']>;

const CALL_ATTEMPTS = 3;
/** Delay before a call is repeated, in milliseconds: a restart of the object takes about that long. */
const REPEAT_MS = 100;
/** The end of a group id that numbers the visits of a prompt. */
const VISIT = /\.\d{6}$/;

/** The numbers of a run's shards. */
export function shardsOf({ shards }: RunLife): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/** The shard of a group. All visits of a prompt are in one shard, because the next one is numbered by the last. */
export function shardOf({ shards }: RunLife, group: string): number {
  return shards === 1 ? 0 : Number.parseInt(sha256(group.replace(VISIT, '')).slice(0, 8), 16) % shards;
}

/** Reads from a shard. @param empty what a shard without rollouts answers. @throws StorageError, RequestError. */
export async function askShard<T>(
  objects: LedgerObjects,
  life: RunLife,
  shard: number,
  empty: T,
  ask: (object: LedgerObject) => Promise<LedgerAnswer<T>>,
): Promise<T> {
  const answer = await callShard(objects, life, shard, ask);
  if (answer.ok) return answer.value;
  if (answer.refusal === 'erased') throw new RequestError({ reason: 'run_gone' });
  return empty;
}

type CallAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Extract<LedgerRefusal, 'unopened' | 'erased'> };

/** Calls a shard. @throws StorageError if the object does not answer, is full, or has another version. */
export async function callShard<T>(
  objects: LedgerObjects,
  life: RunLife,
  shard: number,
  ask: (object: LedgerObject) => Promise<LedgerAnswer<T>>,
): Promise<CallAnswer<T>> {
  const answer = await repeated(objects, life, shard, ask);
  if (answer.ok) return answer;
  const { refusal } = answer;
  if (refusal === 'unopened' || refusal === 'erased') return { ok: false, refusal };
  isolateCounts.count('citeward_store_errors', ['ledger', refusal]);
  logEvent('error', { event: 'ledger_refused', project: life.project, run: life.run, shard, refusal });
  throw new StorageError('ledger', refusal, refusal);
}

/** @throws StorageError. An error that the object's own code throws is a bug and is rethrown. */
export async function repeated<T>(
  objects: LedgerObjects,
  { project, run, incarnation }: RunLife,
  shard: number,
  ask: (object: LedgerObject) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      // A new stub per call: a stub whose call failed stays broken even after the object recovers.
      return await ask(objects.getByName(`${project}/${run}/${incarnation}/${shard}`));
    } catch (error) {
      const why = rpcFailure(error);
      if (why === null) throw error;
      isolateCounts.count('citeward_store_errors', ['ledger', why]);
      logEvent('error', { event: 'ledger_call_failed', project, run, shard, attempt, why });
      if (why === 'overloaded' || attempt === CALL_ATTEMPTS) throw new StorageError('ledger', 'call', error);
    }
    await new Promise((resolve) => setTimeout(resolve, REPEAT_MS * attempt));
  }
}
