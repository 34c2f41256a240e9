/**
 * Counts the judge calls of a desk by project, and holds them to the daily budgets. The desk reserves a part of a budget
 * in D1 and counts within it, so most calls ask nobody, and all desks together never exceed the budget of calls. Every
 * few seconds it tells D1 what was used, reads the budgets again, and gives back what it has not used.
 */

import { StorageError } from '../../service/storage-error.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { type Budgets, dayOf, type Payer, renewalAfter } from '../projects/budgets.ts';
import type { BudgetAmounts, ProjectTable } from '../projects/project-table.ts';

/** All desks together may hold this share of a budget that they have not used. */
const LEASED_SHARE = 1 / 16;
const MAX_LEASED_CALLS = 1_000;
const MAX_LEASED_TOKENS = 5_000_000;
/** How long budgets count as they were read, and how long a refusal lasts: a change takes effect within this time. */
const FRESH_MS = 5_000;
/** Under traffic D1 is told more often than that, so that no call waits. */
const REPORT_MS = 4_000;

export type LeaseParts = {
  readonly table: Pick<ProjectTable, 'exchange'>;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
  readonly reportMs?: number;
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

type Amounts = { calls: number; tokens: number };

/** What a desk knows about one project on one day. */
type Lease = {
  readonly project: string;
  readonly day: string;
  /** As they were read last, and when. */
  budgets: Budgets;
  read_at: number;
  /** What D1 counts as reserved by this desk. */
  readonly held: Amounts;
  /** What was used since D1 was told. */
  readonly spent: Amounts;
  /** The estimates of calls that are admitted and not settled. */
  readonly open: Amounts;
  usedAt: number;
  isWatched: boolean;
  /** The exchange with D1 that runs. */
  exchange: Promise<void> | null;
  /** Whether it gives everything back, so that no call may use it. */
  isEnding: boolean;
  /** All that is used or reserved, if the last exchange brought no room. */
  refused: BudgetAmounts | null;
};

export class BudgetLeases {
  readonly #table: LeaseParts['table'];
  readonly #now: () => number;
  readonly #reportMs: number;
  readonly #leases = new Map<string, Lease>();

  constructor({ table, now, reportMs = REPORT_MS }: LeaseParts) {
    this.#table = table;
    this.#now = now;
    this.#reportMs = reportMs;
  }

  /**
   * Admits a call of a project, or refuses it with the budget that is used up.
   * @param tokens the estimate of the call's tokens, until `spend` knows them.
   * @param desks number of desks that share the budget.
   */
  async admit(payer: Payer, tokens: number, desks: number): Promise<Admission> {
    const lease = this.#leaseOf(payer);
    this.#watch(lease, payer, desks);
    for (;;) {
      if (!lease.isEnding && this.#isFresh(lease)) {
        if (hasRoom(lease)) break;
        if (lease.refused !== null) return { ok: false, failure: usedUp(lease.budgets, lease.refused, this.#now()) };
      }
      try {
        // Other calls may take what an exchange brings.
        await this.#exchange(lease, payer, desks);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (!this.#isKnown(lease) || !hasRoom(lease)) return { ok: false, failure: BUDGET_UNREADABLE };
        // While D1 fails, the budgets count as they were read, and a reservation may be used.
        lease.read_at = this.#now();
      }
    }
    lease.open.calls++;
    lease.open.tokens += tokens;
    if (isLow(lease, desks) && lease.refused === null) this.#exchangeLater(lease, payer, desks);
    return { ok: true, allowance: this.#allowance(lease, tokens) };
  }

  #leaseOf({ project, budgets }: Payer): Lease {
    const day = dayOf(this.#now());
    const name = nameOf(project, day);
    const lease = this.#leases.get(name) ?? {
      project,
      day,
      budgets,
      read_at: Number.NEGATIVE_INFINITY,
      held: { calls: 0, tokens: 0 },
      spent: { calls: 0, tokens: 0 },
      open: { calls: 0, tokens: 0 },
      usedAt: this.#now(),
      isWatched: false,
      exchange: null,
      isEnding: false,
      refused: null,
    };
    this.#leases.set(name, lease);
    return lease;
  }

  /** The budgets of the project `default` are settings: they need not be read, and only a limit asks D1 for its part. */
  #isKnown({ project, read_at }: Lease): boolean {
    return project === DEFAULT_PROJECT || read_at > Number.NEGATIVE_INFINITY;
  }

  #isFresh(lease: Lease): boolean {
    const isUnlimited = roomOf(lease) === Number.POSITIVE_INFINITY;
    if (lease.project === DEFAULT_PROJECT && isUnlimited) return true;
    return lease.read_at + FRESH_MS > this.#now();
  }

  /** Tells D1 what was used and reserves more; one at a time. @param ends gives the reservation back instead. */
  #exchange(lease: Lease, payer: Payer, desks: number, ends = false): Promise<void> {
    if (lease.exchange !== null) return lease.exchange;
    lease.isEnding = ends;
    const exchange = this.#exchangeNow(lease, payer, desks, ends).finally(() => {
      lease.exchange = null;
      lease.isEnding = false;
    });
    lease.exchange = exchange;
    return exchange;
  }

  async #exchangeNow(lease: Lease, { budgets: usual }: Payer, desks: number, ends: boolean): Promise<void> {
    for (;;) {
      const { project, day, budgets, held, open } = lease;
      const spent = { ...lease.spent };
      const size = ends ? { calls: 0, tokens: 0 } : sizeOf(budgets, desks);
      const target = { calls: open.calls + size.calls, tokens: open.tokens + size.tokens };
      const { own, reserved, total } = await this.#table.exchange(project, day, { budgets, held, spent, open, target });
      lease.spent.calls -= spent.calls;
      lease.spent.tokens -= spent.tokens;
      Object.assign(held, reserved);
      const current = own ?? usual;
      const isChanged =
        current.judge_calls_per_day !== budgets.judge_calls_per_day ||
        current.judge_tokens_per_day !== budgets.judge_tokens_per_day;
      lease.budgets = current;
      lease.read_at = this.#now();
      lease.refused = ends || hasRoom(lease) ? null : total;
      // The part was of other budgets.
      if (!isChanged || ends) return;
    }
  }

  /** The same without waiting. The storage logs a failure, and the next call that needs the reservation asks again. */
  #exchangeLater(lease: Lease, payer: Payer, desks: number, ends = false): void {
    this.#exchange(lease, payer, desks, ends).catch((error: unknown) => {
      if (!(error instanceof StorageError)) throw error;
    });
  }

  #allowance(lease: Lease, estimate: number): Allowance {
    const settle = (): void => {
      lease.open.calls--;
      lease.open.tokens -= estimate;
      lease.usedAt = this.#now();
    };
    return {
      spend: (tokens) => {
        settle();
        lease.spent.calls++;
        lease.spent.tokens += tokens;
      },
      cancel: settle,
    };
  }

  /** Reports until the project has been idle for a while; then gives its reservation back and forgets it. */
  #watch(lease: Lease, payer: Payer, desks: number): void {
    if (lease.isWatched) return;
    lease.isWatched = true;
    setTimeout(() => {
      lease.isWatched = false;
      const { held, spent, open } = lease;
      const isIdle = open.calls === 0 && this.#now() >= lease.usedAt + this.#reportMs;
      if (isIdle && isNothing(held) && isNothing(spent) && lease.exchange === null) {
        this.#leases.delete(nameOf(lease.project, lease.day));
        return;
      }
      if (isIdle || !isNothing(spent)) this.#exchangeLater(lease, payer, desks, isIdle);
      this.#watch(lease, payer, desks);
    }, this.#reportMs);
  }
}

