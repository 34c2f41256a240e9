/** The answer of a rollout as the counts of a run read it, from what the citation parser found. */
import { canonicalAnswer } from '../citations/canonical-answer.ts';
import type { GrammarName } from '../citations/grammars.ts';
import { parseResponse } from '../citations/parse.ts';
import type { ParsedResponse, SourceSet } from '../citations/types.ts';
import type { AnswerText } from '../lexical/index.ts';

/** @param answer the answer, whose citations are tags. */
export function answerText(
  answer: string,
  question: string,
  { sources, parsed }: { readonly sources: SourceSet; readonly parsed: Pick<ParsedResponse, 'claims' | 'counts'> },
): AnswerText {
  return {
    answer,
    question,
    sources: sources.list,
    claims: parsed.claims.map(({ ids }) => ids.map(({ source }) => source)),
    claimTexts: parsed.claims.map(({ text }) => text),
    repeated: parsed.counts.citation_id_repeated ?? 0,
  };
}

/** Reads the answer for a family that judges no claims: its first closed answer block, else the whole response. */
export function readAnswerText(
  response: string,
  question: string,
  sources: SourceSet,
  grammar: GrammarName,
): AnswerText {
  const inBlock = parseResponse(response, sources, { grammar, answer: 'first' });
  const parsed = inBlock.answer === null ? parseResponse(response, sources, { grammar, answer: 'whole' }) : inBlock;
  const answer = parsed.answer === null ? '' : canonicalAnswer(response, parsed.answer, parsed.claims, grammar);
  return answerText(answer, question, { sources, parsed });
}
