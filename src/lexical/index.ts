/**
 * Compares claims, statements and criteria with texts by words: deterministic, without a model.
 * docs/concepts/lexical-judge.md describes the method and its limits.
 */
export { namesOfLabels } from './answer-names.ts';
export { type AnswerText, type AnswerWords, createAskedWords, createWordCounter } from './answer-words.ts';
export { isSpacedUnit } from './character-classes.ts';
export { countContentTokens } from './content-tokens.ts';
export { hasContentWord } from './content-words.ts';
export { markWords, scoreCriterion, statesTerms, type WordMarks } from './criterion.ts';
export {
  type ClaimEvidence,
  coverageOfEach,
  gatherEvidence,
  lexicalSupport,
  type SourceSpan,
} from './gather-evidence.ts';
export { KNOWN_LANGUAGES } from './languages.ts';
export { needsCitation } from './needs-citation.ts';
export { type EvidenceIndex, indexSources, type SourceText } from './source-index.ts';
export { isLexicalJudge, LEXICAL_JUDGE_MODEL, supportVerdict } from './support-model.ts';
