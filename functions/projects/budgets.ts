/** The daily budgets of projects: their limits, who pays for a judge call, and when a day ends. */

/** `null` = no limit. Days begin at midnight UTC. */
export type Budgets = {
  readonly judge_calls_per_day: number | null;
  readonly judge_tokens_per_day: number | null;
};

export const NO_BUDGETS: Budgets = { judge_calls_per_day: null, judge_tokens_per_day: null };

/** The project that a judge call is counted for, and its budgets if it has none of its own: those of the settings. */
export type Payer = { readonly project: string; readonly budgets: Budgets };

const DAY_MS = 24 * 60 * 60 * 1000;

/** The day of a time, as `2026-11-23`. @param ms milliseconds since 1970. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** When the budgets renew: the next midnight UTC, in milliseconds since 1970. */
export function renewalAfter(ms: number): number {
  return (Math.floor(ms / DAY_MS) + 1) * DAY_MS;
}
