/**
 * Counts the judge calls of a desk against the daily budgets of projects. The desk reserves a part of a budget in D1
 * and counts within it, so most calls ask nobody, and all desks together never exceed the budget of calls. What a desk
 * has not used for some seconds it gives back.
 */

import { StorageError } from '../../service/storage-error.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import { type Budgets, dayOf, type Payer, renewalAfter } from '../projects/budgets.ts';
import type { BudgetAmounts, ProjectTable } from '../projects/project-table.ts';

/** All desks together may hold this share of a budget that they have not used. */
const LEASED_SHARE = 1 / 16;
const MAX_LEASED_CALLS = 1_000;
const MAX_LEASED_TOKENS = 5_000_000;
/** After a refusal the desk asks again after this time: the budget may have been raised. */
const REFUSAL_MS = 10_000;
/** An unused reservation is given back after this time, before the platform may evict the object. */
const IDLE_MS = 10_000;

export type LeaseParts = {
  readonly table: Pick<ProjectTable, 'lease' | 'giveBack'>;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
  readonly idleMs?: number;
};

/** The permission for one call. Exactly one of the two methods is called, once. */
export type Allowance = {
  /** The call was made. @param tokens of prompt and reply; 0 = unknown. */
  readonly spend: (tokens: number) => void;
  /** The call was not made. */
  readonly cancel: () => void;
};

type Admission =
  | { readonly ok: true; readonly allowance: Allowance }
  | { readonly ok: false; readonly failure: JudgeFailure };

/** What is left of the reservations of one project on one day. */
type Lease = {
  readonly payer: Payer;
  readonly day: string;
  calls: number;
  tokens: number;
  /** Calls that are admitted and not settled. */
  open: number;
  usedAt: number;
  /** Whether a timer will look whether the reservation is idle. */
  isWatched: boolean;
  renewal: Promise<void> | null;
  /** Until when nothing is asked, because the budget was used up; and all that was used. */
  refused: { readonly until: number; readonly used: BudgetAmounts } | null;
};

const FREE: Allowance = { spend: () => undefined, cancel: () => undefined };

export class BudgetLeases {
  readonly #table: LeaseParts['table'];
  readonly #now: () => number;
  readonly #idleMs: number;
  readonly #leases = new Map<string, Lease>();

  constructor({ table, now, idleMs = IDLE_MS }: LeaseParts) {
    this.#table = table;
    this.#now = now;
    this.#idleMs = idleMs;
  }

