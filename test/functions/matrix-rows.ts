/** Rows that `functions` tries of a matrix in part, and `slow-functions` as a whole. */
import { inject } from 'vitest';
import { type FaultRow, SERVER_FAULTS } from '../contract/backend-faults.ts';
import '../unit/seeded-random.ts';

type NamedFault = readonly [name: string, fault: FaultRow];

export const ALL_FAULTS: readonly NamedFault[] = Object.entries(SERVER_FAULTS);

/**
 * Faults of a model server for one door of many. What a fault becomes is tested once, for all of them
 * (backends-faults.test.ts); a door can get wrong only what follows from the reason, so one fault of each reason is tried.
 */
export const DOOR_FAULTS: readonly NamedFault[] = inject('triesAllRows')
  ? ALL_FAULTS
  : ALL_FAULTS.filter(([, { reason }], at) => ALL_FAULTS.findIndex(([, other]) => other.reason === reason) === at);

/** Sizes of files, in bytes: those above 1 MB are tried in `slow-functions` alone. */
export function triedSizes(...bytes: readonly number[]): readonly number[] {
  return inject('triesAllRows') ? bytes : bytes.filter((size) => size <= 1_000_000);
}
