/** What travels with one request through the Hono app. */
import type { Context as HonoContext } from 'hono';
import type { Scope } from '../../src/wire/api-keys.ts';
import type { Environment, Settings } from '../environment.ts';

/** Who asks: a configured key, or anyone where that is allowed. */
export type Principal = { readonly name: string; readonly scopes: ReadonlySet<Scope> };

/** Durations of I/O phases, in milliseconds, for `Server-Timing`. */
export type PhaseTimings = { [phase in 'body' | 'generate' | 'store_read' | 'judge' | 'store_write']?: number };

/** What the caller calls the run that a request belongs to, for the log. Digests are no content. */
export type NamedRun = { readonly run: string; readonly groups: readonly string[] };

export type AppEnvironment = {
  Bindings: Environment;
  Variables: {
    requestId: string;
    /** `null` until the request is authenticated, and on public routes. */
    principal: Principal | null;
    settings: Settings;
    phases: PhaseTimings;
    /** Judgments of this request that the store could not serve or keep. */
    storeProblems: number;
    /** `null` where the request names no run. */
    namedRun: NamedRun | null;
  };
};

export type Context = HonoContext<AppEnvironment>;
