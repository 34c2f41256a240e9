/** The daily budgets of a project. */

/** `null` = no limit. Days begin at midnight UTC. */
export type Budgets = {
  readonly judge_calls_per_day: number | null;
  readonly judge_tokens_per_day: number | null;
};
