/** `POST /v1/score`. */
import { Hono } from 'hono';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { emptyQuerySchema } from '../../src/schema/query.ts';
import { scoreRequestSchema } from '../../src/schema/score.ts';
import { configuredBackends } from '../backends/configured.ts';
import type { Environment } from '../environment.ts';
import { scoreRequest } from '../scoring.ts';
import { requireScope } from './auth.ts';
import { readJson, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { RequestError } from './errors.ts';

/** @param storeOf the judgment store of an environment. */
export function scoreRoutes(storeOf: (environment: Environment) => JudgmentStore): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>().post('/v1/score', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, scoreRequestSchema);
    const platform = { backends: configuredBackends(c.get('settings')), store: storeOf(c.env) };
    const result = await scoreRequest(request, platform);
    if (result.timings !== null) Object.assign(c.get('phases'), result.timings);
    if (!result.ok) throw new RequestError(result.failure);
    c.set('storeProblems', result.reply.judgments.filter(({ store_problem }) => store_problem !== null).length);
    return c.json(result.reply);
  });
}