function nameOf(project: string, day: string): string {
  return `${day} ${project}`;
}

function isNothing({ calls, tokens }: Amounts): boolean {
  return calls === 0 && tokens === 0;
}

/** The calls that may still be admitted, as far as each budget decides; tokens are known at the end of a call. */
function roomOf({ budgets, held, spent, open }: Lease): number {
  const { judge_calls_per_day, judge_tokens_per_day } = budgets;
  const calls = judge_calls_per_day === null ? Number.POSITIVE_INFINITY : held.calls - spent.calls - open.calls;
  const hasTokens = judge_tokens_per_day === null || held.tokens - spent.tokens - open.tokens > 0;
  return hasTokens ? calls : 0;
}

function hasRoom(lease: Lease): boolean {
  return roomOf(lease) >= 1;
}

/** Whether less than half of the usual part is left. */
function isLow(lease: Lease, desks: number): boolean {
  const { budgets, held, spent, open } = lease;
  const size = sizeOf(budgets, desks);
  if (size.calls <= 1 && size.tokens <= 1) return false;
  return (
    (budgets.judge_calls_per_day !== null && held.calls - spent.calls - open.calls < size.calls / 2) ||
    (budgets.judge_tokens_per_day !== null && held.tokens - spent.tokens - open.tokens < size.tokens / 2)
  );
}

/** How much a desk reserves at a time; nothing of what has no limit. */
function sizeOf({ judge_calls_per_day, judge_tokens_per_day }: Budgets, desks: number): BudgetAmounts {
  const share = (limit: number | null, most: number): number =>
    limit === null ? 0 : Math.max(1, Math.min(most, Math.floor((limit * LEASED_SHARE) / desks)));
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
    detail: `the project has used or reserved ${amount} of its budget ${name} of ${limit}; it renews at ${renews_at}`,
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
