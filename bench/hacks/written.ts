/** How answers write their citations, in every grammar. */
import type { GrammarName } from '../../src/citations/grammars.ts';
import type { Sentence } from './honest-answers.ts';

/** Writes a cited sentence; without ids, the plain text. */
export type Cite = (sentence: Sentence) => string;

/** Markers follow the sentence, whose text they cite. */
const marked =
  (marker: (ids: readonly string[]) => string): Cite =>
  ({ text, ids }) =>
    ids.length === 0 ? text : `${text} ${marker(ids)}`;
const inTags =
  (name: string, attribute: string): Cite =>
  ({ text, ids }) =>
    ids.length === 0 ? text : `<${name} ${attribute}="${ids.join(',')}">${text}</${name}>`;

/** Snippet tags as the refiners write them. Addresses are in quotes. */
const tags: Cite = ({ text, ids }) => {
  const list = ids.join(',');
  if (ids.length === 0) return text;
  return `<snippet id=${list.includes('/') ? `"${list}"` : list}>${text}</snippet>`;
};

/** How a citation is written in each grammar. */
export const WRITTEN: Readonly<Record<GrammarName, Cite>> = {
  snippet: tags,
  cite: inTags('cite', 'id'),
  'cite-index': ({ text, ids }) => (ids.length === 0 ? text : `<cite index="${ids.join(',')}">${text}</cite>`),
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
