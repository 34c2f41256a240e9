/**
 * The client of batches for the rest of the Worker: it calls the Durable Object of a batch. Every operation of the
 * object is idempotent, so a call whose answer was lost (the object restarts, as in a deployment) is repeated.
 */

import { RequestError } from '../../service/failures.ts';
import type { Result } from '../../src/result.ts';
import type { Environment } from '../environment.ts';
import { logEvent } from '../log-event.ts';
import { rpcFailure } from '../rpc.ts';
import type { BatchAnswer } from './batch-messages.ts';

type BatchObject = ReturnType<Environment['BATCH']['getByName']>;

const CALL_ATTEMPTS = 3;
/** Delay before a call is repeated, in milliseconds: a restart of the object takes about that long. */
const REPEAT_MS = 100;
const BATCH_ID = /^batch_[A-Za-z0-9]{1,64}$/;

/**
 * Calls the object of a batch of a project. An id of a form that is never issued starts no object.
 * @throws RequestError `batch_not_found`; `storage_failed` (retryable) if the object does not answer or cannot read its
 * batch. An error that the object's own code throws is a bug and is rethrown.
 */
export async function askBatch<T>(
  { BATCH }: Pick<Environment, 'BATCH'>,
  project: string,
  id: string,
  operation: string,
  ask: (object: BatchObject) => Promise<BatchAnswer<T>>,
): Promise<T> {
  if (!BATCH_ID.test(id)) throw new RequestError({ reason: 'batch_not_found' });
  for (let attempt = 1; ; attempt++) {
    // A new stub per call: a stub whose call failed stays broken even after the object recovers.
    const called = await answered(async () => await ask(BATCH.getByName(batchObjectName(project, id))));
    if (called.ok) return granted(called.value);
    logEvent('error', { event: 'batch_call_failed', batch: id, operation, attempt, why: called.error });
    if (called.error === 'overloaded' || attempt === CALL_ATTEMPTS)
      throw new RequestError({ reason: 'storage_failed' });
    await new Promise((resolve) => setTimeout(resolve, REPEAT_MS * attempt));
  }
}

/** The name of the object of a batch. */
export function batchObjectName(project: string, id: string): string {
  return `${project}/${id}`;
}

function granted<T>(answer: BatchAnswer<T>): T {
  if (answer.ok) return answer.value;
  switch (answer.refusal) {
    case 'batch_unknown':
      throw new RequestError({ reason: 'batch_not_found' });
    case 'version_skew':
      throw new RequestError({ reason: 'storage_failed' });
  }
}

async function answered<T>(call: () => Promise<T>): Promise<Result<T, 'overloaded' | 'lost'>> {
  try {
    return { ok: true, value: await call() };
  } catch (error) {
    const failure = rpcFailure(error);
    if (failure === null) throw error;
    return { ok: false, error: failure };
  }
}
