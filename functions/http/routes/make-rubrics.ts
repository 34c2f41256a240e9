/** `POST /v1/rubrics`: a model writes criteria for a question. */
import { Hono } from 'hono';
import { makeRubricsWith } from '../../../service/make-rubrics.ts';
import { makeRubricsReplyOf, makeRubricsRequestSchema, rubricsToMake } from '../../../src/wire/make-rubrics.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requireScope } from '../auth.ts';
import { admitAnswers, readJson, readQuery } from '../body.ts';
import { type AppEnvironment, madeBy, platformOf } from '../context.ts';

export const makeRubricsRoutes = new Hono<AppEnvironment>().post('/v1/rubrics', requireScope('generate'), async (c) => {
  readQuery(c, emptyQuerySchema);
  const request = await readJson(c, makeRubricsRequestSchema);
  const platform = await platformOf(c);
  const wanted = rubricsToMake(request, platform.readSources);
  await admitAnswers(c, wanted.responses);
  return c.json(makeRubricsReplyOf(madeBy(c, await makeRubricsWith(wanted, request, platform))));
});
