/** The scopes that a request needs of its key, whether it comes to its route or as a line of a batch. */
import type { Scope } from '../src/wire/api-keys.ts';
import type { BatchEndpoint } from '../src/wire/batches/batch.ts';
import type { ROUTES } from '../src/wire/openapi/routes.ts';

export type RequiredScope = {
  readonly scope: Scope;
  /** The route, and the field that needs the scope if it is not the route itself. For problems. */
  readonly needed_by: string;
};

/** Those of ROUTES, written out: this code runs where no route does, and must stay small. */
const ROUTE_SCOPES: { readonly [Endpoint in BatchEndpoint]: (typeof ROUTES)[`POST ${Endpoint}`]['scope'] } = {
  '/v1/score': 'score',
  '/v1/groups': 'score',
  '/v1/compare': 'score',
  '/v1/verify': 'verify',
  '/v1/refine': 'generate',
  '/v1/rubrics': 'generate',
};

/** Returns the scopes of one request, the route's first. */
export function requiredScopes(
  endpoint: BatchEndpoint,
  body: { readonly recipe?: unknown },
): readonly [RequiredScope, ...RequiredScope[]] {
  const own = { scope: ROUTE_SCOPES[endpoint], needed_by: endpoint };
  const scores = endpoint === '/v1/refine' && body.recipe !== undefined;
  return scores ? [own, { scope: 'score', needed_by: `${endpoint} with "recipe"` }] : [own];
}
