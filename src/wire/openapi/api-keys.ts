/** API keys, projects and the audit in the OpenAPI document. */

import { projectChangeSchema, projectSchema } from '../projects.ts';
import { auditSchema, createdKeySchema, keyListSchema, newKeySchema, revokedKeySchema } from '../stored-keys.ts';
import { BODY_PROBLEMS, KEY_PROBLEMS, type Section } from './route.ts';

export const API_KEYS = {
  tag: { name: 'keys', description: 'API keys, projects and their use.' },
  routes: {
    'POST /v1/api-keys': {
      summary: 'Makes an API key. Only this reply shows it.',
      moreScopes: 'and each scope of the new key',
      request: 'NewApiKey',
      replies: { 201: { description: 'The key.', schema: 'CreatedApiKey' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 409, 503],
    },
    'GET /v1/api-keys': {
      summary: 'Lists the API keys that the Worker stores, newest first.',
      replies: { 200: { description: 'One page.', schema: 'ApiKeyList' } },
      problems: [...KEY_PROBLEMS, 422, 503],
    },
    'DELETE /v1/api-keys/{key}': {
      summary: 'Revokes an API key. It takes effect everywhere within a minute.',
      replies: { 200: { description: 'The key is revoked.', schema: 'RevokedApiKey' } },
      problems: [...KEY_PROBLEMS, 404, 422, 503],
    },
    'GET /v1/projects/{project}': {
      summary: 'Returns the daily budgets of a project, and what is used of them today.',
      replies: { 200: { description: 'The project.', schema: 'Project' } },
      problems: [...KEY_PROBLEMS, 404, 422, 503],
    },
    'PATCH /v1/projects/{project}': {
      summary: 'Changes the daily budgets of a project. Needs a key of the secret API_KEYS.',
      request: 'ProjectChange',
      replies: { 200: { description: 'The changed project.', schema: 'Project' } },
      problems: [...BODY_PROBLEMS, ...KEY_PROBLEMS, 404, 503],
    },
    'GET /v1/audit': {
      summary: 'Lists the uses of routes that need the scope admin, newest first.',
      replies: { 200: { description: 'One page.', schema: 'Audit' } },
      problems: [...KEY_PROBLEMS, 422, 503],
    },
  },
  requests: { NewApiKey: newKeySchema, ProjectChange: projectChangeSchema },
  replies: {
    CreatedApiKey: createdKeySchema,
    ApiKeyList: keyListSchema,
    RevokedApiKey: revokedKeySchema,
    Audit: auditSchema,
    Project: projectSchema,
  },
} satisfies Section;
