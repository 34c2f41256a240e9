/** Writes rows as prompts of the small policy. */
import type { Row } from './rows.ts';
import type { CitationStyle } from './style.ts';
import { tokensOf, type Vocabulary } from './words.ts';

/** Most sources of a row. */
export const MAX_SOURCES = 8;
/** Longest prompt of a row, in tokens. */
export const MAX_PROMPT_TOKENS = 256;
/** Prompts are padded to a multiple of this, so that few lengths are compiled. */
const LENGTH_STEP = 64;

/** Prompts as token ids, padded to a length: each length is compiled once. */
export type PromptBatch = {
  readonly prompts: readonly (readonly number[])[];
  /**
   * For each token of a prompt the number of its source, from 1; 0 = the question. Where tokens of the question are
   * marked, MAX_SOURCES more for those of a source that the question has, too.
   */
  readonly sources: readonly (readonly number[])[];
  readonly prompt_tokens: number;
  readonly answer_tokens: number;
};

type Prompt = { readonly tokens: readonly string[]; readonly sources: readonly number[] };

function promptOf(row: Row, marksAsked = false): Prompt {
  const asked = new Set(marksAsked ? tokensOf(row.question) : []);
  const parts = row.sources.map((text, n) => ({ tokens: ['S', ...tokensOf(text)], source: n + 1 }));
  const all = [...parts, { tokens: ['Q', ...tokensOf(row.question)], source: 0 }];
  return {
    tokens: all.flatMap(({ tokens }) => tokens),
    sources: all.flatMap(({ tokens, source }) =>
      tokens.map((token) => (source > 0 && asked.has(token) ? MAX_SOURCES + source : source)),
    ),
  };
}

/** Length of a prompt in tokens. */
export function promptTokens(row: Row): number {
  return promptOf(row).tokens.length;
}

/** All texts that prompts and answers of the style add to those of the rows. */
export function promptTexts(style: CitationStyle): string[] {
  const marks = Array.from({ length: MAX_SOURCES }, (_, n) => style.mark(n));
  return ['S Q <answer> </answer>', ...marks, ...(style.close === null ? [] : [style.close])];
}

/**
 * Encodes rows as one batch, padded to the next length that is compiled.
 * @param marksAsked whether tokens of sources that the question has are marked.
 */
export function batchOf(
  rows: readonly Row[],
  vocabulary: Vocabulary,
  answer_tokens: number,
  marksAsked: boolean,
): PromptBatch {
  const prompts = rows.map((row) => promptOf(row, marksAsked));
  const longest = Math.max(...prompts.map(({ tokens }) => tokens.length));
  return {
    prompts: prompts.map(({ tokens }) => vocabulary.encode(tokens)),
    sources: prompts.map(({ sources }) => sources),
    prompt_tokens: Math.ceil(longest / LENGTH_STEP) * LENGTH_STEP,
    answer_tokens,
  };
}
