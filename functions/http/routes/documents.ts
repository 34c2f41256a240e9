/** Assets behind routes: `GET /openapi.json`, the API description, and `GET /v1/recipes`, the named recipes. */

import type { Context } from '../context.ts';
import type { Handlers } from '../handlers.ts';

export const documentHandlers = {
  // Assets are served before the Worker is asked; this route answers where they are not.
  'GET /openapi.json': (c) => asset(c, '/openapi.json'),
  'GET /v1/recipes': (c) => asset(c, '/recipes.json'),
} satisfies Partial<Handlers>;

async function asset(c: Context, path: string): Promise<Response> {
  const reply = await c.env.ASSETS.fetch(new URL(path, c.req.url));
  // The headers of a fetched reply are read-only.
  return new Response(reply.body, reply);
}
