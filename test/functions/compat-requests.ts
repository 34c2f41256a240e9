/** Requests of the vendors' clients as they arrive at the drop-ins. */
import { post } from './api.ts';

/** Two sentences that the sources support, and one that they contradict. The first has characters of two to four bytes. */
export const SUPPORTED = 'Zürich 🚋 The Aare is 288 kilometres long.';
export const ALSO_SUPPORTED = 'The Aare rises at the Aare Glaciers in the Bernese Alps.';
export const UNSUPPORTED = 'The Aare ends in the Danube near Vienna after 900 kilometres.';
export const ANSWER = `${SUPPORTED} ${ALSO_SUPPORTED} ${UNSUPPORTED}`;

export const SOURCES = [
  'Zürich 🚋 The Aare is 288 kilometres long. It is the longest river that lies entirely within Switzerland.',
  'The Aare rises at the Aare Glaciers in the Bernese Alps and joins the Rhine near Koblenz.',
] as const;

const QUESTION = 'How long is the Aare, and where does it rise?';

export const GROUNDING_VENDORS = ['azure', 'bedrock', 'google', 'google at the root'] as const;
export type GroundingVendor = (typeof GROUNDING_VENDORS)[number];

export const GOOGLE_PATH = '/v1/projects/p1/locations/global/groundingConfigs/default_grounding_config:check';

export const PATHS: Readonly<Record<GroundingVendor, string>> = {
  azure: '/compat/azure/contentsafety/text:detectGroundedness?api-version=2024-09-15-preview',
  bedrock: '/compat/bedrock/guardrail/grounding80relevance50/version/DRAFT/apply',
  google: `/compat/google${GOOGLE_PATH}?$alt=json%3Benum-encoding=int`,
  'google at the root': `${GOOGLE_PATH}?$alt=json%3Benum-encoding=int`,
};

/** The body of a vendor's client. @param text the answer; @param sources default: SOURCES. */
export function bodyOf(vendor: GroundingVendor, text: string = ANSWER, sources: readonly string[] = SOURCES): object {
  switch (vendor) {
    case 'azure':
      return { domain: 'Generic', task: 'QnA', qna: { query: QUESTION }, text, groundingSources: sources };
    case 'bedrock':
      return {
        source: 'OUTPUT',
        content: [
          ...sources.map((source) => ({ text: { text: source, qualifiers: ['grounding_source'] } })),
          { text: { text: QUESTION, qualifiers: ['query'] } },
          { text: { text, qualifiers: ['guard_content'] } },
        ],
      };
    default:
      return {
        groundingConfig: 'projects/p1/locations/global/groundingConfigs/default_grounding_config',
        answerCandidate: text,
        facts: sources.map((factText, n) => ({ factText, attributes: { author: `author ${n}` } })),
        groundingSpec: { citationThreshold: 0.6, enableClaimLevelScore: true },
      };
  }
}

export function requestOf(
  vendor: GroundingVendor,
  body: unknown = bodyOf(vendor),
  headers: Record<string, string> = {},
): Request {
  return post(PATHS[vendor], body, headers);
}

/** How the client of a vendor sends its key. */
export function keyOf(vendor: GroundingVendor, key: string): Record<string, string> {
  switch (vendor) {
    case 'azure':
      return { 'ocp-apim-subscription-key': key };
    case 'bedrock': {
      const scope = '20261123/eu-central-1/bedrock/aws4_request';
      const signed = 'SignedHeaders=content-type;host;x-amz-date, Signature=0011';
      return { authorization: `AWS4-HMAC-SHA256 Credential=${key}/${scope}, ${signed}` };
    }
    default:
      return { 'x-goog-api-key': key };
  }
}

const check = (operation: string, reference: string) => ({
  ...{ type: 'string_check', name: operation, operation },
  ...{ input: '{{ sample.output_text }}', reference },
});

/** A grader that needs no judge. */
export const MULTI_RUN = {
  grader: {
    type: 'multi',
    name: 'length-and-source',
    graders: { states: check('like', '{{ item.length_km }} km'), cites: check('ilike', 'federal office') },
    calculate_output: '0.75 * states + 0.25 * cites',
  },
  model_sample: 'The Aare is 288 km long.',
  item: { length_km: 288 },
} as const;
