/** `GET /openapi.json`: the committed document (`npm run openapi` writes it, a test keeps it true). */
import { Hono } from 'hono';
import document from '../../openapi.json' with { type: 'json' };
import type { AppEnvironment } from './context.ts';

export const openApiRoutes = new Hono<AppEnvironment>().get('/openapi.json', (c) => c.json(document));
