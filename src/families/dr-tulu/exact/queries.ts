/** Counts tool-call queries like rlresearch/dr-tulu 6188f34c (`format_utils.py`, `search_utils.py`). */

import { stripPythonSpace } from '../../../text/python-text.ts';
import type { CallForm } from '../terms/transcript.ts';
import { attributeStart, contentsBetween, forwardSearch } from './elements.ts';

/**
 * The call form of a parser of the reference (`mcp_parser_name`; `null`: plain `<search>`).
 * @throws RangeError for an unknown parser, where the reference raises ValueError.
 */
export function callFormOf(parserName: string | null): CallForm {
  switch (parserName) {
    case null:
      return 'search';
    case 'unified':
    case 'v20250824':
      return parserName;
    default:
      throw new RangeError('callFormOf: no such parser');
  }
}

/**
 * The queries in order. Blank queries are dropped, repeated ones kept; plain `<search>` queries are trimmed.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - an unclosed call swallows the next one;
 * - `</call>` closes a `<call_tool>` only while no call of the text has the full closing tag.
 */
export function extractQueries(context: string, form: CallForm): readonly string[] {
  return callContents(context, form).flatMap((content) => {
    const query = stripPythonSpace(content);
    return query === '' ? [] : [form === 'search' ? query : content];
  });
}

function callContents(context: string, form: CallForm): readonly string[] {
  switch (form) {
    case 'search':
      return contentsBetween(context, '<search>', '</search>');
    case 'unified':
      return namedCalls(context, '<tool', '</tool>');
    case 'v20250824': {
      const whole = namedCalls(context, '<call_tool', '</call_tool>');
      return whole.length > 0 ? whole : namedCalls(context, '<call_tool', '</call>');
    }
  }
}

/** Contents of `<… name=…>` up to the next closing tag. */
function namedCalls(context: string, open: string, close: string): string[] {
  const contents: string[] = [];
  const greaterThan = forwardSearch(context, '>');
  for (let at = context.indexOf(open); at !== -1; ) {
    const value = attributeStart(context, at + open.length, 'name');
    if (value === -1) {
      at = context.indexOf(open, at + open.length);
      continue;
    }
    const tagEnd = greaterThan(value);
    const end = tagEnd === -1 ? -1 : context.indexOf(close, tagEnd + 1);
    if (end === -1) break;
    contents.push(context.slice(tagEnd + 1, end));
    at = context.indexOf(open, end + close.length);
  }
  return contents;
}

/**
 * The number of search turns.
 * Source: rlresearch/dr-tulu 6188f34c. Defects kept:
 * - only the context before a closed answer counts, so a response without one loses every search;
 * - repeated queries count again.
 */
export function countQueries(context: string | null, form: CallForm): number {
  return context === null ? 0 : extractQueries(context, form).length;
}
