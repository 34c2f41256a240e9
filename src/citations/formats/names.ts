/** Names of the formats in which vendors send cited answers. */

/** All format names, in the order in which a format is detected. */
export const ANSWER_FORMATS = [
  'anthropic',
  'openai',
  'gemini',
  'cohere',
  'bedrock',
  'mistral',
  'ai-sdk',
  'perplexity',
  'markdown',
] as const;

/** Name of a format of cited answers. */
export type AnswerFormatName = (typeof ANSWER_FORMATS)[number];

/** Every reason of a finding about the conversion of a cited answer. */
export const ANSWER_FINDING_REASONS = [
  'offset_reading',
  'claim_moved',
  'claim_not_found',
  'claims_joined',
  'citation_without_place',
  'citation_unread',
  'cited_text_moved',
  'cited_text_not_in_source',
  'cited_text_unchecked',
  'source_not_given',
  'source_without_text',
  'source_id_changed',
  'markup_replaced',
] as const;

export type AnswerFindingReason = (typeof ANSWER_FINDING_REASONS)[number];
