/**
 * Every route of the Worker, by method and path: the scope that a key needs, and the query. The handlers
 * (functions/http/handlers.ts), the API description and the TypeScript client take their routes from here.
 */
import type * as z from 'zod';
import { genRmQuerySchema } from '../adapters/nemo-gym-compare.ts';
import { adapterQuerySchema, longTraceRlQuerySchema, slimeQuerySchema } from '../adapters/request.ts';
import { alertsQuerySchema } from '../alerts.ts';
import type { Scope } from '../api-keys.ts';
import { batchListQuerySchema } from '../batches/batch.ts';
import { azureQuerySchema } from '../compat/azure.ts';
import { googleQuerySchema } from '../compat/google.ts';
import { fileListQuerySchema } from '../files.ts';
import { anyQuerySchema, emptyQuerySchema } from '../query.ts';
import { promptListQuerySchema, promptQuerySchema } from '../rubrics.ts';
import { rolloutListQuerySchema, runListQuerySchema, runQuerySchema } from '../runs.ts';
import { auditQuerySchema, keyListQuerySchema } from '../stored-keys.ts';
import { verifyQuerySchema } from '../verify.ts';
import { verifyStreamQuerySchema } from '../verify-stream.ts';
import { deliveriesQuerySchema } from '../webhooks.ts';

export type RouteRow = {
  /** The scope that a key needs. `any` = any key, `signed` = a signature in place of a key, `null` = neither. */
  readonly scope: Scope | 'any' | 'signed' | null;
  /** The parameters. Others are refused with 422, except with `anyQuerySchema`, which ignores them. */
  readonly query: z.ZodObject;
};

/** A row of a route without parameters in its query. */
function noQuery<S extends RouteRow['scope']>(scope: S) {
  return { scope, query: emptyQuerySchema } as const;
}

