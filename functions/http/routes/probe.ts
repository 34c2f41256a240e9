/** `POST /v1/recipes/probe`: what a recipe pays for canned answers to rows of training data. */
import { Hono } from 'hono';
import { probeRecipe } from '../../../service/probe.ts';
import { probeReplyOf, probeRequestSchema, requestedProbeRow } from '../../../src/wire/probe.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requireScope } from '../auth.ts';
import { admitAnswers, readJson, readQuery } from '../body.ts';
import { type AppEnvironment, platformOf, probed } from '../context.ts';

export const probeRoutes = new Hono<AppEnvironment>().post('/v1/recipes/probe', requireScope('score'), async (c) => {
  readQuery(c, emptyQuerySchema);
  const request = await readJson(c, probeRequestSchema);
  const rows = request.rows.map(requestedProbeRow);
  // Any grammar: the canned answers are written in that of the recipe.
  const admit = (responses: readonly string[]) => admitAnswers(c, responses, { grammars: 'any' });
  const { recipe, ...measured } = probed(c, await probeRecipe(rows, request, await platformOf(c), admit));
  return c.json(probeReplyOf(request, recipe, measured));
});
