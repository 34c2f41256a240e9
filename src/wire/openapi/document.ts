/**
 * The OpenAPI 3.1 document, made from the zod schemas. `npm run openapi` writes it to openapi.json, a test checks that
 * the file and the routes agree with it, and the Worker serves the file; nothing of this runs in production.
 */
import * as z from 'zod';
import { citedIdSchema, findingCountsSchema, findingSchema, spanSchema } from '../../citations/finding-schema.ts';
import { drTuluRecipeSchema } from '../../families/dr-tulu/recipe.ts';
import { longTraceRecipeSchema } from '../../families/long-trace/recipe.ts';
import { RECIPES } from '../../families/recipes.ts';
import { refinerRecipeSchema } from '../../families/refiner/recipe.ts';
import { RECIPE_NAMES } from '../../families/resolve.ts';
import { toolCallRecipeSchema } from '../../families/tool-call/recipe.ts';
import { criterionInputSchema, sourceInputSchema } from '../../family/rollout-schema.ts';
import { judgmentSchema } from '../../judgments/judgment-schema.ts';
import { componentSchema } from '../../scoring/score-reply.ts';
import { groupRequestSchema, groupResponseSchema } from '../groups.ts';
import { healthSchema, readinessSchema } from '../health.ts';
import { exportRequestSchema, importReportSchema, issuerKeysSchema } from '../judgment-files.ts';
import { problemSchema } from '../problem.ts';
import { recipesResponseSchema } from '../recipes.ts';
import { replayLineSchema, replayRequestSchema } from '../replay.ts';
import { recipeInputSchema, scoreRequestSchema, scoreResponseSchema } from '../score.ts';
import { verifyQuerySchema, verifyRequestSchema, verifyResponseSchema } from '../verify.ts';
import { verifyStreamEventSchema, verifyStreamLineSchema, verifyStreamQuerySchema } from '../verify-stream.ts';
import { ADAPTER_REPLIES, ADAPTER_REQUESTS, ADAPTER_ROUTES } from './adapters.ts';
import { AGENT_REPLIES, AGENT_REQUESTS, AGENT_ROUTES } from './agent.ts';
import { BATCH_REPLIES, BATCH_REQUESTS, BATCH_ROUTES } from './batches.ts';
import { FILE_REPLIES, FILE_REQUESTS, FILE_ROUTES } from './files.ts';
import { REFINE_REPLIES, REFINE_REQUESTS, REFINE_ROUTES } from './refine.ts';
import { BODY_PROBLEMS, JSON_LINES, KEY_PROBLEMS, type Route, type RouteReply } from './route.ts';
import { RUN_REPLIES, RUN_REQUESTS, RUN_ROUTES } from './runs.ts';
import { WEBHOOK_REPLIES, WEBHOOK_REQUESTS, WEBHOOK_ROUTES } from './webhooks.ts';

type Json = Readonly<Record<string, unknown>>;

