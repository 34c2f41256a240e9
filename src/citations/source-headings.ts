/** Recognises headings of lists of sources: in many languages, in Markdown and HTML, numbered, in a frame, with a count. */
import { isAsciiDigit, isAsciiLetter, isHighSurrogate, isLowSurrogate, isSpace } from '../text/characters.ts';

/** Headings of a references section, in lower case. */
const HEADINGS: ReadonlySet<string> = new Set(
  (
    'references|reference|reference list|sources|source|citations|works cited|bibliography|notes|' +
    'footnotes|links|sources cited|sources and references|references and sources|sources used|' +
    'cited sources|list of references|further reading|endnotes|see also|sources consulted|sources referenced|' +
    'references cited|works consulted|list of sources|source list|key sources|sources & references|' +
    'references & sources|citations and sources|reference links|source links|citation|sources used in this answer|' +
    'sources and further reading|quellen|quellenverzeichnis|' +
    'quellenangaben|quellenangabe|literaturverzeichnis|fußnoten|nachweise|sources citées|sources consultées|' +
    'sources utilisées|notes et références|fuentes consultadas|fuentes citadas|referencias bibliográficas|' +
    'referências bibliográficas|fontes consultadas|bibliografia|fonti citate|bronvermelding|referenties|' +
    'bibliografie|literatuur|przypisy|referenser|källförteckning|referanser|kildeliste|viitteet|lähdeluettelo|' +
    'literatura|použité zdroje|források|hivatkozások|surse|referințe|izvori|извори|източници|литература|' +
    'примечания|сноски|список джерел|βιβλιογραφία|αναφορές|dipnotlar|مصادر|مراجع|ביבליוגרפיה|संदर्भ सूची|' +
    'তথ্যসূত্র|referensi|daftar pustaka|rujukan|tài liệu tham khảo|เอกสารอ้างอิง|脚注|引用元|出处|數據來源|数据来源|각주|' +
    'einzelnachweise|literatur|belege|références|sources et références|bibliographie|referencias|fuentes|' +
    'bibliografía|referências|fontes|riferimenti|fonti|bronnen|źródła|kaynaklar|referenzen|källor|kilder|' +
    'lähteet|zdroje|πηγές|kaynakça|nguồn|sumber|מקורות|منابع|แหล่งที่มา|อ้างอิง|источники|' +
    'список литературы|ссылки|джерела|المصادر|المراجع|संदर्भ|स्रोत|参考文献|参考资料|参考来源|引用来源|信息来源|资料来源|参考链接|来源|' +
    '引用|参考|參考文獻|參考資料|資料來源|來源|参考資料|出典|引用文献|참고문헌|참고 문헌|출처'
  ).split('|'),
);
/** Longest heading, in UTF-16 code units. */
export const MAX_HEADING_CHARS = 64;
/** A heading with a count: `Sources (2)`. */
export const COUNTED = /\(\d{1,3}\)/;
/** A tag of HTML. */
export const TAG = /<\/?[a-z][^<>]{0,64}>/gi;

const WRAPPER = /^\s*<([a-z]{4,16})>\s*$/i;

const HEADING_MARKS = '>#*_:：-—=【】|│║┃';

/** A mark around a heading, or half of an emoji. */
function isHeadingMark(code: number): boolean {
  if (isAsciiLetter(code)) return false;
  return (
    isSpace(code) || HEADING_MARKS.includes(String.fromCharCode(code)) || isHighSurrogate(code) || isLowSurrogate(code)
  );
}

/** The beginning of a tag, or of the number behind a heading. */
const UNFINISHED = /[\s*_:：]*(?:<[^<>]{0,66}|\(\d{0,3}\)?[\s*_:：]*)$/;
/** The number of sources behind a heading: `Sources (3)`. */
const COUNT = /\(\d{1,3}\)[\s*_:：]*$/;

/**
 * The words of a line without the tags, the marks, the emoji, the number before them and the colon, stop or count behind
 * them; `null`: too long for a heading.
 */
function headingWords(written: string): string | null {
  if (written.length > 4 * MAX_HEADING_CHARS) return null;
  // `<sources>` around a list is a heading, too. Most lines have neither tag nor count.
  const untagged = written.includes('<') ? written.replace(WRAPPER, '$1').replace(TAG, '') : written;
  const line = untagged.includes('(') ? untagged.replace(COUNT, '') : untagged;
  let start = 0;
  let end = line.length;
  while (start < end && isHeadingMark(line.charCodeAt(start))) start++;
  while (start < end && (isAsciiDigit(line.charCodeAt(start)) || '. '.includes(line.charAt(start)))) start++;
  while (end > start && (isHeadingMark(line.charCodeAt(end - 1)) || line.charAt(end - 1) === '.')) end--;
  return end - start > MAX_HEADING_CHARS ? null : line.slice(start, end).toLowerCase();
}

/** Returns whether a line is a heading of references. */
export function isSourcesHeading(line: string): boolean {
  const words = headingWords(line);
  return words !== null && HEADINGS.has(words);
}

/** Returns whether more text may make a heading of a line. */
export function beginsHeading(line: string): boolean {
  const words = headingWords(line.replace(UNFINISHED, ''));
  if (words === null) return false;
  for (const heading of HEADINGS) if (heading.startsWith(words)) return true;
  return false;
}
