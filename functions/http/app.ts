/**
 * The Hono app: middleware, route groups, and the two places where failures end. Order matters: everything is observed,
 * and everything but public paths is authenticated before a route is looked for.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { createSettingsReader, type Environment, reportProblem } from '../environment.ts';
import { adapterRoutes } from './adapters/routes.ts';
import { agentRoutes } from './agent.ts';
import { authenticate } from './auth.ts';
import { batchRoutes } from './batches.ts';
import { discardUnread } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { failureOf, problemResponse } from './errors.ts';
import { fileRoutes } from './files.ts';
import { healthRoutes } from './health.ts';
import { judgmentRoutes } from './judgments.ts';
import { observe } from './observe.ts';
import { openApiRoutes } from './openapi.ts';
import { recipeRoutes } from './recipes.ts';
import { refineRoutes } from './refine.ts';
import { replayRoutes } from './replay.ts';
import { runFileRoutes } from './run-files.ts';
import { runRoutes } from './runs.ts';
import { scoreRoutes } from './score.ts';
import { createScoringPlatform } from './scoring-platform.ts';
import { uploadRoutes } from './uploads.ts';
import { verifyRoutes } from './verify.ts';
import { verifyStreamRoutes } from './verify-stream.ts';
import { webhookScoreRoutes } from './webhook-score.ts';
import { webhookRoutes } from './webhooks.ts';

export type AppOptions = {
  /** The judgment store of an environment. */
  readonly judgmentStoreOf: (environment: Environment) => JudgmentStore;
};

/** Builds the app once an isolate. */
export function createApp(options: AppOptions): Hono<AppEnvironment> {
  const settingsOf = createSettingsReader(reportProblem);
  const app = new Hono<AppEnvironment>();
  app.use(observe);
  app.use(async function discardRefused(c, next) {
    await next();
    if (c.res.status >= 400) await discardUnread(c.req.raw);
  });
  app.use(authenticate(settingsOf));
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
  const platformOf = createScoringPlatform(options.judgmentStoreOf);
  app.route('/', scoreRoutes(platformOf));
  app.route('/', refineRoutes(platformOf));
  app.route('/', agentRoutes(platformOf));
  app.route('/', adapterRoutes(platformOf));
  app.route('/', replayRoutes(platformOf));
  app.route('/', runRoutes);
  app.route('/', runFileRoutes(options.judgmentStoreOf));
  app.route('/', judgmentRoutes(options.judgmentStoreOf));
  app.route('/', fileRoutes);
  app.route('/', uploadRoutes);
  app.route('/', batchRoutes);
  app.route('/', webhookRoutes);
  app.route('/', webhookScoreRoutes);

  app.notFound((c) => problemResponse({ reason: 'route_unknown' }, c.get('requestId'), c.req.path));
  app.onError((error, c) => problemResponse(failureOf(error), c.get('requestId'), c.req.path));
  return app;
}
