/** `GET /v1/recipes`: every named recipe with its formula, and where each of its parameters comes from. */
import { Hono } from 'hono';
import { describeRecipes } from '../../src/families/catalogue.ts';
import { emptyQuerySchema } from '../../src/wire/query.ts';
import { requireScope } from './auth.ts';
import { readQuery } from './body.ts';
import type { AppEnvironment } from './context.ts';

export const recipeRoutes = new Hono<AppEnvironment>().get('/v1/recipes', requireScope('score'), async (c) => {
  readQuery(c, emptyQuerySchema);
  return c.json({ recipes: await describeRecipes() });
});
