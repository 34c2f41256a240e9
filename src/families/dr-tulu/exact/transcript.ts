/**
 * Reads answer, context and sources like rlresearch/dr-tulu 6188f34c (`format_utils.py`). Matches element names in
 * lower case only.
 */

import { stripPythonSpace } from '../../../text/python-text.ts';
import { attributeStart, forwardSearch, readId } from './elements.ts';

const ANSWER_OPEN = '<answer>';
const ANSWER_CLOSE = '</answer>';

/** Maps ids to texts, ordered by first occurrence. */
export type ExactSources = ReadonlyMap<string, string>;

/** The answer: the block, or with `use_full_response_as_answer` the whole response. */
export type AnswerScope = 'block' | 'whole_response';

type ExactTranscript =
  | { readonly context: string; readonly answer: string; readonly sources: ExactSources }
  /**
   * `context` is `null` if no answer is closed (then `answer` is `null` too), or if the whole response is the answer.
   */
  | { readonly context: null; readonly answer: string | null; readonly sources: null };

/**
 * Splits a transcript at its first `<answer>`, which ends at the next `</answer>`; both parts are trimmed. A whole
 * response as the answer is not trimmed. Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - an opening tag that is only mentioned while thinking opens the answer, and sources after that tag are lost.
 */
export function extractTranscript(response: string, scope: AnswerScope = 'block'): ExactTranscript {
  if (scope === 'whole_response') return { context: null, answer: response, sources: null };
  const open = response.indexOf(ANSWER_OPEN);
  const close = open === -1 ? -1 : response.indexOf(ANSWER_CLOSE, open);
  if (close === -1) return { context: null, answer: null, sources: null };
  const context = stripPythonSpace(response.slice(0, open));
  return {
    context,
    answer: stripPythonSpace(response.slice(open + ANSWER_OPEN.length, close)),
    sources: extractSources(context),
  };
}

/** Name of each source element and its optional last letter, in the order of the patterns. */
const SOURCE_ELEMENTS = [
  ['snippet', 's'],
  ['snippe', 't'],
  ['webpag', 'e'],
] as const;

/**
 * Sources of a context: `<snippet id=…>`, `<snippets id=…>` and `<webpage id=…>`, texts trimmed, empty ones kept.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - of texts under one id only the last match is kept, and the three patterns run one after another;
 * - the last letter of a name is optional, so `<snippe id=…>` and `<webpag id=…>` match;
 * - a `>` inside a quoted attribute ends the tag, and the rest of the attribute becomes text;
 * - an unclosed or self-closing source swallows the text up to the next closing tag;
 * - one pattern lets `</snippet>` close `<snippets>` and vice versa; the other does not.
 */
export function extractSources(context: string): ExactSources {
  const sources = new Map<string, string>();
  for (const [name, optional] of SOURCE_ELEMENTS) collectSources(context, name, optional, sources);
  return sources;
}

function collectSources(context: string, name: string, optional: string, sources: Map<string, string>): void {
  const open = `<${name}`;
  const greaterThan = forwardSearch(context, '>');
  const shortClose = forwardSearch(context, `</${name}>`);
  const longClose = forwardSearch(context, `</${name}${optional}>`);
  for (let at = context.indexOf(open); at !== -1; ) {
    const named = at + open.length;
    const value = attributeStart(context, context.startsWith(optional, named) ? named + 1 : named, 'id');
    const id = value === -1 ? null : readId(context, value);
    if (id === null) {
      at = context.indexOf(open, named);
      continue;
    }
    const tagEnd = greaterThan(id.end);
    if (tagEnd === -1) return;
    const short = shortClose(tagEnd + 1);
    const long = longClose(tagEnd + 1);
    if (short === -1 && long === -1) return;
    const isShort = long === -1 || (short !== -1 && short < long);
    const end = isShort ? short : long;
    sources.set(id.id, stripPythonSpace(context.slice(tagEnd + 1, end)));
    at = context.indexOf(open, end + `</${name}>`.length + (isShort ? 0 : optional.length));
  }
}
