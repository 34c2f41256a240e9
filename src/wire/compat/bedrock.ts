/**
 * Amazon Bedrock, `ApplyGuardrail` with the contextual grounding policy: its request and its reply. Source:
 * @aws-sdk/client-bedrock-runtime 3.1164.0, `models_0.d.ts` and `enums.d.ts`.
 */
import * as z from 'zod';
import { MAX_SOURCES, MAX_TEXT_CHARS } from '../../limits.ts';
import type { Result } from '../../result.ts';
import type { Grounding, GroundingRequest } from '../../scoring/grounding.ts';
import type { bedrockReplySchema } from './replies.ts';

const QUALIFIERS = ['grounding_source', 'query', 'guard_content'] as const;

const blockSchema = z.strictObject({
  text: z.strictObject({
    text: z.string().min(1).max(MAX_TEXT_CHARS),
    qualifiers: z.array(z.enum(QUALIFIERS)).max(1).exactOptional(),
  }),
});

export const bedrockRequestSchema = z.strictObject({
  source: z.literal('OUTPUT').describe('Contextual grounding checks the output of a model; INPUT is not supported.'),
  content: z.array(blockSchema).min(1).max(MAX_SOURCES).describe('A block without qualifiers is content to guard.'),
  outputScope: z.enum(['INTERVENTIONS', 'FULL']).default('INTERVENTIONS').describe('Both give the same reply.'),
});

type BedrockRequest = z.infer<typeof bedrockRequestSchema>;

/** The threshold of each filter of a guardrail. @property relevance `null` = it is not checked. */
export type Guardrail = { readonly grounding: number; readonly relevance: number | null };

/** The thresholds of any other guardrail: those that the console of AWS proposes. */
const DEFAULT_GUARDRAIL: Guardrail = { grounding: 0.7, relevance: 0.7 };

/**
 * The filters of a guardrail. Its configuration is at AWS, so an identifier may say the thresholds in hundredths.
 *
 * @example
 * guardrailOf('grounding80relevance50'); // { grounding: 0.8, relevance: 0.5 }
 * guardrailOf('grounding80'); // { grounding: 0.8, relevance: null }
 * guardrailOf('gr1x2y3z'); // { grounding: 0.7, relevance: 0.7 }
 */
export function guardrailOf(identifier: string): Guardrail {
  const [matched, grounding, relevance] = /^grounding(\d{1,2})(?:relevance(\d{1,2}))?$/.exec(identifier) ?? [];
  if (matched === undefined) return DEFAULT_GUARDRAIL;
  return { grounding: Number(grounding) / 100, relevance: relevance === undefined ? null : Number(relevance) / 100 };
}

/** The check that a request asks for, or what its content lacks. */
export function bedrockGrounding(request: BedrockRequest, { relevance }: Guardrail): Result<GroundingRequest, string> {
  const [sources, queries] = [textsOf(request, 'grounding_source'), textsOf(request, 'query')];
  const guarded = textsOf(request, 'guard_content');
  const asksRelevance = relevance !== null;
  const lacks = (qualifier: (typeof QUALIFIERS)[number]) =>
    ({ ok: false, error: `expected a text block with the qualifier ${qualifier}` }) as const;
  if (guarded.length === 0) return lacks('guard_content');
  if (sources.length === 0) return lacks('grounding_source');
  if (asksRelevance && queries.length === 0) return lacks('query');
  return { ok: true, value: { text: guarded.join('\n\n'), question: queries.join('\n\n'), sources, asksRelevance } };
}

function textsOf({ content }: BedrockRequest, qualifier: (typeof QUALIFIERS)[number]): string[] {
  return content.flatMap(({ text: { text, qualifiers = [] } }) =>
    (qualifiers[0] ?? 'guard_content') === qualifier ? [text] : [],
  );
}

const FILTER_TYPES = ['GROUNDING', 'RELEVANCE'] as const;
const CHARS_PER_UNIT = 1000;
const BLOCKED_MESSAGE = 'Sorry, the model cannot answer this question.';

export function bedrockReply(
  { content }: BedrockRequest,
  guardrail: Guardrail,
  { sentences, relevance }: Grounding,
): z.infer<typeof bedrockReplySchema> {
  const checked = sentences.filter(({ isChecked }) => isChecked);
  const grounding = checked.reduce((sum, { support }) => sum + support, 0) / checked.length;
  const scores = { GROUNDING: grounding, RELEVANCE: relevance };
  const thresholds = { GROUNDING: guardrail.grounding, RELEVANCE: guardrail.relevance };
  const filters = FILTER_TYPES.flatMap((type) => {
    const [score, threshold] = [scores[type], thresholds[type]];
    if (threshold === null || score === null) return [];
    const detected = score < threshold;
    return [{ type, threshold, score, action: detected ? ('BLOCKED' as const) : ('NONE' as const), detected }];
  });
  const isBlocked = filters.some(({ detected }) => detected);
  const chars = content.reduce((sum, { text }) => sum + text.text.length, 0);
  return {
    usage: {
      ...{ topicPolicyUnits: 0, contentPolicyUnits: 0, wordPolicyUnits: 0 },
      ...{ sensitiveInformationPolicyUnits: 0, sensitiveInformationPolicyFreeUnits: 0 },
      contextualGroundingPolicyUnits: Math.ceil(chars / CHARS_PER_UNIT),
    },
    action: isBlocked ? 'GUARDRAIL_INTERVENED' : 'NONE',
    outputs: isBlocked ? [{ text: BLOCKED_MESSAGE }] : [],
    assessments: [{ contextualGroundingPolicy: { filters } }],
  };
}
