/** Lexical support of claims by cited texts: deterministic, no model, no platform. docs/lexical-judge.md says what it can and cannot see. */
export { countContentTokens } from './content-tokens.ts';
export { CRITERION_MET_MIN, CRITERION_PARTIAL_MIN, scoreCriterion } from './criterion.ts';
export {
  type ClaimEvidence,
  gatherEvidence,
  lexicalSupport,
  RELEVANT_COVERAGE,
  type SourceSpan,
  VERBATIM_MIN_CONTENT_TOKENS,
} from './gather-evidence.ts';
export { needsCitation } from './needs-citation.ts';
export { type EvidenceIndex, indexSources, type SourceText } from './source-index.ts';
export { FULL_SUPPORT_MIN, LEXICAL_JUDGE_MODEL, PARTIAL_SUPPORT_MIN, supportVerdict } from './support-model.ts';
export { foldText } from './verbatim.ts';
