/** Writes cited claims in every grammar, for answers that are made here: canned ones, and those of the hack matrix. */
import type { GrammarName } from './grammars.ts';

/** A text with the ids that it cites; none = uncited. */
export type CitedText = { readonly text: string; readonly ids: readonly string[] };

/** Writes a cited text; without ids, the plain text. */
export type ClaimWriter = (claim: CitedText) => string;

/** Markers follow the text that they cite. */
const marked =
  (marker: (ids: readonly string[]) => string): ClaimWriter =>
  ({ text, ids }) =>
    ids.length === 0 ? text : `${text} ${marker(ids)}`;

const inTags =
  (name: string, attribute: string): ClaimWriter =>
  ({ text, ids }) =>
    ids.length === 0 ? text : `<${name} ${attribute}="${ids.join(',')}">${text}</${name}>`;

/** Snippet tags as the refiners write them. Ids with other characters, such as addresses, are in quotes. */
const inSnippets: ClaimWriter = ({ text, ids }) => {
  if (ids.length === 0) return text;
  const list = ids.join(',');
  return `<snippet id=${/^[\w,.:-]+$/u.test(list) ? list : `"${list}"`}>${text}</snippet>`;
};

/**
 * How a claim is written in each grammar.
 *
 * @example
 * CLAIM_WRITERS.bracket({ text: 'It opened in 1937.', ids: ['S1', 'S2'] }); // 'It opened in 1937. [S1, S2]'
 */
export const CLAIM_WRITERS: Readonly<Record<GrammarName, ClaimWriter>> = {
  snippet: inSnippets,
  cite: inTags('cite', 'id'),
  'cite-index': inTags('cite', 'index'),
  'cite-tag': marked((ids) => `<cite>${ids.join(',')}</cite>`),
  bracket: marked((ids) => `[${ids.join(', ')}]`),
  ref: marked((ids) => `[ref:${ids.join(', ')}]`),
  web: marked((ids) => `[web:${ids.join(', ')}]`),
  paren: marked((ids) => `(${ids.join(', ')})`),
  lenticular: marked((ids) => ids.map((id) => `【${id}】`).join('')),
  footnote: marked((ids) => ids.map((id) => `[^${id}]`).join('')),
  guillemet: marked((ids) => `<<${ids.join(', ')}>>`),
  link: marked((ids) => ids.map((id, n) => `[${n + 1}](${id})`).join(' ')),
};

/** Links in brackets: the published code of CaRR finds a link only before a bracket or a comma. */
export const bracketedLinks: ClaimWriter = marked((ids) => ids.map((id, n) => `[[${n + 1}](${id})]`).join(''));
