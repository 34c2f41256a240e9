/** The ids of a run and of the places in it: run, step, group, sample. */
import * as z from 'zod';
import { MAX_RUN_PLACE_CHARS, MAX_RUN_STEP } from '../limits.ts';
import type { RolloutPlace } from './row.ts';

const RUN_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's own id of a run. */
export const runIdSchema = z
  .string()
  .refine((run) => RUN_ID.test(run), { error: 'expected 1 to 128 letters, digits, ".", "_" or "-"' })
  .meta({ pattern: RUN_ID.source });

export const stepSchema = z.int().min(0).max(MAX_RUN_STEP).describe("The trainer's step, from 0.");

/** The id of a group or a sample in its stored form. */
export const placeIdSchema = z
  .string()
  .min(1)
  .max(MAX_RUN_PLACE_CHARS)
  .refine((id) => id.isWellFormed() && !id.includes('\0'), { error: 'expected text without NUL and lone surrogates' });

/** Where the rollouts of one request are recorded. */
export type RunPlacement = Omit<RolloutPlace, 'sample'> & {
  /** One id per rollout, in the order of the rollouts; distinct. */
  readonly samples: readonly string[];
  readonly grouping: 'given' | 'inferred';
  /** Whether the ledger also keeps the text of the rollouts. */
  readonly store_text: boolean;
};
