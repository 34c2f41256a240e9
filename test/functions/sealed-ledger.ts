/** Import this file before a test file: each recording is then sealed into R2 at once, and leaves the object. */
import { SEALING } from '../../functions/ledger/sealer.ts';
import { replaceParts } from './worker.ts';

replaceParts({ ledger: { sealing: { ...SEALING, bytes: 0, ageMs: 0, keptMs: 0, merged: 1_000 } }, sealsAtOnce: true });
