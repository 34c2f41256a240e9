/**
 * What is too large to verify or judge, found right after parsing: what is refused should cost only that. Each limit is
 * far above real use (src/limits.ts); together they bound time, memory and the size of a reply.
 */
import type { InputProblem } from '../input-problem.ts';
import { MAX_CITATIONS, MAX_CLAIMS, MAX_COMPARED_CHARS, MAX_SOURCES, MAX_STATEMENTS } from '../limits.ts';
import type { ParsedResponse, SourceSet } from './types.ts';

/** The limits that a parsed response and its sources exceed. `sourcesField` names where the sources came from. */
export function sizeProblems(
  parsed: ParsedResponse,
  sources: SourceSet,
  sourcesField: 'tool_output' | 'sources',
): readonly InputProblem[] {
  const problems: InputProblem[] = [];
  const limit = (field: string, what: string, count: number, most: number): void => {
    if (count > most) problems.push({ path: [field], message: `${count} ${what}; at most ${most}` });
  };
  let citations = 0;
  let comparedChars = 0;
  for (const { ids, text } of parsed.claims) {
    citations += ids.length;
    for (const { source } of ids) {
      const cited = source === null ? undefined : sources.list[source];
      if (cited !== undefined) comparedChars += cited.text.length + text.length;
    }
  }
  limit('response', 'claims', parsed.claims.length, MAX_CLAIMS);
  limit('response', 'citations', citations, MAX_CITATIONS);
  limit('response', 'uncited statements', parsed.statements.length, MAX_STATEMENTS);
  limit(sourcesField, 'sources', sources.list.length, MAX_SOURCES);
  limit('response', 'characters of cited text over all citations', comparedChars, MAX_COMPARED_CHARS);
  return problems;
}