  /**
   * Admits a call of a project, or refuses it with the budget that is used up.
   * @param tokens the estimate of the call's tokens, until `spend` knows them.
   * @param desks number of desks that share the budget.
   */
  async admit(payer: Payer, tokens: number, desks: number): Promise<Admission> {
    const { judge_calls_per_day, judge_tokens_per_day } = payer.budgets;
    if (judge_calls_per_day === null && judge_tokens_per_day === null) return { ok: true, allowance: FREE };
    const lease = this.#leaseOf(payer);
    const size = sizeOf(payer.budgets, desks);
    // Other calls may take what a renewal brings.
    while (!hasRoom(lease)) {
      const { refused } = lease;
      if (refused !== null && refused.until > this.#now()) {
        return { ok: false, failure: usedUp(payer.budgets, refused.used, this.#now()) };
      }
      lease.renewal ??= this.#renew(lease, payer.budgets, size);
      try {
        await lease.renewal;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        return { ok: false, failure: BUDGET_UNREADABLE };
      }
    }
    lease.calls--;
    lease.tokens -= tokens;
    lease.open++;
    this.#renewAhead(lease, size);
    return { ok: true, allowance: this.#allowance(lease, tokens) };
  }

  #leaseOf(payer: Payer): Lease {
    const day = dayOf(this.#now());
    const name = `${day} ${payer.project}`;
    const lease = this.#leases.get(name) ?? {
      payer,
      day,
      calls: 0,
      tokens: 0,
      open: 0,
      usedAt: this.#now(),
      isWatched: false,
      renewal: null,
      refused: null,
    };
    this.#leases.set(name, lease);
    return lease;
  }

  async #renew(lease: Lease, budgets: Budgets, size: BudgetAmounts): Promise<void> {
    try {
      // Tokens that were used beyond the last reservation are reserved now.
      const wanted = {
        calls: Math.max(0, size.calls - lease.calls),
        tokens: Math.max(0, size.tokens - lease.tokens),
      };
      const { granted, used } = await this.#table.lease(lease.payer.project, lease.day, budgets, wanted);
      lease.calls += granted.calls;
      lease.tokens += granted.tokens;
      lease.refused = hasRoom(lease) ? null : { until: this.#now() + REFUSAL_MS, used };
    } finally {
      lease.renewal = null;
      lease.usedAt = this.#now();
      this.#watch(lease);
    }
  }

  /** Reserves more before the reservation is used up, so that no call waits. */
  #renewAhead(lease: Lease, size: BudgetAmounts): void {
    const isLow = lease.calls < size.calls / 2 || lease.tokens < size.tokens / 2;
    const isRefused = lease.refused !== null && lease.refused.until > this.#now();
    if (!isLow || isRefused || lease.renewal !== null || size.calls === 1) return;
    lease.renewal = this.#renew(lease, lease.payer.budgets, size).catch((error: unknown) => {
      // The storage has logged it; the next call that needs the reservation asks again.
      if (!(error instanceof StorageError)) throw error;
    });
  }

  #allowance(lease: Lease, estimate: number): Allowance {
    const settle = (calls: number, tokens: number): void => {
      lease.calls += calls;
      lease.tokens += tokens;
      lease.open--;
      lease.usedAt = this.#now();
      this.#watch(lease);
    };
    return { spend: (tokens) => settle(0, estimate - tokens), cancel: () => settle(1, estimate) };
  }

  /** Gives a reservation back once it is idle. */
  #watch(lease: Lease): void {
    if (lease.isWatched) return;
    lease.isWatched = true;
    setTimeout(() => {
      lease.isWatched = false;
      const isIdle = lease.open === 0 && lease.renewal === null && this.#now() >= lease.usedAt + this.#idleMs;
      if (isIdle) void this.#giveBack(lease);
      else this.#watch(lease);
    }, this.#idleMs);
  }

  async #giveBack(lease: Lease): Promise<void> {
    this.#leases.delete(`${lease.day} ${lease.payer.project}`);
    const { calls, tokens } = lease;
    if (calls === 0 && tokens === 0) return;
    try {
      await this.#table.giveBack(lease.payer.project, lease.day, { calls, tokens });
    } catch (error) {
      // The reservation stays counted.
      if (!(error instanceof StorageError)) throw error;
    }
  }
}

function hasRoom({ calls, tokens }: Lease): boolean {
  return calls >= 1 && tokens > 0;
}

/** How much a desk reserves at a time. */
function sizeOf({ judge_calls_per_day, judge_tokens_per_day }: Budgets, desks: number): BudgetAmounts {
  const share = (limit: number | null, most: number): number =>
    Math.max(1, Math.min(most, Math.floor(((limit ?? Number.MAX_SAFE_INTEGER) * LEASED_SHARE) / desks)));
  return {
    calls: share(judge_calls_per_day, MAX_LEASED_CALLS),
    tokens: share(judge_tokens_per_day, MAX_LEASED_TOKENS),
  };
}

function usedUp(budgets: Budgets, used: BudgetAmounts, now: number): JudgeFailure {
  const { judge_calls_per_day, judge_tokens_per_day } = budgets;
  const outOfCalls = judge_calls_per_day !== null && used.calls >= judge_calls_per_day;
  const name = outOfCalls ? 'judge_calls_per_day' : 'judge_tokens_per_day';
  const limit = (outOfCalls ? judge_calls_per_day : judge_tokens_per_day) ?? 0;
  const amount = outOfCalls ? used.calls : used.tokens;
  const renewal = renewalAfter(now);
  const renews_at = new Date(renewal).toISOString();
  return {
    reason: 'judge_budget_exhausted',
    detail: `the project has used ${amount} of its budget ${name} of ${limit}; it renews at ${renews_at}`,
    retryable: true,
    retry_after_s: Math.ceil((renewal - now) / 1000),
    budget: { name, limit, used: amount, renews_at },
  };
}

const BUDGET_UNREADABLE: JudgeFailure = {
  reason: 'judge_capacity',
  detail: 'the budget of the project could not be read; retry later',
  retryable: true,
  retry_after_s: 5,
};
