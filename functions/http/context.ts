/** The context of one request in the Hono app: its variables, and the ports of its deployment. */

import type { Context as HonoContext } from 'hono';
import { RequestError } from '../../service/failures.ts';
import type { Grounded } from '../../service/ground.ts';
import type { Probed } from '../../service/probe.ts';
import type { JudgedReply, ScoringReply } from '../../service/score.ts';
import type { ObtainedJudgment } from '../../src/judgments/obtain.ts';
import type { Compared } from '../../src/scoring/compare.ts';
import type { Grounding } from '../../src/scoring/grounding.ts';
import type { ScoredRollout } from '../../src/scoring/score-rollouts.ts';
import type { RateTier, Scope } from '../../src/wire/api-keys.ts';
import type { Environment, Settings } from '../environment.ts';
import type { Lease, Leases } from '../leases.ts';
import type { Lookups } from '../lookups.ts';
import { isolateCounts } from '../metrics/counts.ts';
import type { Platform, PlatformFactory, Stores } from '../platform.ts';
import type { Payer } from '../projects/budgets.ts';
import type { KnownKeys } from '../projects/known-keys.ts';

/** The authenticated caller: an API key, a webhook endpoint, or `anonymous`. */
export type Principal = {
  readonly name: string;
  /** `key_…` of a stored key, `setting:NAME` of a key in API_KEYS, `whe_…` of an endpoint, or `anonymous`. */
  readonly id: string;
  /** The project whose data the caller sees. */
  readonly project: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly tier: RateTier;
  /** When the key expires, in milliseconds since 1970; `null` = never. */
  readonly expires_at: number | null;
  /** Whether the caller may act for all projects: it has a key of API_KEYS, or no key is needed. */
  readonly isOperator: boolean;
};

/** Durations of I/O phases, in milliseconds, for `Server-Timing`. */
export type PhaseTimings = { [phase in 'body' | 'generate' | 'store_read' | 'judge' | 'store_write']?: number };

/** The run and groups that a trainer's request names, for the log. Group names are digests. */
type NamedRun = { readonly run: string; readonly groups: readonly string[] };

export type AppEnvironment = {
  Bindings: Environment;
  Variables: {
    requestId: string;
    /** `null` before authentication, and on public routes. */
    principal: Principal | null;
    settings: Settings;
    platforms: PlatformFactory;
    phases: PhaseTimings;
    /**
     * Ends the leases of this request when its connection breaks. Call it before work that waits with a lease: the
     * signal of a request costs more than a small verification's body, and work that does not wait cannot be dropped.
     */
    followCaller: () => void;
    /** Reserves the bytes of this request's body, once it is complete. */
    bodyLease: Lease;
    /** Reserves what has arrived of this request's body, until it is complete or passed on. */
    arrivingLease: Lease;
    /** The bodies that cannot be trusted before they are complete: those of signed requests. */
    unsigned: Leases;
    /** The texts of streamed verifications: an idle stream takes no room from bodies. */
    streams: Leases;
    /** How long a piece of a body may take, in milliseconds. */
    bodyStallMs: number;
    /** How long the adapters of OpenRLHF and NeMo Gym, whose clients hardly retry, retry short failures. */
    adapterRetryWindowMs: number;
    /** Reserves the claims of this request's answers. */
    claimLease: Lease;
    /** Judgments of this request that the store failed to read or write. */
    storeProblems: number;
    /** The stored keys that the isolate has seen. */
    knownKeys: KnownKeys;
    /** Bounds what callers who are not known yet look up. */
    lookups: Lookups;
    /** Whether the request uses a route of the scope `admin`, allowed or not. */
    isAdminUse: boolean;
    /** `null` = the request names no run. */
    namedRun: NamedRun | null;
  };
};

export type Context = HonoContext<AppEnvironment>;

/** The caller of a route that is not public. */
export function callerOf(c: Context): Principal {
  const principal = c.get('principal');
  if (principal === null) throw new Error('callerOf: the route is public');
  return principal;
}

/** The project of the caller. */
export function projectOf(c: Context): string {
  return callerOf(c).project;
}

/** The caller's project as the one that pays for judge calls. */
function payerOf(c: Context): Payer {
  return { project: projectOf(c), budgets: c.get('settings').budgets };
}

/** The stores of the caller's project. Verification uses none, so they are created on demand. */
export function storesOf(c: Context): Stores {
  c.get('followCaller')();
  return c.get('platforms').createStores(c.env, c.get('settings'), { payer: payerOf(c) });
}

/** The ports for scoring while the caller waits. @throws RequestError if a setting is malformed. */
export async function platformOf(c: Context): Promise<Platform> {
  c.get('followCaller')();
  const platform = await c.get('platforms').createPlatform(c.env, { callClass: 'live', payer: payerOf(c) });
  if (!platform.ok) throw new RequestError(platform.error);
  return platform.value;
}

/** Unwraps a scoring reply and notes its timings and store problems for the log. @throws RequestError if it failed. */
export function succeeded<T extends ScoredRollout | readonly ScoredRollout[]>(c: Context, scored: ScoringReply<T>): T {
  const reply = unwrapped(c, scored);
  const members: readonly ScoredRollout[] = 'reply' in reply ? [reply] : reply;
  for (const { score } of members)
    isolateCounts.count('citeward_rollouts', [score.reward === null ? 'unscored' : 'scored']);
  noteStoreProblems(
    c,
    members.flatMap(({ obtained }) => obtained),
  );
  return reply;
}

/** Unwraps the reply of a comparison, like `succeeded`. @throws RequestError if it failed. */
export function compared(c: Context, reply: JudgedReply<Compared>): Compared {
  const value = unwrapped(c, reply);
  noteStoreProblems(
    c,
    value.pairs.flatMap(({ orders }) => orders.map(({ obtained }) => obtained)),
  );
  return value;
}

/** Unwraps the reply of a probe, like `succeeded`. @throws RequestError if it failed. */
export function probed(c: Context, reply: JudgedReply<Probed>): Probed {
  const value = unwrapped(c, reply);
  noteStoreProblems(c, value.obtained);
  return value;
}

/** Unwraps the reply of a check against sources, like `succeeded`. @throws RequestError if it failed. */
export function grounded(c: Context, reply: JudgedReply<Grounded>): Grounding {
  const { grounding, judgments } = unwrapped(c, reply);
  noteStoreProblems(c, judgments);
  return grounding;
}

function unwrapped<T>(c: Context, reply: JudgedReply<T>): T {
  if (reply.timings !== null) Object.assign(c.get('phases'), reply.timings);
  if (!reply.ok) throw new RequestError(reply.failure);
  return reply.reply;
}

/** Counts the judgments that the store failed to read or write, for the log. */
export function noteStoreProblems(c: Context, judgments: readonly ObtainedJudgment[]): void {
  c.set('storeProblems', judgments.filter(({ storeProblem }) => storeProblem !== null).length);
}
