/**
 * The Hono app: middleware, route groups, and the two places where failures end. Order matters: everything is observed,
 * and everything but public paths is authenticated before a route is looked for.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { createSettingsReader, type Environment } from '../environment.ts';
import { authenticate } from './auth.ts';
import { discardUnread } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { problemResponse, RequestError, type RequestFailure } from './errors.ts';
import { healthRoutes } from './health.ts';
import { judgmentRoutes } from './judgments.ts';
import { observe } from './observe.ts';
import { openApiRoutes } from './openapi.ts';
import { scoreRoutes } from './score.ts';
import { verifyRoutes } from './verify.ts';

export type AppOptions = {
  /** The judgment store of an environment. */
  readonly judgmentStoreOf: (environment: Environment) => JudgmentStore;
};

/** Builds the app once an isolate. */
export function createApp(options: AppOptions): Hono<AppEnvironment> {
  const settingsOf = createSettingsReader(({ setting, problems }) => {
    console.error(JSON.stringify({ event: 'config_invalid', setting, problems }));
  });
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
      onMethodNotAllowed: (c, allow) => problemResponse({ reason: 'method_not_allowed', allow }, c.get('requestId')),
    }),
  );
  app.route('/', healthRoutes);
  app.route('/', openApiRoutes);
  app.route('/', verifyRoutes);
  app.route('/', scoreRoutes(options.judgmentStoreOf));
  app.route('/', judgmentRoutes(options.judgmentStoreOf));

  app.notFound((c) => problemResponse({ reason: 'route_unknown' }, c.get('requestId')));
  app.onError((error, c) => {
    const failure: RequestFailure = error instanceof RequestError ? error.failure : { reason: 'internal' };
    return problemResponse(failure, c.get('requestId'));
  });
  return app;
}
