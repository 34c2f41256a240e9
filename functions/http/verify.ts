/** `POST /v1/verify`: pure CPU. No binding is touched here (ARCHITECTURE.md rule 6). */
import { Hono } from 'hono';
import { verifyQuerySchema, verifyRequested, verifyRequestSchema } from '../../src/wire/verify.ts';
import { RequestError } from '../failures.ts';
import { requireScope } from './auth.ts';
import { readJson, readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';

export const verifyRoutes = new Hono<AppEnvironment>().post('/v1/verify', requireScope('verify'), async (c) => {
  const query = readQuery(c, verifyQuerySchema);
  const request = await readJson(c, verifyRequestSchema);
  const result = verifyRequested(request, query.evidence, query.offsets);
  if (!result.ok) throw new RequestError({ reason: 'input_invalid', problems: result.problems });
  return c.json(result.verification);
});
