/** `GET /openapi.json`: the API description, an asset. `GET /v1/recipes`: the named recipes and their sources. */
import { Hono } from 'hono';
import { describeRecipes } from '../../../src/families/catalogue.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requireScope } from '../auth.ts';
import { readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';

export const documentRoutes = new Hono<AppEnvironment>()
  // Assets are served before the Worker is asked; this route answers where they are not.
  .get('/openapi.json', async (c) => {
    const asset = await c.env.ASSETS.fetch(new URL('/openapi.json', c.req.url));
    // The headers of a fetched reply are read-only.
    return new Response(asset.body, asset);
  })
  .get('/v1/recipes', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json({ recipes: await describeRecipes() });
  });
