/**
 * The replies and errors of the grounding drop-ins, for the API description and tests. The Worker needs only their types.
 */
import * as z from 'zod';

const lengthSchema = z.strictObject({ utf8: z.int().min(0), utf16: z.int().min(0), codePoint: z.int().min(0) });

export const azureReplySchema = z.strictObject({
  ungroundedDetected: z.boolean(),
  ungroundedPercentage: z.number().min(0).max(1).describe('Characters of ungrounded sentences / of checked sentences.'),
  ungroundedDetails: z.array(
    z.strictObject({
      text: z.string(),
      offset: lengthSchema,
      length: lengthSchema,
      reason: z.string().exactOptional(),
    }),
  ),
});

export const azureErrorSchema = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    innererror: z.strictObject({ code: z.string().describe('The reason as in Problem.') }),
  }),
});

export const googleReplySchema = z.strictObject({
  supportScore: z.number().min(0).max(1).describe('Mean score of the claims that require a check.'),
  citedChunks: z.array(
    z.strictObject({
      chunkText: z.string(),
      source: z.string().describe('The index of the fact, as text.'),
      sourceMetadata: z.record(z.string(), z.string()).describe('The attributes of the fact.'),
    }),
  ),
  citedFacts: z.array(z.strictObject({ chunkText: z.string() })),
  claims: z.array(
    z.strictObject({
      startPos: z.int().min(0).describe('UTF-8 bytes.'),
      endPos: z.int().min(0).describe('UTF-8 bytes, exclusive.'),
      claimText: z.string(),
      citationIndices: z.array(z.int().min(0)).describe('Indexes into citedChunks.'),
      groundingCheckRequired: z.boolean(),
      score: z.number().min(0).max(1).exactOptional().describe('Only with enableClaimLevelScore.'),
    }),
  ),
});

export const googleErrorSchema = z.strictObject({
  error: z.strictObject({
    code: z.int(),
    message: z.string(),
    status: z.string(),
    details: z
      .array(z.strictObject({ '@type': z.string(), reason: z.string(), domain: z.literal('citeward') }))
      .describe('One ErrorInfo, whose reason is that of Problem.'),
  }),
});

const FILTER_TYPES = ['GROUNDING', 'RELEVANCE'] as const;

const count = z.int().min(0);

export const bedrockReplySchema = z.strictObject({
  usage: z.strictObject({
    topicPolicyUnits: count,
    contentPolicyUnits: count,
    wordPolicyUnits: count,
    sensitiveInformationPolicyUnits: count,
    sensitiveInformationPolicyFreeUnits: count,
    contextualGroundingPolicyUnits: count.describe('Thousands of characters of all blocks, rounded up.'),
  }),
  action: z.enum(['NONE', 'GUARDRAIL_INTERVENED']),
  outputs: z.array(z.strictObject({ text: z.string() })).describe('The message of an intervention.'),
  assessments: z.array(
    z.strictObject({
      contextualGroundingPolicy: z.strictObject({
        filters: z.array(
          z.strictObject({
            type: z.enum(FILTER_TYPES),
            threshold: z.number().min(0).max(0.99),
            score: z.number().min(0).max(1),
            action: z.enum(['BLOCKED', 'NONE']),
            detected: z.boolean(),
          }),
        ),
      }),
    }),
  ),
});

export const bedrockErrorSchema = z.strictObject({
  message: z.string().describe('Begins with the reason as in Problem. The header x-amzn-errortype names the error.'),
});
