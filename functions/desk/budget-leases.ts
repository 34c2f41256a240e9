/**
 * Counts the judge calls of a desk by project, and holds them to the daily budgets. The desk reserves a part of a
 * budget in D1 and counts within it, so most calls ask nobody, and all desks together never exceed the budget of calls.
 * Every few seconds it tells D1 what was used, reads the budgets again, and gives back what it has not used.
 */

import { StorageError } from '../../service/storage-error.ts';
import type { JudgeFailure } from '../../src/judgments/protocol/failure.ts';
import type { Failed } from '../../src/result.ts';
import { DEFAULT_PROJECT } from '../../src/wire/api-keys.ts';
import { type Budgets, dayOf, type Payer, renewalAfter } from '../projects/budgets.ts';
import type { BudgetAmounts, ProjectTable } from '../projects/project-table.ts';

/** All desks together may hold this share of a budget that they have not used. */
const LEASED_SHARE = 1 / 16;
const MAX_LEASED_CALLS = 1_000;
const MAX_LEASED_TOKENS = 5_000_000;
/** How long budgets count as they were read, and how long a refusal lasts: a change takes effect within this time. */
const FRESH_MS = 5_000;
/** D1 is told more often than that, so that no call waits while others run. */
const REPORT_MS = 4_000;

export type LeaseParts = {
  readonly table: Pick<ProjectTable, 'exchange'>;
  /** A clock in milliseconds since 1970. */
  readonly now: () => number;
  readonly reportMs?: number | undefined;
};

/** The permission for one call. Exactly one of the two methods is called, once. */
export type Allowance = {
  /** The call was made. @param tokens of prompt and reply; 0 = unknown. */
  readonly spend: (tokens: number) => void;
  /** The call was not made. */
  readonly cancel: () => void;
};

type Admission = { readonly ok: true; readonly allowance: Allowance } | Failed<JudgeFailure>;

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
  /** Whether it was used since the last report. */
  isUsed: boolean;
  isWatched: boolean;
  /** The exchange with D1 that runs. */
  exchange: Promise<void> | null;
  /** Whether it gives everything back, so that no call may use it. */
  isEnding: boolean;
  /** Until when nothing is asked, because the last exchange brought no room; and all that is used or reserved. */
  refused: { readonly until: number; readonly total: BudgetAmounts } | null;
};

/** What an exchange with D1 does besides telling what was used: it reserves, keeps what there is, or gives all back. */
type Aim = 'reserve' | 'keep' | 'end';

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
        const { refused } = lease;
        if (refused !== null && refused.until > this.#now()) {
          return { ok: false, failure: usedUp(lease.budgets, refused.total, this.#now()) };
        }
      }
      try {
        // Other calls may take what an exchange brings.
        await this.#exchange(lease, payer, desks, 'reserve');
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (!this.#isKnown(lease) || !hasRoom(lease)) return { ok: false, failure: BUDGET_UNREADABLE };
        // While D1 fails, the budgets count as they were read, and a reservation may be used.
        lease.read_at = this.#now();
      }
    }
    lease.isUsed = true;
    lease.open.calls++;
    lease.open.tokens += tokens;
    const isRefused = lease.refused !== null && lease.refused.until > this.#now();
    if (isLow(lease, desks) && !isRefused) void this.#exchangeLater(lease, payer, desks, 'reserve');
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
      isUsed: false,
      isWatched: false,
      exchange: null,
      isEnding: false,
      refused: null,
    };
    this.#leases.set(name, lease);
    return lease;
  }

  /** The budgets of the project `default` are settings, which need not be read. */
  #isKnown({ project, read_at }: Lease): boolean {
    return project === DEFAULT_PROJECT || read_at > Number.NEGATIVE_INFINITY;
  }

  #isFresh(lease: Lease): boolean {
    const isUnlimited = roomOf(lease) === Number.POSITIVE_INFINITY;
    if (lease.project === DEFAULT_PROJECT && isUnlimited) return true;
    return lease.read_at + FRESH_MS > this.#now();
  }

  /** One exchange of a lease at a time. */
  #exchange(lease: Lease, payer: Payer, desks: number, aim: Aim): Promise<void> {
    if (lease.exchange !== null) return lease.exchange;
    lease.isEnding = aim === 'end';
    const exchange = this.#exchangeNow(lease, payer, desks, aim).finally(() => {
      lease.exchange = null;
      lease.isEnding = false;
    });
    lease.exchange = exchange;
    return exchange;
  }

  async #exchangeNow(lease: Lease, { budgets: usual }: Payer, desks: number, aim: Aim): Promise<void> {
    for (;;) {
      const { project, day, budgets, held, open } = lease;
      const spent = { ...lease.spent };
      const size = aim === 'end' ? { calls: 0, tokens: 0 } : sizeOf(budgets, desks);
      const most = aim === 'keep' ? held : { calls: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };
      const target = {
        calls: Math.min(open.calls + size.calls, Math.max(0, most.calls - spent.calls)),
        tokens: Math.min(open.tokens + size.tokens, Math.max(0, most.tokens - spent.tokens)),
      };
      const { own, reserved, total } = await this.#table.exchange(project, day, { budgets, held, spent, open, target });
      lease.spent.calls -= spent.calls;
      lease.spent.tokens -= spent.tokens;
      Object.assign(held, reserved);
      const current = own ?? usual;
      const isChanged =
        current.judge_calls_per_day !== budgets.judge_calls_per_day ||
        current.judge_tokens_per_day !== budgets.judge_tokens_per_day;
      lease.budgets = current;
      // The target was a part of other budgets.
      if (isChanged && aim !== 'end') continue;
      lease.read_at = this.#now();
      if (hasRoom(lease)) lease.refused = null;
      else if (aim === 'reserve') lease.refused = { until: lease.read_at + FRESH_MS, total };
      return;
    }
  }

  /** The same for no call in particular. The storage logs a failure; the next report or call asks again. */
  async #exchangeLater(lease: Lease, payer: Payer, desks: number, aim: Aim): Promise<void> {
    try {
      await this.#exchange(lease, payer, desks, aim);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  #allowance(lease: Lease, estimate: number): Allowance {
    const settle = (): void => {
      lease.open.calls--;
      lease.open.tokens -= estimate;
      lease.isUsed = true;
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

  /** Reports until the project has not been used for a while; then gives its reservation back and forgets it. */
  #watch(lease: Lease, payer: Payer, desks: number): void {
    if (lease.isWatched) return;
    lease.isWatched = true;
    setTimeout(async () => {
      const { held, spent, open } = lease;
      const isIdle = open.calls === 0 && (!lease.isUsed || isNothing(held));
      lease.isUsed = false;
      const hasNews = !isNothing(spent) || (isIdle && !isNothing(held));
      if (hasNews) await this.#exchangeLater(lease, payer, desks, isIdle ? 'end' : 'keep');
      lease.isWatched = false;
      const isOver = isIdle && !lease.isUsed && isNothing(held) && isNothing(spent) && lease.exchange === null;
      if (isOver) this.#leases.delete(nameOf(lease.project, lease.day));
      else this.#watch(lease, payer, desks);
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
