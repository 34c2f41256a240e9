/** `citeward runs show RUN --reasons`: the reasons of the judge that a run keeps, rollout by rollout. */
import * as z from 'zod';
import type { RunsClient } from '../../../clients/typescript/runs.ts';
import { MAX_RUN_ROLLOUT_PAGE } from '../../../src/limits.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import { RunError } from '../../shared/exit.ts';
import { countOf, countText } from '../../shared/number-text.ts';
import type { Screen } from '../../shared/screen.ts';
import { runErrorOf } from '../../shared/worker-failures.ts';

/** What is read of a stored report. Reports of older versions have no reasons. */
const reportSchema = z.object({
  judgments: z.array(
    z.object({
      kind: z.string(),
      judge: z.string().optional(),
      reasons: z
        .object({
          status: z.enum(['kept', 'not_kept', 'not_given']),
          entries: z.array(z.object({ of: z.string(), index: z.int(), reason: z.string() })),
          left_out: z.int(),
        })
        .optional(),
    }),
  ),
});

/**
 * Prints one line for each reason, in the order of the run: the place of the rollout, its reward, the entry of its
 * reply that the reason is about, and the reason. With `json`, each line is a JSON object.
 *
 * @param from the first step; `null` = all, also rollouts without a step.
 * @throws RunError if the Worker refuses, or a stored report cannot be read.
 */
export async function printReasons(
  runs: RunsClient,
  id: string,
  { from, json }: { readonly from: number | null; readonly json: boolean },
  screen: Screen,
): Promise<void> {
  const counts = { rollouts: 0, shown: 0, without_report: 0, not_asked: 0, not_kept: 0, not_given: 0, left_out: 0 };
  let after: string | null = null;
  do {
    const page = await runs.rollouts(id, {
      detail: true,
      limit: MAX_RUN_ROLLOUT_PAGE.detail,
      ...(after === null ? {} : { after }),
    });
    if (!page.ok) throw runErrorOf(page.failure);
    for (const { step, group, sample, reward, detail } of page.body.rollouts) {
      if (from !== null && (step === null || step < from)) continue;
      counts.rollouts++;
      const place = `${step ?? 'none'}/${group}/${sample}`;
      if (detail == null || detail.report === null) {
        counts.without_report++;
        continue;
      }
      const report = reportSchema.safeParse(detail.report);
      if (!report.success) throw new RunError(`the report of ${place} cannot be read`);
      for (const { kind, judge, reasons } of report.data.judgments) {
        if (reasons === undefined) counts.not_asked++;
        else if (reasons.status !== 'kept') counts[reasons.status]++;
        counts.left_out += reasons?.left_out ?? 0;
        for (const { of, index, reason } of reasons?.entries ?? []) {
          counts.shown++;
          const by = judge === undefined ? kind : `${kind} by ${judge}`;
          const about = `${place} · ${reward === null ? 'unscored' : reward.toFixed(2)} · ${by} · ${of} ${index}`;
          await screen.result(
            json
              ? JSON.stringify({ step, group, sample, reward, kind, judge: judge ?? null, of, index, reason })
              : plainLine(`${about}: ${reason}`),
          );
        }
      }
    }
    after = page.body.next;
  } while (after !== null);
  const missing = [
    counts.without_report > 0 && `${countText(counts.without_report)} without a report`,
    counts.not_asked > 0 && `${countText(counts.not_asked)} judgments made without --store-reasons`,
    counts.not_kept > 0 && `${countText(counts.not_kept)} stored judgments without kept reasons`,
    counts.not_given > 0 && `${countText(counts.not_given)} judgments of a judge that gives none`,
    counts.left_out > 0 && `${countText(counts.left_out)} reasons beyond the limit of a judgment`,
  ].filter((part) => part !== false);
  const shown = `${countOf(counts.shown, 'reason')} of ${countOf(counts.rollouts, 'rollout')}`;
  screen.message([shown, ...missing].join(' · '), 'dim');
}
