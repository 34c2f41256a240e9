/** The tests of `runs.test.ts` for a ledger whose records are all in segments. */
import './sealed-ledger.ts';
import './runs.test.ts';
