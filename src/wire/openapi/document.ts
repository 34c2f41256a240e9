/**
 * Builds the OpenAPI 3.1 document from the zod schemas. scripts/build-dashboard.ts puts it among the assets, where every
 * Worker serves it as /openapi.json; a test compares it with the routes. This code does not run in production.
 */
import * as z from 'zod';
import { citedIdSchema, findingCountsSchema, findingSchema, spanSchema } from '../../citations/finding-schema.ts';
import { RECIPE_NAMES } from '../../families/composers.ts';
import { FAMILIES } from '../../families/registry.ts';

import { criterionInputSchema, sourceInputSchema } from '../../family/rollout-schema.ts';
import { componentSchema } from '../../family/score.ts';
import { healthSchema, readinessSchema } from '../health.ts';
import { problemSchema } from '../problem.ts';
import { recipeInputSchema } from '../score.ts';
import { ADAPTERS } from './adapters.ts';
import { API_KEYS } from './api-keys.ts';
import { BATCHES } from './batches.ts';
import { DROP_INS } from './drop-ins.ts';
import recorded from './examples.json' with { type: 'json' };
import { GENERATION } from './generation.ts';
import { KEY_PROBLEMS, type RouteReply, type RouteText, type Section } from './route.ts';
import { ROUTE_NAMES, ROUTES, type RouteName, type RouteRow } from './routes.ts';
import { EVOLVING_RUBRICS } from './rubrics.ts';
import { RUNS } from './runs.ts';
import { SCORING } from './scoring.ts';
import { WEBHOOKS } from './webhooks.ts';

/**
 * What test/functions/openapi-examples.test.ts sent to a route, and what the Worker answered. `body` and `reply` are
 * texts where the media type is not JSON, and `body` lists the fields of a form.
 */
type Example = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly reply?: unknown;
};

const EXAMPLES: ReadonlyMap<string, Example> = new Map(Object.entries(recorded));

type Json = Readonly<Record<string, unknown>>;

const JSON_MEDIA = 'application/json';

/** Returns the schema name of a family's recipes, such as `DrTuluRecipe` for `dr-tulu`. */
function recipeSchemaName(family: string): string {
  return `${family.replaceAll(/(?:^|-)(.)/g, (_match, letter: string) => letter.toUpperCase())}Recipe`;
}

/** The recipe of each family, and a named recipe of the family with some fields changed. */
const RECIPE_SCHEMAS: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  FAMILIES.flatMap(({ name, recipe: { schema, named } }) => {
    const { family: _family, ...fields } = schema.shape;
    const change = z
      .strictObject({
        base: z.enum(Object.keys(named)),
        family: z.literal(name).exactOptional(),
        ...z.strictObject(fields).partial().shape,
      })
      .describe('A named recipe with some fields changed.');
    return [
      [recipeSchemaName(name), schema],
      [`${recipeSchemaName(name)}Change`, change],
    ];
  }),
);

const OPERATIONS = {
  tag: { name: 'operations', description: 'State and figures of the deployment.' },
  routes: {
    'GET /healthz': {
      summary: 'Reports that the Worker is up.',
      replies: { 200: { description: 'Up.', schema: 'Health' } },
      problems: [],
    },
    'GET /readyz': {
      summary: 'Reports whether requests that name no judge can be scored, and the state of each judge.',
      replies: {
        200: { description: 'Ready.', schema: 'Readiness' },
        503: { description: 'Not ready; reason says why.', schema: 'Readiness' },
      },
      problems: [...KEY_PROBLEMS, 422],
    },
    'GET /metrics': {
      summary: 'Returns the figures of the deployment for Prometheus.',
      replies: {
        200: { description: 'OpenMetrics text.', schema: null, media: 'application/openmetrics-text' },
      },
      problems: [...KEY_PROBLEMS, 422, 503],
    },
    'GET /openapi.json': {
      summary: 'Returns this document.',
      replies: { 200: { description: 'OpenAPI 3.1.', schema: null } },
      problems: KEY_PROBLEMS,
    },
  },
  requests: {
    RecipeInput: recipeInputSchema,
    ...RECIPE_SCHEMAS,
    SourceInput: sourceInputSchema,
    CriterionInput: criterionInputSchema,
  },
  replies: {
    Readiness: readinessSchema,
    Health: healthSchema,
    Problem: problemSchema,
    Span: spanSchema,
    Finding: findingSchema,
    FindingCounts: findingCountsSchema,
    CitedId: citedIdSchema,
    Component: componentSchema,
  },
} satisfies Section;

const SECTIONS: readonly Section[] = [
  OPERATIONS,
  SCORING,
  ADAPTERS,
  DROP_INS,
  GENERATION,
  BATCHES,
  RUNS,
  EVOLVING_RUBRICS,
  WEBHOOKS,
  API_KEYS,
];

/** Without a text for each route, this does not compile. */
const TEXTS: Readonly<Record<RouteName, RouteText>> = {
  ...OPERATIONS.routes,
  ...SCORING.routes,
  ...ADAPTERS.routes,
  ...DROP_INS.routes,
  ...GENERATION.routes,
  ...BATCHES.routes,
  ...RUNS.routes,
  ...EVOLVING_RUBRICS.routes,
  ...WEBHOOKS.routes,
  ...API_KEYS.routes,
};

/** A route, with all that is declared of it. */
export type Route = RouteRow & RouteText & { readonly method: string; readonly path: string };

function routeOf(name: RouteName): Route {
  const [method = '', path = ''] = name.split(' ');
  return { method: method.toLowerCase(), path, ...ROUTES[name], ...TEXTS[name] };
}

