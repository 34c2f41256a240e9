/** The steps of a run in numbers, read from the ledger page by page; what replay reads of a rollout is not touched. */
import * as z from 'zod';
import { unscoredReasonSchema } from '../../src/family/unscored-reason.ts';
import type { RunStep } from '../../src/runs/summary.ts';
import { RunSummary } from '../../src/runs/summary.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';
import { IS_LATEST, NO_STEP } from './run-rows.ts';

/** Rows of one D1 query where only numbers are read: 0.3 KB each. */
const SUMMARY_PAGE_ROWS = 2_000;
/** Rollouts that one request summarises; the step that crosses it is summarised to its end. */
const MAX_SUMMARISED_ROLLOUTS = 50_000;

export type StepPage = {
  readonly steps: readonly RunStep[];
  /** Where the next page begins; `null` = these were the last steps. */
  readonly next_step: number | null;
};

/**
 * Steps in order, those without a number first.
 * @param fromStep the first one; `null` = from the beginning.
 * @param limit steps at most; fewer where they have many rollouts, at least one.
 * @throws StorageError.
 */
export async function summariseSteps(
  db: D1Database,
  run: string,
  fromStep: number | null,
  limit: number,
): Promise<StepPage> {
  const summary = new RunSummary();
  const steps: RunStep[] = [];
  let read = 0;
  for await (const rollout of readNumbers(db, run, fromStep ?? NO_STEP)) {
    const over = summary.add(rollout);
    read++;
    if (over === null) continue;
    steps.push(over);
    // A rollout of the next step has been read: it says where to go on. Only the first step of a run has no number.
    if (steps.length === limit || read > MAX_SUMMARISED_ROLLOUTS) return { steps, next_step: rollout.step };
  }
  const last = summary.end();
  return { steps: last === null ? steps : [...steps, last], next_step: null };
}

const numbersSchema = z.object({
  step: z.int(),
  group_id: z.string(),
  sample: z.string(),
  inferred: z.literal([0, 1]),
  reward: z.number().nullable(),
  reason: unscoredReasonSchema.nullable(),
  components: z.string(),
  judgments: z.int(),
  cached: z.int(),
});
const componentsSchema = z.record(z.string(), z.number().nullable());

async function* readNumbers(db: D1Database, run: string, fromStep: number) {
  let after: readonly [number, string, string] = [fromStep, '', ''];
  for (;;) {
    const { results } = await stored('d1', 'run_summary', async () =>
      (await database(db))
        .prepare(
          `SELECT r.step, r.group_id, r.sample, r.inferred, r.reward, r.reason, r.components, r.judgments, r.cached
           FROM rollouts r WHERE r.run = ? AND (r.step, r.group_id, r.sample) > (?, ?, ?) AND ${IS_LATEST}
           ORDER BY r.step, r.group_id, r.sample LIMIT ?`,
        )
        .bind(run, ...after, SUMMARY_PAGE_ROWS)
        .all(),
    );
    for (const columns of results) {
      const { step, group_id: group, sample, inferred, components, ...numbers } = numbersSchema.parse(columns);
      after = [step, group, sample];
      yield {
        ...numbers,
        step: step === NO_STEP ? null : step,
        group,
        inferred: inferred === 1,
        components: componentsSchema.parse(JSON.parse(components)),
      };
    }
    if (results.length < SUMMARY_PAGE_ROWS) return;
  }
}
