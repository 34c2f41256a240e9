/**
 * The Hono app: middleware, routes, and the two handlers that turn failures into replies. The order matters: every
 * request is logged, and every request outside the public paths is authenticated before a route is matched.
 */
import { HonoBase } from 'hono/hono-base';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { TrieRouter } from 'hono/router/trie-router';
import { failureOf } from '../service/problems.ts';
import {
  MAX_ARRIVING_BYTES,
  MAX_BODY_BYTES_IN_FLIGHT,
  MAX_CLAIMS_IN_FLIGHT,
  MAX_STREAM_BYTES,
  MAX_UNSIGNED_BYTES,
} from '../src/limits.ts';
import { reportRefusals } from './http/adapters/adapter-request.ts';
import { ADAPTER_RETRY_WINDOW_MS } from './http/adapters/adapter-scoring.ts';
import { longTraceRlHandlers } from './http/adapters/longtracerl.ts';
import { nemoGymHandlers } from './http/adapters/nemo-gym.ts';
import { openRlhfHandlers } from './http/adapters/openrlhf.ts';
import { slimeHandlers } from './http/adapters/slime.ts';
import { auditAdminUse } from './http/audit.ts';
import { authenticate } from './http/auth.ts';
import { discardUnread } from './http/body.ts';
import { STALL_MS } from './http/body-reader.ts';
import { graderHandlers } from './http/compat/graders.ts';
import { compatHandlers } from './http/compat/routes.ts';
import type { AppEnvironment } from './http/context.ts';
import { addRoutes, type Handlers } from './http/handlers.ts';
import { mcpRoutes } from './http/mcp/routes.ts';
import { observe } from './http/observe.ts';
import { problemResponse } from './http/problem-response.ts';
import { agentHandlers } from './http/routes/agent.ts';
import { apiKeyHandlers } from './http/routes/api-keys.ts';
import { batchHandlers } from './http/routes/batches.ts';
import { documentHandlers } from './http/routes/documents.ts';
import { fileHandlers } from './http/routes/files.ts';
import { healthHandlers } from './http/routes/health.ts';
import { judgmentHandlers } from './http/routes/judgments.ts';
import { makeRubricsHandlers } from './http/routes/make-rubrics.ts';
import { metricsHandlers } from './http/routes/metrics.ts';
import { probeHandlers } from './http/routes/probe.ts';
import { projectHandlers } from './http/routes/projects.ts';
import { refineHandlers } from './http/routes/refine.ts';
import { replayHandlers } from './http/routes/replay.ts';
import { runFileHandlers } from './http/routes/run-files.ts';
import { runRubricHandlers } from './http/routes/run-rubrics.ts';
import { runHandlers } from './http/routes/runs.ts';
import { scoreHandlers } from './http/routes/score.ts';
import { uploadHandlers } from './http/routes/uploads.ts';
import { verifyHandlers } from './http/routes/verify.ts';
import { webhookHandlers } from './http/routes/webhooks.ts';
import { Leases } from './leases.ts';
import type { PlatformFactory } from './platform.ts';

export type AppOptions = {
  /**
   * How long the adapters of OpenRLHF and NeMo Gym retry a failed scoring, in milliseconds, because those trainers
   * hardly retry. Default: ADAPTER_RETRY_WINDOW_MS.
   */
  readonly adapterRetryWindowMs?: number;
  /** Bytes of bodies that the isolate holds at a time. Default: MAX_BODY_BYTES_IN_FLIGHT. */
  readonly maxBodyBytesInFlight?: number;
  /** Bytes of bodies that are still arriving. Default: MAX_ARRIVING_BYTES. */
  readonly maxArrivingBytes?: number;
  /** Bytes of streamed verifications that the isolate holds at a time. Default: MAX_STREAM_BYTES. */
  readonly maxStreamBytes?: number;
  /** How long 64 KB of a body may take. Default: STALL_MS. */
  readonly bodyStallMs?: number;
  /** Claims that the isolate holds at a time. Default: MAX_CLAIMS_IN_FLIGHT. */
  readonly maxClaimsInFlight?: number;
};