/** Every route of the Worker. */
export const DESCRIBED_ROUTES: readonly Route[] = ROUTE_NAMES.map(routeOf);

/** The schemas that routes name, by name. */
export const SCHEMAS = {
  requests: Object.assign({}, ...SECTIONS.map(({ requests }) => requests)),
  replies: Object.assign({}, ...SECTIONS.map(({ replies }) => replies)),
} as const satisfies Readonly<Record<'requests' | 'replies', Section['requests']>>;

/** Builds the document. @param version version of the API, from package.json. */
export function buildOpenApi(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Citeward',
      version,
      description:
        'Scores cited answers: verifies citations, judges rubrics, composes rewards. A failure is never a number.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The Worker that serves this document.' }],
    tags: SECTIONS.map(({ tag }) => tag),
    security: [{ key: [] }],
    paths: pathsOf(SECTIONS),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'Scopes: verify, score, generate, batch, admin, metrics.' },
        signature: {
          type: 'apiKey',
          in: 'header',
          name: 'webhook-signature',
          description: 'Standard Webhooks, with webhook-id and webhook-timestamp.',
        },
        key_in_url: { type: 'http', scheme: 'basic', description: 'The key as the password. Scope: score only.' },
      },
      schemas: componentSchemas(),
    },
  };
}

function pathsOf(sections: readonly Section[]): Json {
  const paths: Record<string, Json> = {};
  for (const { routes, tag } of sections) {
    for (const route of ROUTE_NAMES.filter((name) => Object.hasOwn(routes, name)).map(routeOf)) {
      paths[route.path] = { ...paths[route.path], [route.method]: operation(route, tag.name) };
    }
  }
  return paths;
}

/** The name of a method in generated clients: `getRunsIdAlerts` for `GET /v1/runs/{id}/alerts`. */
export function operationId({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/u).filter((word) => word !== '' && word !== 'v1');
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function operation(route: Route, tag: string): Json {
  const { path, summary, scope, moreScopes, query, request, requestMedia, replies, problems, failure } = route;
  const { keyInUrl } = route;
  const example = EXAMPLES.get(operationId(route));
  const parameters = [...pathParametersOf(path, example?.path), ...parametersOf(query, example?.query)];
  const answers = Object.entries(replies).map(([status, { description, schema, media, events }]): [string, Json] => {
    const content = schema === null ? anything(media) : { schema: ref(schema) };
    const shown = example?.status === Number(status) && example.reply !== undefined ? { example: example.reply } : {};
    const whole = { [media ?? JSON_MEDIA]: { ...content, ...shown } };
    const streamed = events === undefined ? {} : { 'text/event-stream': { schema: ref(events) } };
    return [status, { description, content: { ...whole, ...streamed } }];
  });
  const refusals = problems.map((status): [string, Json] => [
    String(status),
    failure === undefined
      ? { description: 'See reason.', content: { 'application/problem+json': { schema: ref('Problem') } } }
      : { description: 'See the message.', content: { [JSON_MEDIA]: { schema: ref(failure) } } },
  ]);
  return {
    operationId: operationId(route),
    tags: [tag],
    summary,
    ...(scope === null ? { security: [] } : {}),
    ...(scope === 'signed' ? { security: [{ signature: [] }] } : {}),
    ...(keyInUrl === true ? { security: [{ key: [] }, { key_in_url: [] }] } : {}),
    ...(scope === null || scope === 'any' || scope === 'signed'
      ? {}
      : { description: `Scope: ${scope}${moreScopes === undefined ? '' : `, ${moreScopes}`}.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: { [requestMedia ?? JSON_MEDIA]: bodyOf(request, example) } } }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

function bodyOf(request: string, example: Example | undefined): Json {
  return { schema: ref(request), ...(example?.body === undefined ? {} : { example: example.body }) };
}

/** OpenAPI 3.1 describes bytes without a schema. */
function anything(media: RouteReply['media']): Json {
  return media === 'application/octet-stream' ? {} : { schema: { type: 'object' } };
}

function pathParametersOf(path: string, examples: Example['path'] = {}): Json[] {
  const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name);
  return names.map((name) => ({
    ...{ name, in: 'path', required: true },
    ...exampleOf(examples, name),
    schema: { type: 'string' },
  }));
}

function parametersOf(query: z.ZodObject, examples: Example['query'] = {}): Json[] {
  return Object.entries(query.shape).map(([name, schema]) => {
    const { $schema: _, description, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    const required = schema._zod.optin === undefined;
    const described = description === undefined ? {} : { description };
    return { name, in: 'query', required, ...described, ...exampleOf(examples, name), schema: rest };
  });
}

function exampleOf(examples: Readonly<Record<string, string>>, name: string): Json {
  const example = examples[name];
  return example === undefined ? {} : { example };
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function componentSchemas(): Json {
  const schemas = { ...jsonSchemas('requests', 'input'), ...jsonSchemas('replies', 'output') };
  // The zod union leaves recipes open, and `resolveRecipe` checks them; the document lists every form.
  schemas['RecipeInput'] = {
    oneOf: [{ type: 'string', enum: [...RECIPE_NAMES] }, ...Object.keys(RECIPE_SCHEMAS).map(ref)],
  };
  return schemas;
}

function jsonSchemas(which: 'requests' | 'replies', io: 'input' | 'output'): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const section of SECTIONS) {
    for (const [id, schema] of Object.entries(section[which])) registry.add(schema, { id });
  }
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  );
}
