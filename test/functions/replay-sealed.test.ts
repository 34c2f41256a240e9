/** The tests of `replay.test.ts` for a ledger whose records are all in segments. */
import './sealed-ledger.ts';
import './replay.test.ts';
