/** Finds the references section at the end of an answer: a heading, then only lines that name a web address. */
import { isSpace } from '../text/characters.ts';
import { isBlank, type Span } from '../text/span.ts';
import { entryNumber, firstUrl } from './links.ts';

/** Headings of a references section, in lower case. */
const HEADINGS: ReadonlySet<string> = new Set([
  ...['references', 'reference', 'reference list', 'sources', 'source', 'citations', 'works cited', 'bibliography'],
  ...['notes', 'footnotes', 'links', 'sources cited', 'sources and references', 'references and sources'],
  ...['quellen', 'quellenverzeichnis', 'einzelnachweise', 'literatur', 'belege'],
  ...['références', 'sources et références', 'bibliographie', 'referencias', 'fuentes', 'bibliografía'],
  ...['referências', 'fontes', 'riferimenti', 'fonti', 'bronnen', 'źródła', 'kaynaklar'],
  ...['источники', 'список литературы', 'ссылки', 'джерела', 'المصادر', 'المراجع', 'संदर्भ', 'स्रोत'],
  ...['参考文献', '参考资料', '参考来源', '引用来源', '信息来源', '资料来源', '参考链接', '来源', '引用', '参考'],
  ...['參考文獻', '參考資料', '資料來源', '來源', '参考資料', '出典', '引用文献', '참고문헌', '참고 문헌', '출처'],
]);
const MAX_HEADING_CHARS = 64;

/** The references section of a text. */
type References = {
  /** Where the section begins; the end of the text if there is none. */
  readonly start: number;
  /** Addresses by number of the entry. The first entry of a number counts. */
  readonly urls: ReadonlyMap<string, string>;
};

/**
 * Finds the references section of `text[content)`. Every line after the heading must hold a web address, be blank, or
 * be numbered with its address on the next line; so no prose is taken for references.
 */
export function readReferences(text: string, content: Span): References {
  let section: { readonly start: number; readonly urls: Map<string, string> } | null = null;
  let pending: string | null = null;
  let hasUrl = false;
  for (let start = content.start; start < content.end; ) {
    const found = text.indexOf('\n', start);
    const end = found === -1 || found > content.end ? content.end : found;
    const line = text.slice(start, end);
    if (isHeading(line)) {
      section = { start, urls: new Map() };
      pending = null;
      hasUrl = false;
    } else if (section !== null && !isBlank(line)) {
      const number: string | null = entryNumber(line) ?? pending;
      const url = firstUrl(line);
      if (url === null && (number === null || pending !== null)) section = null;
      else if (url === null) pending = number;
      else {
        if (number !== null && !section.urls.has(number)) section.urls.set(number, url);
        pending = null;
        hasUrl = true;
      }
    }
    start = end + 1;
  }
  return section !== null && hasUrl && pending === null ? section : { start: content.end, urls: new Map() };
}

/** Returns whether a line is a heading of references, without Markdown marks and colon. */
function isHeading(line: string): boolean {
  let start = 0;
  let end = line.length;
  const isMark = (at: number): boolean => isSpace(line.charCodeAt(at)) || '#*_:：-—=【】'.includes(line.charAt(at));
  while (start < end && isMark(start)) start++;
  while (end > start && isMark(end - 1)) end--;
  return end > start && end - start <= MAX_HEADING_CHARS && HEADINGS.has(line.slice(start, end).toLowerCase());
}
