/**
 * Citation grammars as data: one parser reads them all. An element grammar wraps the claim in a tag that carries ids;
 * a marker grammar puts marks behind the claim, which is then what is left of the marked sentence.
 */

export type ElementGrammar = {
  readonly form: 'element';
  /** Tag name of a citation, lower case; matched in any case. */
  readonly element: string;
  /** Attributes that may carry the ids, lower case. */
  readonly attributes: readonly string[];
};

export type MarkerGrammar = {
  readonly form: 'marker';
  readonly open: string;
  readonly close: string;
  /** A bare `[…]` is also used for asides and links: it is a marker only if every id is known or holds a digit. */
  readonly ambiguous: boolean;
};

export type Grammar = ElementGrammar | MarkerGrammar;

export const GRAMMARS = {
  /** `<snippet id=S1,S2>claim</snippet>`: the refiners [card]. */
  snippet: { form: 'element', element: 'snippet', attributes: ['id', 'ids'] },
  /** `<cite id="A,B">claim</cite>`, `<cite ids=…>`: dr-tulu [code]. */
  cite: { form: 'element', element: 'cite', attributes: ['id', 'ids'] },
  /** `claim [S1, S2].` */
  bracket: { form: 'marker', open: '[', close: ']', ambiguous: true },
  /** `claim [ref:S1].` */
  ref: { form: 'marker', open: '[ref:', close: ']', ambiguous: false },
  /** `claim 【S1】` */
  lenticular: { form: 'marker', open: '【', close: '】', ambiguous: false },
  /** `claim [^S1]` */
  footnote: { form: 'marker', open: '[^', close: ']', ambiguous: false },
  /** `claim <<S1>>` */
  guillemet: { form: 'marker', open: '<<', close: '>>', ambiguous: false },
} as const satisfies Record<string, Grammar>;

export type GrammarName = keyof typeof GRAMMARS;

export const GRAMMAR_NAMES: readonly [GrammarName, ...GrammarName[]] = [
  'snippet',
  'cite',
  'bracket',
  'ref',
  'lenticular',
  'footnote',
  'guillemet',
];
