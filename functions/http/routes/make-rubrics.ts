/** `POST /v1/rubrics`: a model writes criteria for a question. */
import { Hono } from 'hono';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { answered } from '../answered.ts';
import { requireScope } from '../auth.ts';
import { readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';

export const makeRubricsRoutes = new Hono<AppEnvironment>().post('/v1/rubrics', requireScope('generate'), async (c) => {
  readQuery(c, emptyQuerySchema);
  return c.json(await answered(c, '/v1/rubrics'));
});
