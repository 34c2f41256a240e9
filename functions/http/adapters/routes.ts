/** `/v1/adapters/*`: drop-in reward servers, one file a trainer. */
import { Hono } from 'hono';
import type { AppEnvironment } from '../context.ts';
import type { ScoringPlatformOf } from '../scoring-platform.ts';
import { longTraceRlRoutes } from './longtracerl.ts';
import { nemoGymRoutes } from './nemo-gym.ts';
import { openRlhfRoutes } from './openrlhf.ts';
import { slimeRoutes } from './slime.ts';

export function adapterRoutes(platformOf: ScoringPlatformOf): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>()
    .route('/', slimeRoutes(platformOf))
    .route('/', longTraceRlRoutes(platformOf))
    .route('/', openRlhfRoutes(platformOf))
    .route('/', nemoGymRoutes(platformOf));
}
