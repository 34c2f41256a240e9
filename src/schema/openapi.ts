/**
 * The OpenAPI 3.1 document, made from the zod schemas. `npm run openapi` writes it to openapi.json, a test checks that
 * the file and the routes agree with it, and the Worker serves the file; nothing of this runs in production.
 */
import * as z from 'zod';
import { refinerRecipeSchema } from '../recipes/refiner.ts';
import { RECIPE_NAMES } from '../recipes/resolve.ts';
import { citedIdSchema, findingCountsSchema, findingSchema, spanSchema } from './findings.ts';
import { healthSchema, readinessSchema } from './health.ts';
import { judgmentSchema } from './judgment.ts';
import { exportRequestSchema, importReportSchema, issuerKeysSchema } from './judgment-files.ts';
import { problemSchema } from './problem.ts';
import { criterionInputSchema, sourceInputSchema } from './rollout.ts';
import { componentSchema, recipeInputSchema, scoreRequestSchema, scoreResponseSchema } from './score.ts';
import { verifyQuerySchema, verifyRequestSchema, verifyResponseSchema } from './verify.ts';

type Json = Readonly<Record<string, unknown>>;

const JSON_MEDIA = 'application/json';
const JSON_LINES = 'application/jsonl';

/** With `media` the schema describes one line. */
type RouteReply = { readonly description: string; readonly schema: string | null; readonly media?: typeof JSON_LINES };

type Route = {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  /** `null` = public, `any` = any key. */
  readonly scope: 'verify' | 'score' | 'admin' | 'any' | null;
  readonly query?: z.ZodObject;
  readonly request?: string;
  readonly requestMedia?: typeof JSON_LINES;
  readonly replies: Readonly<Record<number, RouteReply>>;
  readonly problems: readonly number[];
};

const BODY_PROBLEMS = [400, 413, 415, 422] as const;
const KEY_PROBLEMS = [401, 403, 500] as const;

/** Every route of the Worker. */
export const ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/healthz',
    summary: 'Whether the Worker is up.',
    scope: null,
    replies: { 200: { description: 'Up.', schema: 'Health' } },
    problems: [],
  },
  {
    method: 'get',
    path: '/readyz',
    summary: 'Whether requests that name no judge can be scored, and how each judge is.',
    scope: 'any',
    replies: {
      200: { description: 'Ready.', schema: 'Readiness' },
      503: { description: 'Not ready; reason says why.', schema: 'Readiness' },
    },
    problems: [...KEY_PROBLEMS, 422],
  },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'This document.',
    scope: 'any',
    replies: { 200: { description: 'OpenAPI 3.1.', schema: null } },
    problems: KEY_PROBLEMS,
  },
  {
    method: 'post',
    path: '/v1/verify',
    summary: 'Reads the citations of a response: claims, ids, findings, format. No judge, no storage.',
    scope: 'verify',
    query: verifyQuerySchema,
    request: 'VerifyRequest',
    replies: { 200: { description: 'What was found.', schema: 'VerifyResponse' } },
    problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS],
  },
  {
    method: 'post',
    path: '/v1/score',
    summary: 'Scores one rollout under a recipe: the reward with all its parts.',
    scope: 'score',
    request: 'ScoreRequest',
    replies: { 200: { description: 'The reward, or null with the reason.', schema: 'ScoreResponse' } },
    problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
  },
  {
    method: 'get',
    path: '/v1/keys',
    summary: 'Public keys by which judgments of this deployment can be checked.',
    scope: 'any',
    replies: { 200: { description: 'The current key and previous ones.', schema: 'IssuerKeys' } },
    problems: [...KEY_PROBLEMS, 422],
  },
  {
    method: 'post',
    path: '/v1/judgments:export',
    summary: 'Judgments by their keys as JSON lines; absent keys are named, and the last line counts the others.',
    scope: 'score',
    request: 'ExportRequest',
    replies: { 200: { description: 'One judgment a line.', schema: 'Judgment', media: JSON_LINES } },
    problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS],
  },
  {
    method: 'post',
    path: '/v1/judgments:import',
    summary: 'Takes in exported judgments that a trusted issuer signed. Nothing is overwritten.',
    scope: 'admin',
    request: 'Judgment',
    requestMedia: JSON_LINES,
    replies: { 200: { description: 'What became of the lines.', schema: 'ImportReport' } },
    problems: [400, 422, ...KEY_PROBLEMS],
  },
];

/** Builds the document. @param version of the API, from package.json. */
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
    security: [{ key: [] }],
    paths: pathsOf(ROUTES),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'Scopes: verify, score, generate, batch, admin.' },
      },
      schemas: componentSchemas(),
    },
  };
}

function pathsOf(routes: readonly Route[]): Json {
  return Object.fromEntries(routes.map((route) => [route.path, { [route.method]: operation(route) }]));
}

function operation({ summary, scope, query, request, requestMedia, replies, problems }: Route): Json {
  const answers = Object.entries(replies).map(([status, { description, schema, media }]): [string, Json] => [
    status,
    { description, content: { [media ?? JSON_MEDIA]: { schema: schema === null ? { type: 'object' } : ref(schema) } } },
  ]);
  const refusals = problems.map((status): [string, Json] => [
    String(status),
    { description: 'See reason.', content: { 'application/problem+json': { schema: ref('Problem') } } },
  ]);
  return {
    summary,
    ...(scope === null ? { security: [] } : {}),
    ...(scope === null || scope === 'any' ? {} : { description: `Scope: ${scope}.` }),
    ...(query === undefined ? {} : { parameters: parametersOf(query) }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: { [requestMedia ?? JSON_MEDIA]: { schema: ref(request) } } } }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

function parametersOf(query: z.ZodObject): Json[] {
  return Object.entries(query.shape).map(([name, schema]) => {
    const { $schema: _, description, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    return { name, in: 'query', required: false, ...(description === undefined ? {} : { description }), schema: rest };
  });
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const REQUESTS = {
  VerifyRequest: verifyRequestSchema,
  ScoreRequest: scoreRequestSchema,
  ExportRequest: exportRequestSchema,
  RecipeInput: recipeInputSchema,
  RefinerRecipe: refinerRecipeSchema,
  RefinerRecipeChange: z
    .strictObject({ base: z.enum(RECIPE_NAMES), ...z.strictObject(refinerRecipeSchema.shape).partial().shape })
    .describe('A named recipe with some fields changed.'),
  SourceInput: sourceInputSchema,
  CriterionInput: criterionInputSchema,
};

const REPLIES = {
  VerifyResponse: verifyResponseSchema,
  ScoreResponse: scoreResponseSchema,
  Judgment: judgmentSchema,
  ImportReport: importReportSchema,
  IssuerKeys: issuerKeysSchema,
  Readiness: readinessSchema,
  Health: healthSchema,
  Problem: problemSchema,
  Span: spanSchema,
  Finding: findingSchema,
  FindingCounts: findingCountsSchema,
  CitedId: citedIdSchema,
  Component: componentSchema,
};

function componentSchemas(): Json {
  const schemas = { ...jsonSchemas(REQUESTS, 'input'), ...jsonSchemas(REPLIES, 'output') };
  // What the union leaves open (src/recipes/resolve.ts checks it) is said in full here.
  schemas['RecipeInput'] = {
    oneOf: [{ type: 'string', enum: [...RECIPE_NAMES] }, ref('RefinerRecipe'), ref('RefinerRecipeChange')],
  };
  return schemas;
}

function jsonSchemas(named: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  );
}
