/** The drop-ins for APIs of vendors in the OpenAPI document. */
import { azureQuerySchema, azureRequestSchema } from '../compat/azure.ts';
import { bedrockRequestSchema } from '../compat/bedrock.ts';
import { googleQuerySchema, googleRequestSchema } from '../compat/google.ts';
import {
  describedRunSchema,
  describedValidateSchema,
  graderReplySchema,
  graderValidReplySchema,
  openAiErrorSchema,
} from '../compat/graders/described.ts';
import {
  azureErrorSchema,
  azureReplySchema,
  bedrockErrorSchema,
  bedrockReplySchema,
  googleErrorSchema,
  googleReplySchema,
} from '../compat/replies.ts';
import type { Section } from './route.ts';

const GROUNDING = { method: 'post', scope: 'score', problems: [400, 401, 403, 429, 500, 503] } as const;

const GOOGLE = {
  ...GROUNDING,
  query: googleQuerySchema,
  request: 'GoogleGroundingRequest',
  replies: { 200: { description: 'The score and the claims.', schema: 'GoogleGroundingReply' } },
  failure: 'GoogleError',
} as const;

export const DROP_INS: Section = {
  tag: { name: 'drop-ins', description: 'APIs of vendors, for their own clients.' },
  routes: [
    {
      ...GROUNDING,
      path: '/compat/azure/contentsafety/text:detectGroundedness',
      summary: 'Azure AI Content Safety: says which sentences of a text its sources do not support.',
      query: azureQuerySchema,
      request: 'AzureGroundednessRequest',
      replies: { 200: { description: 'The ungrounded sentences.', schema: 'AzureGroundednessReply' } },
      failure: 'AzureError',
    },
    {
      ...GROUNDING,
      path: '/compat/bedrock/guardrail/{guardrail}/version/{version}/apply',
      summary: 'Amazon Bedrock ApplyGuardrail: the contextual grounding policy.',
      request: 'BedrockGuardrailRequest',
      replies: { 200: { description: 'The scores and the action.', schema: 'BedrockGuardrailReply' } },
      problems: [400, 403, 429, 500, 503],
      failure: 'BedrockError',
    },
    {
      ...GOOGLE,
      path: '/compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}',
      summary: 'Google Discovery Engine: checks an answer against facts.',
    },
    {
      ...GOOGLE,
      path: '/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}',
      summary: "The same for Google's clients, which take a host and no path.",
    },
    {
      ...GROUNDING,
      path: '/compat/openai/v1/fine_tuning/alpha/graders/run',
      summary: "OpenAI's graders: runs a grader object on one sample.",
      request: 'GraderRun',
      replies: { 200: { description: 'The reward.', schema: 'GraderReply' } },
      failure: 'OpenAiError',
    },
    {
      ...GROUNDING,
      path: '/compat/openai/v1/fine_tuning/alpha/graders/validate',
      summary: "OpenAI's graders: checks a grader object.",
      request: 'GraderValidation',
      replies: { 200: { description: 'The grader, as it was sent.', schema: 'ValidGrader' } },
      failure: 'OpenAiError',
    },
  ],
  requests: {
    GraderRun: describedRunSchema,
    GraderValidation: describedValidateSchema,
    AzureGroundednessRequest: azureRequestSchema,
    BedrockGuardrailRequest: bedrockRequestSchema,
    GoogleGroundingRequest: googleRequestSchema,
  },
  replies: {
    GraderReply: graderReplySchema,
    ValidGrader: graderValidReplySchema,
    OpenAiError: openAiErrorSchema,
    AzureGroundednessReply: azureReplySchema,
    AzureError: azureErrorSchema,
    BedrockGuardrailReply: bedrockReplySchema,
    BedrockError: bedrockErrorSchema,
    GoogleGroundingReply: googleReplySchema,
    GoogleError: googleErrorSchema,
  },
};
