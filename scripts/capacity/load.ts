/** What is asked of a deployment, and what it has. */
export type Load = {
  /** Offered rollouts per second, of all groups together. */
  readonly rollouts_per_s: number;
  /** Rollouts of a group; they arrive together. */
  readonly group: number;
  /** Judgments of a rollout, each a judge call unless it is stored. */
  readonly judgments: number;
  /** The share of judgments that are stored already, from 0 to 1. */
  readonly stored: number;
  /** The mean time of a judge call, in seconds. */
  readonly judge_s: number;
  /** The time until a judge call has its response headers, in seconds; at most `judge_s`. */
  readonly header_s: number;
  /** Calls that the judge takes at the same time. */
  readonly slots: number;
  readonly desks: number;
  /** Desks that the platform runs in one isolate, where they share memory and a thread. */
  readonly desks_per_isolate: number;
  readonly prompt_bytes: number;
  /** The time of one write to KV, in milliseconds. */
  readonly kv_put_ms: number;
  /** Setting JUDGMENT_RETENTION_DAYS; `null` = judgments are kept. */
  readonly judgment_retention_days: number | null;
  /** Simulated time in seconds. */
  readonly seconds: number;
  /** The judge is away for this long, from the middle of the simulated time on. */
  readonly outage_s: number;
};
