/** `/v1/adapters/*`: drop-in reward servers, one file per trainer. */
import { Hono } from 'hono';
import type { AppEnvironment } from '../context.ts';
import { longTraceRlRoutes } from './longtracerl.ts';
import { nemoGymRoutes } from './nemo-gym.ts';
import { openRlhfRoutes } from './openrlhf.ts';
import { slimeRoutes } from './slime.ts';

/**
 * @param retryWindowMs how long the adapters of OpenRLHF and NeMo Gym, whose clients hardly retry, retry short
 *   failures.
 */
export function adapterRoutes(retryWindowMs: number): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>()
    .route('/', slimeRoutes)
    .route('/', longTraceRlRoutes)
    .route('/', openRlhfRoutes(retryWindowMs))
    .route('/', nemoGymRoutes(retryWindowMs));
}
