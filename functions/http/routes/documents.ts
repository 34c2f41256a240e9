/** `GET /openapi.json`: the committed API description. `GET /v1/recipes`: the named recipes and their sources. */
import { Hono } from 'hono';
import document from '../../../openapi.json' with { type: 'json' };
import { describeRecipes } from '../../../src/families/catalogue.ts';
import { emptyQuerySchema } from '../../../src/wire/query.ts';
import { requireScope } from '../auth.ts';
import { readQuery } from '../body.ts';
import type { AppEnvironment } from '../context.ts';

export const documentRoutes = new Hono<AppEnvironment>()
  // `npm run openapi` writes the document; a test compares the two.
  .get('/openapi.json', (c) => c.json(document))
  .get('/v1/recipes', requireScope('score'), async (c) => {
    readQuery(c, emptyQuerySchema);
    return c.json({ recipes: await describeRecipes() });
  });
