/**
 * The evidence text that the public server shows its judge: the cited pages that the trajectory saw. Source: THUDM/CaRR
 * c97e7e89, `deepsearch_rm_with_rubrics/launch_server.py`, `extract_citation_content`.
 */
import type { SeenPage } from './pages.ts';

/** Cited pages that the judge sees; pages that were never seen are not counted. */
export const MAX_CITED_PAGES = 20;

const OPENING = /\[\p{Nd}+\]\((?:view-source:)?(?=http)/gu;
const CLOSING = /\)[\],]/g;
const READERS = ['https://r.jina.ai/', 'http://r.jina.ai/', 'view-source:'];

/**
 * The cited addresses in order, each once, without the prefixes of readers. Defects kept: a citation ends only at `)]`
 * or `),`, so a plain link runs on to the next of them on its line, and one inside an address cuts it.
 */
export function citedAddresses(response: string): string[] {
  const addresses = new Set<string>();
  const end = new NextEnd(response);
  OPENING.lastIndex = 0;
  for (let opening = OPENING.exec(response); opening !== null; opening = OPENING.exec(response)) {
    const start = OPENING.lastIndex;
    const close = end.after(start);
    if (close === null) continue;
    let address = response.slice(start, close);
    for (const reader of READERS) address = address.replaceAll(reader, '');
    addresses.add(address);
    OPENING.lastIndex = close + 2;
  }
  return [...addresses];
}

/** Finds the next `)]` or `),` on a line. Offsets must not decrease; all searches together are linear. */
class NextEnd {
  readonly #text: string;
  #close = -1;
  #line = -1;

  constructor(text: string) {
    this.#text = text;
  }

  after(from: number): number | null {
    if (this.#close < from) {
      CLOSING.lastIndex = from;
      this.#close = CLOSING.exec(this.#text)?.index ?? this.#text.length;
    }
    if (this.#line < from) {
      const found = this.#text.indexOf('\n', from);
      this.#line = found === -1 ? this.#text.length : found;
    }
    return this.#close < this.#line ? this.#close : null;
  }
}

/**
 * The evidence text; empty if no cited page was seen. Defects kept:
 * - addresses are compared as texts;
 * - a snippet, text or find result that already stood under any page is left out.
 */
export function evidenceText(
  response: string,
  pages: ReadonlyMap<string, SeenPage>,
  maxPages: number = MAX_CITED_PAGES,
): string {
  const shown = new Set<string>();
  let evidence = '';
  let number = 0;
  for (const url of citedAddresses(response)) {
    if (number === maxPages) break;
    const page = pages.get(url);
    if (page === undefined) continue;
    number++;
    evidence += `[Webpage ${number}]\nURL Source: ${url}\nTitle: ${page.title}\n`;
    if (page.published_time !== '') evidence += `Published Time: ${page.published_time}\n`;
    evidence += '\n';
    const add = (heading: string, text: string): void => {
      if (shown.has(text)) return;
      shown.add(text);
      evidence += `${heading}:\n${text}\n\n`;
    };
    for (const snippet of page.snippets) add('Snippet', snippet);
    for (const content of page.contents) add('Content', content);
    for (const { pattern, output } of page.finds) add(`Search Result of Keyword "${pattern}"`, output);
  }
  return evidence;
}
