/**
 * Writes an answer of any grammar as judges read it: in the grammar `snippet`, which their prompts describe. The same
 * claims with the same ids give the same text, and so the same judgment keys, in every grammar.
 */
import { SLASH } from '../text/characters.ts';
import type { Span } from '../text/span.ts';
import { GRAMMARS, type GrammarName } from './grammars.ts';
import type { Claim } from './types.ts';

/** A stretch of the answer that is written differently. */
type Change = Span & { readonly text: string };

/**
 * The text of the answer with snippet tags around its claims. Takes time linear in the answer, but for the order of its
 * claims. Tags in other text that judges would take for citations are defused (`‹snippet`).
 *
 * @param answer the content of the judged answer.
 * @param claims its claims, read in `grammar`.
 * In the grammar bracket, `It opened in 1937 [S1].` becomes `<snippet id=S1>It opened in 1937</snippet>.`
 */
export function canonicalAnswer(
  response: string,
  answer: Span,
  claims: readonly Claim[],
  grammar: GrammarName = 'snippet',
): string {
  if (grammar === 'snippet') return response.slice(answer.start, answer.end);
  const changes = GRAMMARS[grammar].form === 'element' ? tagChanges(claims) : claims.map(claimChange);
  changes.sort((one, other) => one.start - other.start || one.end - other.end);
  const pieces: string[] = [];
  let from = answer.start;
  for (const { start, end, text } of changes) {
    if (start < from) continue;
    pieces.push(withoutSnippets(response.slice(from, start)), text);
    from = end;
  }
  pieces.push(withoutSnippets(response.slice(from, answer.end)));
  return pieces.join('');
}

/** The tags of each claim; claims may be nested. */
function tagChanges(claims: readonly Claim[]): Change[] {
  return claims.flatMap(({ element, span, ids }) => [
    { start: element.start, end: span.start, text: opening(ids) },
    { start: span.end, end: element.end, text: CLOSING },
  ]);
}

/** A claim with its markers, which follow it or are links in it. */
function claimChange({ element, text, ids }: Claim): Change {
  return { ...element, text: `${opening(ids)}${withoutSnippets(text)}${CLOSING}` };
}

const CLOSING = '</snippet>';

function opening(ids: Claim['ids']): string {
  const written = ids.map(({ id }) => id.replace(/[<>"'\s]/g, '_')).join(',');
  return /^[\w,.:-]+$/.test(written) ? `<snippet id=${written}>` : `<snippet id="${written}">`;
}

const SNIPPET = 'snippet';

/** Replaces the `<` of snippet tags by `‹`: in other grammars they cite nothing. */
function withoutSnippets(text: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const name = text.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
    if (text.slice(name, name + SNIPPET.length).toLowerCase() !== SNIPPET) continue;
    pieces.push(text.slice(from, at), '‹');
    from = at + 1;
  }
  return from === 0 ? text : pieces.join('') + text.slice(from);
}
