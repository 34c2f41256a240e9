/** The drop-ins for APIs of vendors in the OpenAPI document. */
import { azureErrorSchema, azureQuerySchema, azureReplySchema, azureRequestSchema } from '../compat/azure.ts';
import { bedrockErrorSchema, bedrockReplySchema, bedrockRequestSchema } from '../compat/bedrock.ts';
import { googleErrorSchema, googleQuerySchema, googleReplySchema, googleRequestSchema } from '../compat/google.ts';
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
  ],
  requests: {
    AzureGroundednessRequest: azureRequestSchema,
    BedrockGuardrailRequest: bedrockRequestSchema,
    GoogleGroundingRequest: googleRequestSchema,
  },
  replies: {
    AzureGroundednessReply: azureReplySchema,
    AzureError: azureErrorSchema,
    BedrockGuardrailReply: bedrockReplySchema,
    BedrockError: bedrockErrorSchema,
    GoogleGroundingReply: googleReplySchema,
    GoogleError: googleErrorSchema,
  },
};
