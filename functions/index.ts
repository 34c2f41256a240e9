/** Entry module of the Worker. */

import { createWorker } from './worker.ts';

export { Batch } from './batches/batch.ts';
export { JudgeDesk } from './judge-desk.ts';
export { RunLedger } from './ledger/run-ledger.ts';
export { Deliveries } from './webhooks/deliveries.ts';

export default createWorker();
