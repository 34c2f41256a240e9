/**
 * Reads dr-tulu transcripts with our parser: the answer, the context and its sources, the search queries. Source of the
 * format and of each number: rlresearch/dr-tulu 6188f34c, `search_rewards/utils/format_utils.py` and `search_utils.py`.
 * That code loses text of some rows; this parser keeps it (test/unit/families/dr-tulu-golden.test.ts).
 */
import { readBlocks } from '../../../citations/blocks.ts';
import { readElementClaims } from '../../../citations/element-claims.ts';
import { FindingList } from '../../../citations/findings.ts';
import { GRAMMARS } from '../../../citations/grammars.ts';
import { parseSources } from '../../../citations/sources.ts';
import { readTag } from '../../../citations/tags.ts';
import type { Claim, SourceSet } from '../../../citations/types.ts';
import { hasContent } from '../../../text/characters.ts';
import { type Span, trimSpan } from '../../../text/span.ts';

/** How a transcript writes its tool calls: `<search>`, `<tool name=…>` or `<call_tool name=…>`. */
export type CallForm = 'search' | 'unified' | 'v20250824';

type Transcript = {
  /** Everything before the answer block, trimmed; `null` without a closed answer. */
  readonly context: string | null;
  /** Content of the first closed answer block outside thinking, trimmed. */
  readonly answer: string | null;
  /** The sources in the context. */
  readonly sources: SourceSet | null;
};

/**
 * Splits a transcript at its first closed answer.
 *
 * @param outputs The parts of the text that tools wrote, which alone can contain sources; `null` = not known.
 */
export function readTranscript(response: string, outputs: readonly Span[] | null = null): Transcript {
  const block = readBlocks(response, null, 'first').judged;
  if (block === null) return { context: null, answer: null, sources: null };
  const context = response.slice(0, block.element.start).trim();
  return {
    context,
    answer: response.slice(block.content.start, block.content.end).trim(),
    sources: parseSources(outputs === null ? context : outputsBefore(response, outputs, block.element.start)),
  };
}

/** The outputs that the policy saw before its answer. An element of its own ends each, as in tool output. */
function outputsBefore(response: string, outputs: readonly Span[], answer: number): string {
  return outputs
    .filter(({ end }) => end <= answer)
    .map(({ start, end }) => `<tool_output>${response.slice(start, end)}</tool_output>`)
    .join('');
}

export const CALL_ELEMENTS: Record<CallForm, readonly string[]> = {
  search: ['search'],
  unified: ['tool'],
  // The closing tag has two spellings.
  v20250824: ['call_tool', 'call'],
};

/**
 * The queries of closed tool calls, in order. Blank queries are dropped, repeated ones kept. Plain `<search>` queries
 * are trimmed; the other forms are kept as written, as in the reference.
 */
export function readQueries(context: string, form: CallForm): readonly string[] {
  const names = CALL_ELEMENTS[form];
  const queries: string[] = [];
  let from = -1;
  for (let at = context.indexOf('<'); at !== -1; ) {
    const tag = readTag(context, at, context.length, names);
    if (tag === null) {
      at = context.indexOf('<', at + 1);
      continue;
    }
    if (!tag.closing) from = tag.span.end;
    else if (from !== -1) {
      const query = context.slice(from, tag.span.start);
      if (query.trim() !== '') queries.push(form === 'search' ? query.trim() : query);
      from = -1;
    }
    at = context.indexOf('<', tag.span.end);
  }
  return queries;
}

type TranscriptClaims = {
  readonly claims: readonly Claim[];
  /** Trimmed text between the claims that has a letter or digit. */
  readonly uncited: readonly { readonly text: string; readonly span: Span }[];
  /** How often a claim cites an id again. */
  readonly repeated: number;
};

/** Parses claims in the `cite` grammar, in the closed answer block if there is one, else in the whole text. */
export function readCitedClaims(response: string, sources: SourceSet): TranscriptClaims {
  const grammar = GRAMMARS.cite;
  const answered = readBlocks(response, grammar.element, 'first');
  const block = answered.judged ?? readBlocks(response, grammar.element, 'whole').judged;
  if (block === null) return { claims: [], uncited: [], repeated: 0 };
  const findings = new FindingList();
  const read = readElementClaims(response, block.content, block.tags, grammar.attributes, sources, findings);
  const uncited = read.stretches
    .filter((stretch) => !stretch.claim && hasContent(response, stretch.start, stretch.end))
    .map(({ start, end }) => ({ text: response.slice(start, end).trim(), span: trimSpan(response, start, end) }));
  return { claims: read.claims, uncited, repeated: findings.count('citation_id_repeated') };
}
