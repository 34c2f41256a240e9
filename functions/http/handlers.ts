/** Every route's handler, and how they become the routes of the app: after its scope and its query were checked. */
import type { HonoBase } from 'hono/hono-base';
import type * as z from 'zod';
import { type QueryOf, ROUTE_NAMES, ROUTES, type RouteName, type RouteRow } from '../../src/wire/openapi/routes.ts';
import { requireScope } from './auth.ts';
import { readQuery } from './body.ts';
import type { AppEnvironment, Context } from './context.ts';

/** What answers each route, from a request whose key has the scope of the route and whose query is valid. */
export type Handlers = {
  readonly [Name in RouteName]: (c: Context, query: QueryOf<Name>) => Response | Promise<Response>;
};

/** The routes, each with the type of its own query. */
const ROWS: { readonly [Name in RouteName]: RouteRow & { readonly query: z.ZodType<QueryOf<Name>> } } = ROUTES;

/** Adds every route to the app. */
export function addRoutes(app: HonoBase<AppEnvironment>, handlers: Handlers): void {
  for (const name of ROUTE_NAMES) addRoute(app, name, handlers);
}

function addRoute<Name extends RouteName>(app: HonoBase<AppEnvironment>, name: Name, handlers: Handlers): void {
  const { scope, query } = ROWS[name];
  const [method = '', path = ''] = name.split(' ');
  const place = path.replaceAll(/\{([a-z_]+)\}/g, ':$1');
  if (scope !== null && scope !== 'any' && scope !== 'signed') app.on(method, place, requireScope(scope));
  app.on(method, place, (c) => handlers[name](c, readQuery(c, query)));
}

/** A parameter in the path of the route. */
export function pathParameter(c: Context, name: string): string {
  const value = c.req.param(name);
  if (value === undefined) throw new Error(`the path of ${c.req.path} has no {${name}}`);
  return value;
}
