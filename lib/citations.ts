/**
 * Exports the citation parser that `verifyCitations` uses: grammars, source readers, parsed responses, and the
 * word-based comparison of claims with sources.
 */
export { CITATION_POLICIES, type CitationPolicy } from '../src/citations/citation-policy.ts';
export { GRAMMAR_NAMES, GRAMMARS, type Grammar, type GrammarName } from '../src/citations/grammars.ts';
export { OFFSET_UNITS, type OffsetUnit, withOffsets } from '../src/citations/offset-units.ts';
export { type ParseOptions, parseResponse } from '../src/citations/parse.ts';
export { parseSources, type SourceInput, sourcesFromList } from '../src/citations/sources.ts';
export type { StreamEvent } from '../src/citations/stream/events.ts';
export {
  createIncrementalVerifier,
  type IncrementalOptions,
  type IncrementalVerifier,
} from '../src/citations/stream/verifier.ts';
export {
  FINDING_REASONS,
  type Finding,
  type FindingReason,
  type ParsedResponse,
  type Source,
  type SourceSet,
} from '../src/citations/types.ts';
export { splitSentences } from '../src/text/sentences.ts';
