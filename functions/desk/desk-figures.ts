/** What one desk reports for `GET /metrics`: its state now, and the increments of its isolate. */
import type { MadeJudgment } from '../../src/judgments/make-judgment.ts';
import { writeJudgeCallPoint } from '../metrics/analytics.ts';
import { type Increment, isolateCounts } from '../metrics/counts.ts';

/** The state of one judge at one desk. */
export type LaneFigures = {
  readonly judge: string;
  /** The desk's share of the slots, and how many are taken. */
  readonly slots: number;
  readonly running: number;
  /** Calls that wait for a slot. */
  readonly waiting: { readonly live: number; readonly batch: number };
  readonly breaker_open: boolean;
};

export type DeskFigures = {
  /** Empty if the desk was not asked for a judgment since it started. */
  readonly lanes: readonly LaneFigures[];
  /** Judge requests that wait for a connection. */
  readonly connections_waiting: number;
  /** Of all desks of the isolate. */
  readonly prompt_bytes: number;
  /** Judgments that KV lacks. */
  readonly kv_backlog: number;
  readonly storage_bytes: number;
  readonly increments: readonly Increment[];
};

/** Where a desk found a judgment: a running call, itself, a remembered failure, KV, an earlier owner, or the judge. */
type LookupSource = 'running' | 'desk' | 'recent_failure' | 'kv' | 'earlier_desk' | 'judge';

export function countLookup(source: LookupSource): void {
  isolateCounts.count('citeward_desk_lookups', [source]);
}

/**
 * Counts a call that the desk made, or refused to make. @param ms from the start of its waiting, in milliseconds.
 * @param dataset gets a data point; absent = none.
 */
export function countCall(
  judge: string,
  made: MadeJudgment,
  ms: number,
  dataset: AnalyticsEngineDataset | undefined,
): void {
  const outcome = made.ok ? 'ok' : made.failure.reason;
  isolateCounts.count('citeward_judge_calls', [judge, outcome]);
  const usage = made.ok ? made.judgment.usage : null;
  const { prompt_tokens = 0, completion_tokens = 0 } = usage ?? {};
  writeJudgeCallPoint(dataset, { judge, outcome, ms, prompt_tokens, completion_tokens });
  if (usage === null) return;
  isolateCounts.count('citeward_judge_tokens', [judge, 'prompt'], usage.prompt_tokens);
  isolateCounts.count('citeward_judge_tokens', [judge, 'completion'], usage.completion_tokens);
}

/** Adds a duration to a histogram of a judge. @param ms in milliseconds. */
export function countSeconds(
  histogram: 'citeward_judge_call_seconds' | 'citeward_judge_slot_wait_seconds',
  judge: string,
  ms: number,
): void {
  isolateCounts.observe(histogram, [judge], ms / 1000);
}

/** Adds the times of one connection of a judge call, in milliseconds. */
export function countHeaders(judge: string, times: { readonly waited_ms: number; readonly headers_ms: number }): void {
  isolateCounts.observe('citeward_judge_connection_wait_seconds', [judge], times.waited_ms / 1000);
  isolateCounts.observe('citeward_judge_header_seconds', [judge], times.headers_ms / 1000);
}
