/** Webhooks in the OpenAPI document. */
import { endpointChangeSchema, endpointRegistrationSchema, secretRotationSchema } from '../webhooks.ts';
import {
  acceptedJobSchema,
  deletedEndpointSchema,
  deliveriesSchema,
  deliveryDetailSchema,
  endpointSchema,
  endpointsSchema,
  endpointTestSchema,
  endpointWithSecretSchema,
  jobSchema,
  scoreCompletedEventSchema,
  scoreFailedEventSchema,
} from '../webhooks-reply.ts';
import type { Section } from './route.ts';

const READ_PROBLEMS = [401, 403, 404, 422, 500, 503] as const;
const WRITE_PROBLEMS = [400, 401, 403, 404, 413, 415, 422, 500, 503] as const;

const reply = (description: string, schema: string) => ({ 200: { description, schema } });

export const WEBHOOKS = {
  tag: { name: 'webhooks', description: 'Scoring by webhook.' },
  routes: {
    'POST /v1/webhooks': {
      summary: 'Registers an endpoint. Only this reply shows its secret.',
      moreScopes: 'and score, because the secret admits scoring requests',
      request: 'WebhookRegistration',
      replies: { 201: { description: 'The endpoint and its secret.', schema: 'WebhookEndpointWithSecret' } },
      problems: [400, 401, 403, 409, 413, 415, 422, 500, 503],
    },
    'GET /v1/webhooks': {
      summary: 'Lists all endpoints.',
      replies: reply('The endpoints, without their secrets.', 'WebhookEndpoints'),
      problems: [401, 403, 422, 500, 503],
    },
    'GET /v1/webhooks/{endpoint}': {
      summary: 'Returns one endpoint.',
      replies: reply('The endpoint.', 'WebhookEndpoint'),
      problems: READ_PROBLEMS,
    },
    'PATCH /v1/webhooks/{endpoint}': {
      summary: "Changes an endpoint's url or description, enables or disables it.",
      request: 'WebhookChange',
      replies: reply('The changed endpoint.', 'WebhookEndpoint'),
      problems: WRITE_PROBLEMS,
    },
    'DELETE /v1/webhooks/{endpoint}': {
      summary: 'Deletes an endpoint with its secrets, jobs and deliveries.',
      replies: reply('The endpoint is deleted.', 'WebhookDeleted'),
      problems: READ_PROBLEMS,
    },
    'POST /v1/webhooks/{endpoint}/secrets:rotate': {
      summary: 'Creates a new secret; previous secrets stay valid for a grace period.',
      moreScopes: 'and score, because the secret admits scoring requests',
      request: 'WebhookRotation',
      replies: reply('The endpoint and its new secret.', 'WebhookEndpointWithSecret'),
      problems: [...WRITE_PROBLEMS, 409],
    },
    'POST /v1/webhooks/{endpoint}/test': {
      summary: 'Sends a test event now and reports the result.',
      replies: reply('What the receiver answered.', 'WebhookTest'),
      problems: READ_PROBLEMS,
    },
    'POST /v1/webhooks/{endpoint}/score': {
      summary:
        'Scores one rollout asynchronously: a request signed by Standard Webhooks. The endpoint receives the outcome.',
      request: 'ScoreRequest',
      replies: {
        200: { description: 'A repeated webhook-id whose job has finished.', schema: 'WebhookAccepted' },
        202: { description: 'The job is accepted.', schema: 'WebhookAccepted' },
      },
      problems: [400, 401, 403, 404, 409, 413, 422, 500, 503],
    },
    'GET /v1/webhooks/{endpoint}/jobs/{job}': {
      summary: 'Returns the state of a job, with its outcome.',
      replies: reply('The job.', 'WebhookJob'),
      problems: READ_PROBLEMS,
    },
    'GET /v1/webhooks/{endpoint}/deliveries': {
      summary: 'Lists pending, delivered and failed deliveries of an endpoint.',
      replies: reply('One page.', 'WebhookDeliveries'),
      problems: READ_PROBLEMS,
    },
    'GET /v1/webhooks/{endpoint}/deliveries/{message}': {
      summary: 'Returns one delivery with its attempts and its body.',
      replies: reply('The delivery.', 'WebhookDelivery'),
      problems: READ_PROBLEMS,
    },
    'POST /v1/webhooks/{endpoint}/deliveries/{message}/resend': {
      summary: 'Sends a message again, whatever its state, and retries it for 24 hours.',
      replies: reply('The delivery.', 'WebhookDelivery'),
      problems: READ_PROBLEMS,
    },
  },
  requests: {
    WebhookRegistration: endpointRegistrationSchema,
    WebhookChange: endpointChangeSchema,
    WebhookRotation: secretRotationSchema,
  },
  replies: {
    WebhookEndpoint: endpointSchema,
    WebhookEndpoints: endpointsSchema,
    WebhookEndpointWithSecret: endpointWithSecretSchema,
    WebhookDeleted: deletedEndpointSchema,
    WebhookTest: endpointTestSchema,
    WebhookAccepted: acceptedJobSchema,
    WebhookJob: jobSchema,
    WebhookDelivery: deliveryDetailSchema,
    WebhookDeliveries: deliveriesSchema,
    ScoreCompletedEvent: scoreCompletedEventSchema,
    ScoreFailedEvent: scoreFailedEventSchema,
  },
} satisfies Section;