const JSON_MEDIA = 'application/json';

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
    path: '/v1/verify/stream',
    summary: 'The same while the response is being written: lines of deltas in, events out.',
    scope: 'verify',
    query: verifyStreamQuerySchema,
    request: 'VerifyStreamLine',
    requestMedia: JSON_LINES,
    replies: {
      200: {
        description: 'Events, the last one done or error.',
        schema: 'VerifyStreamEvent',
        media: 'text/event-stream',
      },
    },
    problems: [400, 413, 422, ...KEY_PROBLEMS],
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
    method: 'post',
    path: '/v1/groups',
    summary: 'Scores the samples of one prompt together: rewards and advantages.',
    scope: 'score',
    request: 'GroupRequest',
    replies: {
      200: { description: 'Each reward, or null with the reason; and the advantages.', schema: 'GroupResponse' },
    },
    problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
  },
  {
    method: 'post',
    path: '/v1/runs/{id}/replay',
    summary: 'What the rewards and advantages of a run would have been under another recipe.',
    scope: 'score',
    request: 'ReplayRequest',
    replies: {
      200: {
        description: 'Lines while the run is read: a line a group, the last one summary or error.',
        schema: 'ReplayLine',
        media: JSON_LINES,
      },
    },
    problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 409, 503],
  },
  {
    method: 'get',
    path: '/v1/recipes',
    summary: 'Every named recipe: its formula, its parameters, and where each comes from.',
    scope: 'score',
    replies: { 200: { description: 'The recipes.', schema: 'Recipes' } },
    problems: [...KEY_PROBLEMS, 422],
  },
  {
    method: 'get',
    path: '/v1/keys',
    summary: 'Public keys by which judgments of this deployment can be checked.',
    scope: 'any',
    replies: { 200: { description: 'The current key, previous ones and revoked ones.', schema: 'IssuerKeys' } },
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
  ...ADAPTER_ROUTES,
  ...REFINE_ROUTES,
  ...AGENT_ROUTES,
  ...FILE_ROUTES,
  ...BATCH_ROUTES,
  ...RUN_ROUTES,
  ...WEBHOOK_ROUTES,
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

function pathsOf(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  return paths;
}

function operation(route: Route): Json {
  const { path, summary, scope, query, request, requestMedia, replies, problems, keyInUrl, signed } = route;
  const parameters = [...pathParametersOf(path), ...(query === undefined ? [] : parametersOf(query))];
  const answers = Object.entries(replies).map(([status, { description, schema, media, events }]): [string, Json] => {
    const whole = { [media ?? JSON_MEDIA]: schema === null ? anything(media) : { schema: ref(schema) } };
    const streamed = events === undefined ? {} : { 'text/event-stream': { schema: ref(events) } };
    return [status, { description, content: { ...whole, ...streamed } }];
  });
  const refusals = problems.map((status): [string, Json] => [
    String(status),
    { description: 'See reason.', content: { 'application/problem+json': { schema: ref('Problem') } } },
  ]);
  return {
    summary,
    ...(scope === null ? { security: [] } : {}),
    ...(signed === true ? { security: [{ signature: [] }] } : {}),
    ...(keyInUrl === true ? { security: [{ key: [] }, { key_in_url: [] }] } : {}),
    ...(scope === null || scope === 'any' ? {} : { description: `Scope: ${scope}.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: { [requestMedia ?? JSON_MEDIA]: { schema: ref(request) } } } }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

/** Bytes have no schema in OpenAPI 3.1. */
function anything(media: RouteReply['media']): Json {
  return media === 'application/octet-stream' ? {} : { schema: { type: 'object' } };
}

function pathParametersOf(path: string): Json[] {
  const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name);
  return names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

function parametersOf(query: z.ZodObject): Json[] {
  return Object.entries(query.shape).map(([name, schema]) => {
    const { $schema: _, description, ...rest } = z.toJSONSchema(schema, { io: 'input' });
    const required = schema._zod.optin === undefined;
    return { name, in: 'query', required, ...(description === undefined ? {} : { description }), schema: rest };
  });
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** A named recipe of the family with some fields changed. */
function changeOf<S extends z.core.$ZodShape & { family: z.ZodLiteral<string> }>(shape: S): z.ZodType {
  const { family, ...fields } = shape;
  const names = RECIPE_NAMES.filter((name) => RECIPES[name].family === family.value);
  return z
    .strictObject({ base: z.enum(names), family: family.exactOptional(), ...z.strictObject(fields).partial().shape })
    .describe('A named recipe with some fields changed.');
}

const REQUESTS = {
  ...ADAPTER_REQUESTS,
  ...REFINE_REQUESTS,
  ...AGENT_REQUESTS,
  ...FILE_REQUESTS,
  ...BATCH_REQUESTS,
  ...RUN_REQUESTS,
  ...WEBHOOK_REQUESTS,
  VerifyRequest: verifyRequestSchema,
  VerifyStreamLine: verifyStreamLineSchema,
  ScoreRequest: scoreRequestSchema,
  ExportRequest: exportRequestSchema,
  ReplayRequest: replayRequestSchema,
  RecipeInput: recipeInputSchema,
  GroupRequest: groupRequestSchema,
  RefinerRecipe: refinerRecipeSchema,
  RefinerRecipeChange: changeOf(refinerRecipeSchema.shape),
  LongTraceRecipe: longTraceRecipeSchema,
  LongTraceRecipeChange: changeOf(longTraceRecipeSchema.shape),
  ToolCallRecipe: toolCallRecipeSchema,
  ToolCallRecipeChange: changeOf(toolCallRecipeSchema.shape),
  DrTuluRecipe: drTuluRecipeSchema,
  DrTuluRecipeChange: changeOf(drTuluRecipeSchema.shape),
  SourceInput: sourceInputSchema,
  CriterionInput: criterionInputSchema,
};

const REPLIES = {
  ...ADAPTER_REPLIES,
  ...REFINE_REPLIES,
  ...AGENT_REPLIES,
  ...FILE_REPLIES,
  ...BATCH_REPLIES,
  ...RUN_REPLIES,
  ...WEBHOOK_REPLIES,
  VerifyResponse: verifyResponseSchema,
  VerifyStreamEvent: verifyStreamEventSchema,
  ScoreResponse: scoreResponseSchema,
  GroupResponse: groupResponseSchema,
  Recipes: recipesResponseSchema,
  ReplayLine: replayLineSchema,
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

const RECIPE_SCHEMAS = ['RefinerRecipe', 'LongTraceRecipe', 'ToolCallRecipe', 'DrTuluRecipe'] as const;

function componentSchemas(): Json {
  const schemas = { ...jsonSchemas(REQUESTS, 'input'), ...jsonSchemas(REPLIES, 'output') };
  // What the union leaves open (src/families/resolve.ts checks it) is said in full here.
  schemas['RecipeInput'] = {
    oneOf: [
      { type: 'string', enum: [...RECIPE_NAMES] },
      ...RECIPE_SCHEMAS.flatMap((name) => [ref(name), ref(`${name}Change`)]),
    ],
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
