/** Asks each binding of a deployment whether it answers, for `GET /readyz`. */

import { withinMs } from '../service/within-ms.ts';
import type { Readiness } from '../src/wire/health.ts';
import { DESK_MESSAGE_VERSION } from './desk/desk-messages.ts';
import type { Environment } from './environment.ts';
import { LEDGER_MESSAGE_VERSION } from './ledger/ledger-messages.ts';
import { logEvent } from './log-event.ts';
import { WEBHOOK_MESSAGE_VERSION } from './webhooks/endpoint-messages.ts';

type StoreState = Readiness['stores'][number];
type Bindings = Pick<
  Environment,
  'JUDGMENTS' | 'DB' | 'FILES' | 'JOBS' | 'JUDGE_DESK' | 'RUN_LEDGER' | 'BATCH' | 'DELIVERIES'
>;

/** How long a store may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;
/** A name that nothing is stored under. */
const NOTHING = 'readyz';

/** Reads something small from each store, all at once. */
export function storeStates(bindings: Bindings): Promise<StoreState[]> {
  const { JUDGMENTS, DB, FILES, JOBS, JUDGE_DESK, RUN_LEDGER, BATCH, DELIVERIES } = bindings;
  const reads: Readonly<Record<StoreState['name'], () => Promise<unknown>>> = {
    judgments: () => JUDGMENTS.get(NOTHING),
    database: () => DB.prepare('SELECT 1').first(),
    files: () => FILES.head(NOTHING),
    queue: () => JOBS.metrics(),
    judge_desk: async () =>
      await JUDGE_DESK.getByName(NOTHING).find({ v: DESK_MESSAGE_VERSION, place: null, keys: [], wait: false }),
    run_ledger: async () => await RUN_LEDGER.getByName(NOTHING).describe(LEDGER_MESSAGE_VERSION),
    batch: async () => await BATCH.getByName(NOTHING).describe(),
    deliveries: async () => await DELIVERIES.getByName(NOTHING).describe({ v: WEBHOOK_MESSAGE_VERSION }),
  };
  return Promise.all(STORES.map(async (name) => ({ name, reachable: await answers(name, reads[name]) })));
}

const STORES = [
  'judgments',
  'database',
  'files',
  'queue',
  'judge_desk',
  'run_ledger',
  'batch',
  'deliveries',
] as const satisfies readonly StoreState['name'][];

async function answers(store: StoreState['name'], read: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await withinMs(read(), ANSWER_MS)) !== 'late';
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    logEvent('error', { event: 'store_unreachable', store, error: name });
    return false;
  }
}