/** Longer than any scoring: its deadline is 95 s, and recording follows. */
const LEASE_MS = 150_000;

/** Longer than a piece of a body takes, or its way to a store. */
const ARRIVAL_LEASE_MS = 30_000;

/** What answers each route: without a handler for each of them, this does not compile. */
const HANDLERS: Handlers = {
  ...healthHandlers,
  ...metricsHandlers,
  ...documentHandlers,
  ...verifyHandlers,
  ...scoreHandlers,
  ...makeRubricsHandlers,
  ...probeHandlers,
  ...refineHandlers,
  ...agentHandlers,
  ...slimeHandlers,
  ...longTraceRlHandlers,
  ...openRlhfHandlers,
  ...nemoGymHandlers,
  ...compatHandlers,
  ...graderHandlers,
  ...replayHandlers,
  ...runHandlers,
  ...runFileHandlers,
  ...runRubricHandlers,
  ...judgmentHandlers,
  ...fileHandlers,
  ...uploadHandlers,
  ...batchHandlers,
  ...webhookHandlers,
  ...apiKeyHandlers,
  ...projectHandlers,
};

/** Builds the app, once per isolate. */
export function createApp(platforms: PlatformFactory, options: AppOptions = {}): HonoBase<AppEnvironment> {
  const {
    adapterRetryWindowMs = ADAPTER_RETRY_WINDOW_MS,
    maxBodyBytesInFlight = MAX_BODY_BYTES_IN_FLIGHT,
    maxArrivingBytes = MAX_ARRIVING_BYTES,
    maxStreamBytes = MAX_STREAM_BYTES,
    bodyStallMs = STALL_MS,
    maxClaimsInFlight = MAX_CLAIMS_IN_FLIGHT,
  } = options;
  const now = (): number => Date.now();
  const bodies = new Leases({ limit: maxBodyBytesInFlight, leaseMs: LEASE_MS }, now);
  const arriving = new Leases({ limit: maxArrivingBytes, leaseMs: ARRIVAL_LEASE_MS }, now);
  const unsigned = new Leases({ limit: MAX_UNSIGNED_BYTES, leaseMs: ARRIVAL_LEASE_MS }, now);
  const streams = new Leases({ limit: maxStreamBytes, leaseMs: LEASE_MS }, now);
  const claims = new Leases({ limit: maxClaimsInFlight, leaseMs: LEASE_MS }, now);
  // The only router of the bundle: it knows every kind of path, and `methodNotAllowed` needs it.
  const app = new HonoBase<AppEnvironment>({ router: new TrieRouter() });
  app.use(observe);
  app.use(async function beginLeases(c, next) {
    const leases = [bodies.begin(), arriving.begin(), claims.begin()] as const;
    const end = (): void => {
      for (const lease of leases) lease.end();
    };
    let follows = false;
    c.set('followCaller', () => {
      if (follows) return;
      follows = true;
      const { signal } = c.req.raw;
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
    c.set('bodyLease', leases[0]);
    c.set('arrivingLease', leases[1]);
    c.set('claimLease', leases[2]);
    c.set('unsigned', unsigned);
    c.set('streams', streams);
    c.set('bodyStallMs', bodyStallMs);
    c.set('adapterRetryWindowMs', adapterRetryWindowMs);
    try {
      await next();
    } finally {
      end();
    }
  });
  app.use(async function discardRefused(c, next) {
    await next();
    if (c.res.status >= 400) await discardUnread(c.req.raw, c.get('principal') !== null);
  });
  app.use(auditAdminUse);
  app.use(authenticate(platforms));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, allow) =>
        problemResponse({ reason: 'method_not_allowed', allow }, c.get('requestId'), c.req.path),
    }),
  );
  app.use('/v1/adapters/:adapter/*', reportRefusals);
  addRoutes(app, HANDLERS);
  app.route(
    '/',
    mcpRoutes(async (request, environment, context) => app.fetch(request, environment, context)),
  );

  app.notFound((c) => problemResponse({ reason: 'route_unknown' }, c.get('requestId'), c.req.path));
  app.onError((error, c) => problemResponse(failureOf(error), c.get('requestId'), c.req.path));
  return app;
}
