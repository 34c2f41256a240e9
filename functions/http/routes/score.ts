/**
 * `POST /v1/score` scores one rollout. `POST /v1/groups` scores the samples of one prompt and computes their
 * advantages. `POST /v1/compare` compares them in pairs. `POST /v1/advantages` computes the advantages of a whole step,
 * without a judge.
 */
import { Hono } from 'hono';
import { RequestError } from '../../../service/failures.ts';
import { stepAdvantages, stepRequestSchema } from '../../../src/wire/advantages.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { answered } from '../answered.ts';
import { requireScope } from '../auth.ts';
import { readJson, readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';

export const scoreRoutes = new Hono<AppEnvironment>()
  .post('/v1/score', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(await answered(c, '/v1/score'));
  })
  .post('/v1/groups', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(await answered(c, '/v1/groups'));
  })
  .post('/v1/compare', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json(await answered(c, '/v1/compare'));
  })
  .post('/v1/advantages', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    const step = stepAdvantages(await readJson(c, stepRequestSchema));
    if (!step.ok) throw new RequestError({ reason: 'input_invalid', problems: step.error });
    return c.json(step.value);
  });
