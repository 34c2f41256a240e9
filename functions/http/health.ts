/** `GET /healthz` (up; public) and `GET /readyz` (what would work; any key). */
import { Hono } from 'hono';
import type { Readiness } from '../../src/schema/health.ts';
import { emptyQuerySchema } from '../../src/schema/query.ts';
import { type Backends, configuredBackends } from '../backends/configured.ts';
import { readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';

export const healthRoutes = new Hono<AppEnvironment>()
  .get('/healthz', (c) => c.json({ status: 'ok' }))
  .get('/readyz', async (c) => {
    readQuery(c, emptyQuerySchema);
    const readiness = await readinessOf(configuredBackends(c.get('settings')));
    return c.json(readiness, readiness.status === 'ready' ? 200 : 503);
  });

async function readinessOf(backends: Backends): Promise<Readiness> {
  const judges = await Promise.all(
    backends.named.map(async ({ judge, health }) => ({
      name: judge.name,
      model: judge.identity.model,
      ...(await health()),
    })),
  );
  const defaultName = backends.default?.judge.name ?? null;
  const reachable = judges.some(({ name, reachable }) => name === defaultName && reachable);
  const reason = defaultName === null ? 'judge_unconfigured' : reachable ? null : 'judge_unreachable';
  return { status: reason === null ? 'ready' : 'not_ready', reason, default_judge: defaultName, judges };
}
