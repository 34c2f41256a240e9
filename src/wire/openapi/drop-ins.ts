/** The drop-ins for APIs of vendors in the OpenAPI document. */
import { azureRequestSchema } from '../compat/azure.ts';
import { bedrockRequestSchema } from '../compat/bedrock.ts';
import { googleRequestSchema } from '../compat/google.ts';
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

const GROUNDING = { problems: [400, 401, 403, 429, 500, 503] } as const;

const GOOGLE = {
  ...GROUNDING,
  request: 'GoogleGroundingRequest',
  replies: { 200: { description: 'The score and the claims.', schema: 'GoogleGroundingReply' } },
  failure: 'GoogleError',
} as const;

export const DROP_INS = {
  tag: { name: 'drop-ins', description: 'APIs of vendors, for their own clients.' },
  routes: {
    'POST /compat/azure/contentsafety/text:detectGroundedness': {
      ...GROUNDING,
      summary: 'Azure AI Content Safety: says which sentences of a text its sources do not support.',
      request: 'AzureGroundednessRequest',
      replies: { 200: { description: 'The ungrounded sentences.', schema: 'AzureGroundednessReply' } },
      failure: 'AzureError',
    },
    'POST /compat/bedrock/guardrail/{guardrail}/version/{version}/apply': {
      ...GROUNDING,
      summary: 'Amazon Bedrock ApplyGuardrail: the contextual grounding policy.',
      request: 'BedrockGuardrailRequest',
      replies: { 200: { description: 'The scores and the action.', schema: 'BedrockGuardrailReply' } },
      problems: [400, 403, 429, 500, 503],
      failure: 'BedrockError',
    },
    'POST /compat/google/{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': {
      ...GOOGLE,
      summary: 'Google Discovery Engine: checks an answer against facts.',
    },
    'POST /{version}/projects/{project}/locations/{location}/groundingConfigs/{check}': {
      ...GOOGLE,
      summary: "The same for Google's clients, which take a host and no path.",
    },
    'POST /compat/openai/v1/fine_tuning/alpha/graders/run': {
      ...GROUNDING,
      summary: "OpenAI's graders: runs a grader object on one sample.",
      request: 'GraderRun',
      replies: { 200: { description: 'The reward.', schema: 'GraderReply' } },
      failure: 'OpenAiError',
    },
    'POST /compat/openai/v1/fine_tuning/alpha/graders/validate': {
      ...GROUNDING,
      summary: "OpenAI's graders: checks a grader object.",
      request: 'GraderValidation',
      replies: { 200: { description: 'The grader, as it was sent.', schema: 'ValidGrader' } },
      failure: 'OpenAiError',
    },
  },
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
} satisfies Section;
