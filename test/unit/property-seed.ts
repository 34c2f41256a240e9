/**
 * Makes property tests draw the same cases in each run, so that a run of the whole suite never fails on a case that nobody
 * changed. `npm run fuzz` draws others, and more of them.
 */
import fc from 'fast-check';
import { inject } from 'vitest';
import './seeded-random.ts';

fc.configureGlobal({ seed: inject('fuzzSeed'), numRuns: inject('fuzzRuns') });
