/**
 * The Hono app: middleware, routes, and the two handlers that turn failures into replies. The order matters: every
 * request is logged, and every request outside the public paths is authenticated before a route is matched.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { failureOf } from '../service/problems.ts';
import {
  MAX_ARRIVING_BYTES,
  MAX_BODY_BYTES_IN_FLIGHT,
  MAX_CLAIMS_IN_FLIGHT,
  MAX_STREAM_BYTES,
  MAX_UNSIGNED_BYTES,
} from '../src/limits.ts';
import { ADAPTER_RETRY_WINDOW_MS } from './http/adapters/adapter-scoring.ts';
import { adapterRoutes } from './http/adapters/routes.ts';
import { auditAdminUse } from './http/audit.ts';
import { authenticate } from './http/auth.ts';
import { discardUnread } from './http/body.ts';
import { STALL_MS } from './http/body-reader.ts';
import { graderRoutes } from './http/compat/graders.ts';
import { compatRoutes } from './http/compat/routes.ts';
import type { AppEnvironment } from './http/context.ts';
import { mcpRoutes } from './http/mcp/routes.ts';
import { observe } from './http/observe.ts';
import { problemResponse } from './http/problem-response.ts';
import { agentRoutes } from './http/routes/agent.ts';
import { apiKeyRoutes } from './http/routes/api-keys.ts';
import { batchRoutes } from './http/routes/batches.ts';
import { documentRoutes } from './http/routes/documents.ts';
import { fileRoutes } from './http/routes/files.ts';
import { healthRoutes } from './http/routes/health.ts';
import { judgmentRoutes } from './http/routes/judgments.ts';
import { makeRubricsRoutes } from './http/routes/make-rubrics.ts';
import { metricsRoutes } from './http/routes/metrics.ts';
import { probeRoutes } from './http/routes/probe.ts';
import { projectRoutes } from './http/routes/projects.ts';
import { refineRoutes } from './http/routes/refine.ts';
import { replayRoutes } from './http/routes/replay.ts';
import { runFileRoutes } from './http/routes/run-files.ts';
import { runRubricRoutes } from './http/routes/run-rubrics.ts';
import { runRoutes } from './http/routes/runs.ts';
import { scoreRoutes } from './http/routes/score.ts';
import { uploadRoutes } from './http/routes/uploads.ts';
import { verifyRoutes } from './http/routes/verify.ts';
import { webhookRoutes, webhookScoreRoutes } from './http/routes/webhooks.ts';
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

/** Builds the app, once per isolate. */
export function createApp(platforms: PlatformFactory, options: AppOptions = {}): Hono<AppEnvironment> {
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
  const app = new Hono<AppEnvironment>();
  app.use(observe);
  app.use(async function beginLeases(c, next) {
    const { signal } = c.req.raw;
    const leases = [bodies.begin(signal), arriving.begin(signal), claims.begin(signal)] as const;
    c.set('bodyLease', leases[0]);
    c.set('arrivingLease', leases[1]);
    c.set('claimLease', leases[2]);
    c.set('unsigned', unsigned);
    c.set('streams', streams);
    c.set('bodyStallMs', bodyStallMs);
    try {
      await next();
    } finally {
      for (const lease of leases) lease.end();
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
  app.route('/', healthRoutes);
  app.route('/', metricsRoutes);
  app.route('/', documentRoutes);
  app.route('/', verifyRoutes);
  app.route('/', scoreRoutes);
  app.route('/', makeRubricsRoutes);
  app.route('/', probeRoutes);
  app.route('/', refineRoutes);
  app.route('/', agentRoutes);
  app.route('/', adapterRoutes(adapterRetryWindowMs));
  app.route('/', compatRoutes);
  app.route('/', graderRoutes);
  app.route('/', replayRoutes);
  app.route('/', runRoutes);
  app.route('/', runFileRoutes);
  app.route('/', runRubricRoutes);
  app.route('/', judgmentRoutes);
  app.route('/', fileRoutes);
  app.route('/', uploadRoutes);
  app.route('/', batchRoutes);
  app.route('/', webhookRoutes);
  app.route('/', webhookScoreRoutes);
  app.route('/', apiKeyRoutes);
  app.route('/', projectRoutes);
  app.route(
    '/',
    mcpRoutes(async (request, environment, context) => app.fetch(request, environment, context)),
  );

  app.notFound((c) => problemResponse({ reason: 'route_unknown' }, c.get('requestId'), c.req.path));
  app.onError((error, c) => problemResponse(failureOf(error), c.get('requestId'), c.req.path));
  return app;
}
