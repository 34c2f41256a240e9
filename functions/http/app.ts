/**
 * The Hono app: middleware, route groups, and the two places where failures end. Order matters: everything is observed,
 * and everything but public paths is authenticated before a route is looked for.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { PlatformFactory } from '../platform.ts';
import { ADAPTER_RETRY_WINDOW_MS } from './adapters/adapter-scoring.ts';
import { adapterRoutes } from './adapters/routes.ts';
import { agentRoutes } from './agent.ts';
import { authenticate } from './auth.ts';
import { batchRoutes } from './batches.ts';
import { discardUnread } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { fileRoutes } from './files.ts';
import { healthRoutes } from './health.ts';
import { judgmentRoutes } from './judgments.ts';
import { observe } from './observe.ts';
import { openApiRoutes } from './openapi.ts';
import { failureOf, problemResponse } from './problems.ts';
import { recipeRoutes } from './recipes.ts';
import { refineRoutes } from './refine.ts';
import { replayRoutes } from './replay.ts';
import { runFileRoutes } from './run-files.ts';
import { runRoutes } from './runs.ts';
import { scoreRoutes } from './score.ts';
import { uploadRoutes } from './uploads.ts';
import { verifyRoutes } from './verify.ts';
import { verifyStreamRoutes } from './verify-stream.ts';
import { webhookScoreRoutes } from './webhook-score.ts';
import { webhookRoutes } from './webhooks.ts';

export type AppOptions = {
  /** How long adapters retry short failures for trainers that hardly retry. Default: what leaves a judge its deadline. */
  readonly adapterRetryWindowMs?: number;
};

/** Builds the app, once per isolate. */
export function createApp(platforms: PlatformFactory, options: AppOptions = {}): Hono<AppEnvironment> {
  const { adapterRetryWindowMs = ADAPTER_RETRY_WINDOW_MS } = options;
  const app = new Hono<AppEnvironment>();
  app.use(observe);
  app.use(async function discardRefused(c, next) {
    await next();
    if (c.res.status >= 400) await discardUnread(c.req.raw);
  });
  app.use(authenticate(platforms));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, allow) =>
        problemResponse({ reason: 'method_not_allowed', allow }, c.get('requestId'), c.req.path),
    }),
  );
  app.route('/', healthRoutes);
  app.route('/', openApiRoutes);
  app.route('/', verifyRoutes);
  app.route('/', verifyStreamRoutes);
  app.route('/', recipeRoutes);
  app.route('/', scoreRoutes);
  app.route('/', refineRoutes);
  app.route('/', agentRoutes);
  app.route('/', adapterRoutes(adapterRetryWindowMs));
  app.route('/', replayRoutes);
  app.route('/', runRoutes);
  app.route('/', runFileRoutes);
  app.route('/', judgmentRoutes);
  app.route('/', fileRoutes);
  app.route('/', uploadRoutes);
  app.route('/', batchRoutes);
  app.route('/', webhookRoutes);
  app.route('/', webhookScoreRoutes);

  app.notFound((c) => problemResponse({ reason: 'route_unknown' }, c.get('requestId'), c.req.path));
  app.onError((error, c) => problemResponse(failureOf(error), c.get('requestId'), c.req.path));
  return app;
}
