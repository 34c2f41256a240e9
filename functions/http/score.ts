/** `POST /v1/score`. */
import { Hono } from 'hono';
import type { JudgmentStore } from '../../src/judgments/store.ts';
import { emptyQuerySchema } from '../../src/schema/query.ts';
import { scoreRequestSchema } from '../../src/schema/score.ts';
import { configuredBackends } from '../backends/configured.ts';
import type { Environment } from '../environment.ts';
import { createDeskClient } from '../objects/desk-client.ts';
import { scoreRequest } from '../scoring.ts';
import { issuerOf } from '../storage/issuer-settings.ts';
import { requireScope } from './auth.ts';
import { readJson, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';
import { RequestError } from './errors.ts';

/** @param storeOf the judgment store of an environment. */
export function scoreRoutes(storeOf: (environment: Environment) => JudgmentStore): Hono<AppEnvironment> {
  return new Hono<AppEnvironment>().post('/v1/score', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const request = await readJson(c, scoreRequestSchema);
    const issuer = await issuerOf(c.env);
    if (!issuer.ok) throw new RequestError({ reason: 'config_invalid', setting: issuer.setting });
    const platform = {
      backends: configuredBackends(c.get('settings'), c.env),
      store: storeOf(c.env),
      desk: createDeskClient(c.env.JUDGE_DESK),
      class: 'live',
      signing: issuer.signing,
    } as const;
    const result = await scoreRequest(request, platform);
    if (result.timings !== null) Object.assign(c.get('phases'), result.timings);
    if (!result.ok) throw new RequestError(result.failure);
    c.set('storeProblems', result.reply.judgments.filter(({ store_problem }) => store_problem !== null).length);
    return c.json(result.reply);
  });
}
