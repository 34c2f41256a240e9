/** Finds markup of vendors in the text of an answer. */
import type { Span } from '../../text/span.ts';

/**
 * Markup of citations that vendors' services decode, and models leak: `[cite: 1]` and `[cite_start]` of Gemini, `<co: 0>`
 * of Cohere, tags of Claude and Grok, `[oaicite:0]`, 【turn0search0】 and `citeturn0search0` of ChatGPT, 【0†L1】 of gpt-oss,
 * `[^1^]` of Bing, `##0$$` of RAGFlow, `<|file-1|>`, `[citation:1]`, `<source_id>`, and calls of tools.
 */
const LEAKED = new RegExp(
  [
    /\[cite(?:_start|_end)?[\]:]/,
    /<\/?(?:co(?:: ?\d{1,3})?>|(?:antml:)?cite index=|antml:cite>|grok:render)/,
    /\[oaicite:\d|【(?:oaicite|turn\d{1,3}[a-z]{1,8}\d|[\w:.]{1,64}†)|[\ue200\ue201]/,
    /\[\^\d{1,3}\^\]/,
    /##\d{1,3}\$\$|<\|file-[\w-]{1,64}\|>|\[citation:\d|<source_id>|\b(?:file)?cite ?turn\d|\[(?:ID:\d|[\d:]{1,9}†)/,
    /<\/(?:tool_call|function|parameter|invoke)>/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** One of these is in every leaked markup: looking for them is faster. */
const SIGNS = [
  'cit',
  '[ID',
  '†',
  '$$',
  '<|file',
  '<source_id',
  '</',
  '[^',
  '【',
  '\ue200',
  '\ue201',
  'co:',
  'co>',
  'grok:',
];

/** Whether a text may have leaked markup. */
export function mayLeak(text: string): boolean {
  return SIGNS.some((sign) => text.includes(sign));
}

/** The places of leaked markup in a text. */
export function leakedMarkup(text: string): Span[] {
  return [...text.matchAll(LEAKED)].map(({ 0: markup, index }) => ({ start: index, end: index + markup.length }));
}
