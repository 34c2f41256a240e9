/**
 * The citation grammars, as data for one parser. In an element grammar, a tag with ids surrounds the claim. In a marker
 * grammar, markers with ids follow the claim, which is the text before them in its sentence. In the link grammar,
 * Markdown links and notes follow the claim or are part of it (link-claims.ts).
 */

/**
 * Version of the grammars, the parser and the sentence splitter. It is part of every judgment key, so that a judgment
 * is never reused for claims that were cut differently. Raise it whenever a text may be cut into other claims or
 * statements.
 */
export const PARSER_VERSION = 'citeward-parser-6';

/** `<element id=S1>claim</element>` */
export type ElementGrammar = {
  readonly form: 'element';
  /** Tag name of a citation, in lower case. It matches in any case. */
  readonly element: string;
  /** Attributes that may hold the ids, in lower case. */
  readonly attributes: readonly string[];
};

/** `claim [S1]` with the marks `open` and `close` */
export type MarkerGrammar = {
  readonly form: 'marker';
  readonly open: string;
  readonly close: string;
  /**
   * When the marks make a marker. `always`. `like_sources`: each id is known or has the form of a source's id
   * (id-forms.ts), since most parentheses are none. `known_or_digit`: or is a word with a digit, since `[…]` has other
   * uses. Years alone, `[2004]`, are none unless sources have such ids.
   */
  readonly when: 'always' | 'known_or_digit' | 'like_sources';
};

/** `claim ([text](https://…))`, `[claim](https://…)`, and `claim [3]` with a references section at the end. */
type LinkGrammar = { readonly form: 'link' };

/** How a response writes its citations. */
export type Grammar = ElementGrammar | MarkerGrammar | LinkGrammar;

/** The grammars by name. */
export const GRAMMARS = {
  /** `<snippet id=S1,S2>claim</snippet>`: the refiners (their model card). */
  snippet: { form: 'element', element: 'snippet', attributes: ['id', 'ids'] },
  /** `<cite id="A,B">claim</cite>` and `<cite ids=…>`: dr-tulu (its code). */
  cite: { form: 'element', element: 'cite', attributes: ['id', 'ids'] },
  /** `<cite index="A,B">claim</cite>` */
  'cite-index': { form: 'element', element: 'cite', attributes: ['index'] },
  /** `claim <cite>S1</cite>.`: the element holds the id, not the claim. */
  'cite-tag': { form: 'marker', open: '<cite>', close: '</cite>', when: 'always' },
  /** `claim [S1, S2].` */
  bracket: { form: 'marker', open: '[', close: ']', when: 'known_or_digit' },
  /** `claim [ref:S1].` */
  ref: { form: 'marker', open: '[ref:', close: ']', when: 'always' },
  /** `claim [web:3].` */
  web: { form: 'marker', open: '[web:', close: ']', when: 'always' },
  /** `claim (S1, S2).` */
  paren: { form: 'marker', open: '(', close: ')', when: 'like_sources' },
  /** `claim 【S1】` */
  lenticular: { form: 'marker', open: '【', close: '】', when: 'always' },
  /** `claim [^S1]` */
  footnote: { form: 'marker', open: '[^', close: ']', when: 'always' },
  /** `claim <<S1>>` */
  guillemet: { form: 'marker', open: '<<', close: '>>', when: 'always' },
  /** `claim ([text](https://…)).`: the address is the id. */
  link: { form: 'link' },
} as const satisfies Record<string, Grammar>;

/** Name of a grammar in GRAMMARS. */
export type GrammarName = keyof typeof GRAMMARS;

/** All grammar names, default first. */
export const GRAMMAR_NAMES: readonly [GrammarName, ...GrammarName[]] = [
  'snippet',
  'cite',
  'bracket',
  'ref',
  'lenticular',
  'footnote',
  'guillemet',
  'link',
  'web',
  'cite-index',
  'cite-tag',
  'paren',
];