export const ROUTES = {
  'GET /healthz': { scope: null, query: anyQuerySchema },
  'GET /readyz': noQuery('any'),
  'GET /metrics': noQuery('metrics'),
  'GET /openapi.json': { scope: 'any', query: anyQuerySchema },
  'POST /v1/verify': { scope: 'verify', query: verifyQuerySchema },
  'POST /v1/verify/stream': { scope: 'verify', query: verifyStreamQuerySchema },
  'POST /v1/score': noQuery('score'),
  'POST /v1/groups': noQuery('score'),
  'POST /v1/compare': noQuery('score'),
  'POST /v1/advantages': noQuery('score'),
  'GET /v1/recipes': noQuery('score'),
  'POST /v1/recipes/probe': noQuery('score'),
  'GET /v1/keys': noQuery('any'),
  'POST /v1/judgments:export': noQuery('score'),
  'POST /v1/judgments:import': noQuery('admin'),
  'POST /v1/adapters/slime': { scope: 'score', query: slimeQuerySchema },
  'POST /v1/adapters/longtracerl/evaluate': { scope: 'score', query: longTraceRlQuerySchema },
  'POST /v1/adapters/openrlhf/get_reward': { scope: 'score', query: adapterQuerySchema },
  'POST /v1/adapters/nemo-gym/verify': { scope: 'score', query: adapterQuerySchema },
  'POST /v1/adapters/nemo-gym/compare': { scope: 'score', query: genRmQuerySchema },
  'POST /compat/azure/contentsafety/text:detectGroundedness': { scope: 'score', query: azureQuerySchema },
  'POST /compat/bedrock/guardrail/{guardrail}/version/{version}/apply': noQuery('score'),
  'POST /compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': {
    scope: 'score',
    query: googleQuerySchema,
  },
  // Google's clients take a host and no path.
  'POST /{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': {
    scope: 'score',
    query: googleQuerySchema,
  },
  'POST /compat/openai/v1/fine_tuning/alpha/graders/run': noQuery('score'),
  'POST /compat/openai/v1/fine_tuning/alpha/graders/validate': noQuery('score'),
  'POST /v1/refine': noQuery('generate'),
  'POST /v1/agent': noQuery('generate'),
  'POST /v1/rubrics': noQuery('generate'),
  'POST /v1/files': { scope: 'batch', query: anyQuerySchema },
  'GET /v1/files': { scope: 'batch', query: fileListQuerySchema },
  'GET /v1/files/{id}': { scope: 'batch', query: anyQuerySchema },
  'DELETE /v1/files/{id}': { scope: 'batch', query: anyQuerySchema },
  'GET /v1/files/{id}/content': { scope: 'batch', query: anyQuerySchema },
  'POST /v1/uploads': { scope: 'batch', query: anyQuerySchema },
  'POST /v1/uploads/{id}/parts': { scope: 'batch', query: anyQuerySchema },
  'POST /v1/uploads/{id}/complete': { scope: 'batch', query: anyQuerySchema },
  'POST /v1/uploads/{id}/cancel': { scope: 'batch', query: anyQuerySchema },
  'POST /v1/batches': noQuery('batch'),
  'GET /v1/batches': { scope: 'batch', query: batchListQuerySchema },
  'GET /v1/batches/{id}': noQuery('batch'),
  'POST /v1/batches/{id}/cancel': noQuery('batch'),
  'POST /v1/batches/{id}/redrive': noQuery('batch'),
  'POST /v1/runs/{id}/replay': noQuery('score'),
  'GET /v1/runs': { scope: 'score', query: runListQuerySchema },
  'GET /v1/runs/{id}': { scope: 'score', query: runQuerySchema },
  'PATCH /v1/runs/{id}': noQuery('score'),
  'DELETE /v1/runs/{id}': noQuery('admin'),
  'GET /v1/runs/{id}/alerts': { scope: 'score', query: alertsQuerySchema },
  'POST /v1/runs/{id}/judge-checks': noQuery('score'),
  'GET /v1/runs/{id}/rollouts': { scope: 'score', query: rolloutListQuerySchema },
  'GET /v1/runs/{id}/export': noQuery('score'),
  'POST /v1/runs/{id}/import': noQuery('admin'),
  'GET /v1/runs/{id}/judgments.jsonl': noQuery('score'),
  'GET /v1/runs/{id}/rubrics': { scope: 'score', query: promptListQuerySchema },
  'POST /v1/runs/{id}/rubrics': noQuery('score'),
  'POST /v1/runs/{id}/rubrics:resume': noQuery('score'),
  'GET /v1/runs/{id}/rubrics/{prompt}': { scope: 'score', query: promptQuerySchema },
  'POST /v1/runs/{id}/rubrics/{prompt}/scored': noQuery('score'),
  'POST /v1/runs/{id}/rubrics/{prompt}/edits': noQuery('score'),
  'POST /v1/webhooks': noQuery('admin'),
  'GET /v1/webhooks': noQuery('admin'),
  'GET /v1/webhooks/{endpoint}': noQuery('admin'),
  'PATCH /v1/webhooks/{endpoint}': noQuery('admin'),
  'DELETE /v1/webhooks/{endpoint}': noQuery('admin'),
  'POST /v1/webhooks/{endpoint}/secrets:rotate': noQuery('admin'),
  'POST /v1/webhooks/{endpoint}/test': noQuery('admin'),
  // Its signature is checked in place of a key.
  'POST /v1/webhooks/{endpoint}/score': noQuery('signed'),
  'GET /v1/webhooks/{endpoint}/jobs/{job}': noQuery('score'),
  'GET /v1/webhooks/{endpoint}/deliveries': { scope: 'admin', query: deliveriesQuerySchema },
  'GET /v1/webhooks/{endpoint}/deliveries/{message}': noQuery('admin'),
  'POST /v1/webhooks/{endpoint}/deliveries/{message}/resend': noQuery('admin'),
  'POST /v1/api-keys': noQuery('admin'),
  'GET /v1/api-keys': { scope: 'admin', query: keyListQuerySchema },
  'DELETE /v1/api-keys/{key}': noQuery('admin'),
  'GET /v1/projects/{project}': noQuery('score'),
  'PATCH /v1/projects/{project}': noQuery('admin'),
  'GET /v1/audit': { scope: 'admin', query: auditQuerySchema },
} as const satisfies Readonly<Record<`${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`, RouteRow>>;

/** Method and path of a route, such as `GET /v1/runs/{id}`. */
export type RouteName = keyof typeof ROUTES;

/** The parameters of a route's query, as its handler receives them. */
export type QueryOf<Name extends RouteName> = z.output<(typeof ROUTES)[Name]['query']>;

/** Every route, in the order in which the Worker compares them with a request. */
export const ROUTE_NAMES = Object.keys(ROUTES).filter((name): name is RouteName => Object.hasOwn(ROUTES, name));
