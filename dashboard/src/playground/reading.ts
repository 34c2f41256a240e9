/**
 * What the page knows of a rollout before anyone is asked: the same parser and the same lexical evidence as
 * `POST /v1/verify?evidence=lexical`, run in this browser on every keystroke.
 */
import type { GrammarName } from '../../../src/citations/grammars.ts';
import { parseResponse } from '../../../src/citations/parse.ts';
import { sizeProblems } from '../../../src/citations/size.ts';
import { sourcesOf } from '../../../src/citations/sources.ts';
import type { Source } from '../../../src/citations/types.ts';
import { describeResponse, type Verification } from '../../../src/citations/verify.ts';
import type { Draft } from './draft.ts';

export type ReadingOptions = { readonly grammar: GrammarName; readonly mode: 'full' | 'answer_only' };

export type Reading =
  | {
      readonly ok: true;
      readonly verification: Verification;
      /** With their texts, in the order of `verification.sources`. */
      readonly sources: readonly Source[];
      readonly milliseconds: number;
    }
  /** Larger than the API takes. */
  | { readonly ok: false; readonly problems: readonly string[] };

export function read(draft: Draft, { grammar, mode }: ReadingOptions): Reading {
  const began = performance.now();
  const { response, tool_output, sources: given } = draft;
  const sources = sourcesOf(tool_output === null ? { sources: given } : { tool_output });
  const parsed = parseResponse(response, sources, { grammar });
  const problems = sizeProblems(parsed, sources, tool_output === null ? 'sources' : 'tool_output');
  if (problems.length > 0) {
    return { ok: false, problems: problems.map(({ path, message }) => `${path.join('.')}: ${message}`) };
  }
  const verification = describeResponse(response, parsed, sources, mode, 'lexical');
  return { ok: true, verification, sources: sources.list, milliseconds: performance.now() - began };
}
