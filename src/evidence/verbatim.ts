import type { SourceTokens } from './source-index.ts';
import type { TokenList } from './tokens.ts';
export function findVerbatim(_claim: string, _own: TokenList, _tokens: TokenList, _source: SourceTokens): { start: number; end: number } | null {
  return null;
}
