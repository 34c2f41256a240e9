/**
 * Citeward as `citeward serve` runs it, with limits so small that the end of a small batch takes several steps, and that
 * a short run is sealed into several segments, which are merged.
 */
import type { Environment } from '../../functions/environment.ts';
import { SEALING } from '../../functions/ledger/sealer.ts';
import { Batch as WholeBatch, RunLedger as WholeRunLedger } from '../../serve/workers/citeward.ts';

export * from '../../serve/workers/citeward.ts';
export { default } from '../../serve/workers/citeward.ts';

const FINAL_STEP_READS = 3;
/** Each record becomes a segment at once, and two that follow each other become one. */
const SMALL_SEALS = { ...SEALING, bytes: 0, keptMs: 0, merged: 2 };

export class Batch extends WholeBatch {
  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment, FINAL_STEP_READS);
  }
}

export class RunLedger extends WholeRunLedger {
  constructor(state: DurableObjectState, environment: Environment) {
    super(state, environment, { sealing: SMALL_SEALS });
  }
}
