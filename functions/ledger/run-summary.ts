/**
 * Summarises the steps of a run in numbers, read from the ledger page by page, without the fields that replay reads.
 */
import * as z from 'zod';
import { unscoredReasonSchema } from '../../src/family/score.ts';
import type { RunStep } from '../../src/runs/summary.ts';
import { RunSummary } from '../../src/runs/summary.ts';
import { database } from '../storage/schema.ts';
import { stored } from '../storage/storage-error.ts';
import { IS_LATEST, NO_STEP } from './run-rows.ts';

/** Rows per D1 query that reads only numbers: 0.3 KB each. */
const SUMMARY_PAGE_ROWS = 2_000;
/** Rollouts that one request summarises; the step that exceeds it is completed. */
const MAX_SUMMARISED_ROLLOUTS = 50_000;

export type StepPage = {
  readonly steps: readonly RunStep[];
  /** The first step of the next page; `null` = there are no more. */
  readonly next_step: number | null;
};

/**
 * Summarises steps in order, rollouts without a step first.
 * @param fromStep the first step; `null` = from the beginning.
 * @param limit the maximum number of steps; fewer if they have many rollouts, at least one.
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
    // The first rollout of the next step has been read and names that step. Only the first step of a run can lack a
    // number.
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
