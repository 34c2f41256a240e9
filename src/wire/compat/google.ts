/**
 * Google Discovery Engine, `groundingConfigs.check`: its request and its reply in proto3 JSON. Source:
 * @google-cloud/discoveryengine 2.9.0, `grounded_generation_service.proto` and `grounding.proto`.
 */
import * as z from 'zod';
import { Offsets } from '../../citations/offset-units.ts';
import { MAX_SOURCES, MAX_TEXT_CHARS } from '../../limits.ts';
import type { Grounding, GroundingRequest } from '../../scoring/grounding.ts';
import type { googleReplySchema } from './replies.ts';

const text = z.string().max(MAX_TEXT_CHARS);

/** Google's own default. */
const DEFAULT_THRESHOLD = 0.6;

/** The system parameters that Google's clients send. */
export const googleQuerySchema = z.strictObject({
  $alt: z.enum(['json', 'json;enum-encoding=int']).exactOptional().describe('The reply has no enums.'),
  $prettyPrint: z.string().exactOptional().describe('Accepted: the reply is never indented.'),
});

export const googleRequestSchema = z.strictObject({
  groundingConfig: z.string().exactOptional().describe('The resource name, as in the path.'),
  answerCandidate: text.min(1),
  facts: z
    .array(z.strictObject({ factText: text, attributes: z.record(z.string(), z.string()).exactOptional() }))
    .min(1)
    .max(MAX_SOURCES),
  groundingSpec: z
    .strictObject({
      citationThreshold: z
        .number()
        .min(0)
        .max(1)
        .exactOptional()
        .describe(`A claim cites facts if its score is at least this. Default ${DEFAULT_THRESHOLD}.`),
      enableClaimLevelScore: z.boolean().exactOptional(),
    })
    .default({}),
  userLabels: z.record(z.string(), z.string()).exactOptional().describe('Accepted and not stored.'),
});

type GoogleRequest = z.infer<typeof googleRequestSchema>;

export function googleGrounding({ answerCandidate, facts }: GoogleRequest): GroundingRequest {
  const sources = facts.map(({ factText }) => factText);
  return { text: answerCandidate, question: '', sources, asksRelevance: false };
}

export function googleReply(
  { answerCandidate, facts, groundingSpec }: GoogleRequest,
  { sentences }: Grounding,
): z.infer<typeof googleReplySchema> {
  const { citationThreshold: threshold = DEFAULT_THRESHOLD, enableClaimLevelScore: withScores = false } = groundingSpec;
  const citations = sentences.map(({ isChecked, support, sources }) =>
    isChecked && support > 0 && support >= threshold ? sources : [],
  );
  const cited = [...new Set(citations.flat())].sort((a, b) => a - b);
  const chunkOf = new Map(cited.map((fact, chunk) => [fact, chunk]));
  const checked = sentences.filter(({ isChecked }) => isChecked);
  const bytes = new Offsets(answerCandidate, 'utf8');
  const textOf = (fact: number): string => facts[fact]?.factText ?? '';
  return {
    supportScore: checked.reduce((sum, { support }) => sum + support, 0) / checked.length,
    citedChunks: cited.map((fact) => ({
      ...{ chunkText: textOf(fact), source: String(fact) },
      sourceMetadata: facts[fact]?.attributes ?? {},
    })),
    citedFacts: cited.map((fact) => ({ chunkText: textOf(fact) })),
    claims: sentences.map(({ span, text: claimText, isChecked, support }, n) => ({
      startPos: bytes.at(span.start),
      endPos: bytes.at(span.end),
      claimText,
      citationIndices: (citations[n] ?? []).flatMap((fact) => chunkOf.get(fact) ?? []),
      groundingCheckRequired: isChecked,
      ...(withScores && isChecked ? { score: support } : {}),
    })),
  };
}
