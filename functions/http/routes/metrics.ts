/** `GET /metrics`: the figures of the deployment, for Prometheus. Needs a key with the scope `metrics`. */

import { OPEN_METRICS_MEDIA } from '../../metrics/open-metrics.ts';
import { metricsPage } from '../../metrics-page.ts';
import type { Handlers } from '../handlers.ts';

export const metricsHandlers = {
  'GET /metrics': async (c) => {
    return c.body(await metricsPage(c.env, c.get('settings')), 200, { 'content-type': OPEN_METRICS_MEDIA });
  },
} satisfies Partial<Handlers>;
