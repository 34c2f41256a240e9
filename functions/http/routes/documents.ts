/** `GET /openapi.json`: the API description, an asset. `GET /v1/recipes`: the named recipes and their sources. */

import { describeRecipes } from '../../../src/families/catalogue.ts';
import type { Handlers } from '../handlers.ts';

export const documentHandlers = {
  // Assets are served before the Worker is asked; this route answers where they are not.
  'GET /openapi.json': async (c) => {
    const asset = await c.env.ASSETS.fetch(new URL('/openapi.json', c.req.url));
    // The headers of a fetched reply are read-only.
    return new Response(asset.body, asset);
  },
  'GET /v1/recipes': async (c) => {
    return c.json({ recipes: await describeRecipes() });
  },
} satisfies Partial<Handlers>;
