/** `GET /metrics`: the figures of the deployment, for Prometheus. Needs a key with the scope `metrics`. */
import { Hono } from 'hono';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { OPEN_METRICS_MEDIA } from '../../metrics/open-metrics.ts';
import { metricsPage } from '../../metrics-page.ts';
import { requireScope } from '../auth.ts';
import { readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';

export const metricsRoutes = new Hono<AppEnvironment>().get('/metrics', requireScope('metrics'), async (c) => {
  readQuery(c, emptyQuerySchema);
  return c.body(await metricsPage(c.env, c.get('settings')), 200, { 'content-type': OPEN_METRICS_MEDIA });
});
