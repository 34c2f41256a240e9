/** Tells the titles in a list of sources from sentences, which state something. */
import { isAsciiDigit } from '../text/characters.ts';
import { bracketedId, firstUrl } from './links.ts';
import { TAG } from './source-headings.ts';

/** Longest title of a source, in UTF-16 code units: longer text is a statement. */
export const MAX_TITLE_CHARS = 200;
/** Marks and tags before a line of a list, and a frame around it. */
export const LEAD = /^(?:[\s>*|│║┃]|<\/?[a-z][^<>]{0,64}>)+/i;
/** Frames of a row. */
export const FRAMES = '|│║┃';
/** A number before a title: `(1)`, `1.` */
const NUMBER = /^[(（]?\d{1,3}(?:[)）.:：、．]|(?=[\s|│<]))/;
/** Most words of a title without an address or quotation marks that looks like one: longer ones may be sentences. */
const MAX_TITLE_WORDS = 6;
/** Longest entry that may look like a title, with its address, in UTF-16 code units. */
const MAX_PLAIN_CHARS = 512;
const QUOTATIONS = /["“„«「『《〈][^"”“»」』》〉]*["”“»」』》〉]/g;
/** The end of a sentence with more text behind it; not `J.` and `U.S.` */
const SENTENCE = /[a-z\d]{2}[.!?]["”)]?\s+\S|[。！？]\s*\S/;
/**
 * A subject before a verb that begins a sentence, or a common verb in it. Titles write `Is` in capitals. "war", "hat",
 * "son" and "era" are none, as English titles have these words, too, but for "war" and "hat" behind a German article.
 */
const STATED =
  /^(?:It|They|He|She|There|This|These|Es|Sie|Er|Il|Elle|Ils) [a-zäöüßàéè]|\s(?:is|are|was|were|has|have|had|can|does|did|ist|sind|waren|haben|wird|wurden?|est|sont|était|eran|fue|fueron|tiene|è|sono|é|são|foi|zijn|heeft)(?=\s)|^(?:Der|Die|Das|Ein|Eine) (?:\S+ ){1,3}(?:war|hat|hatten?) /;
/** A verb or an adjective of a Chinese or Japanese sentence. */
const STATED_IN_CHARACTERS = /[是有在了很被は]/;
/** `How rivers are made` and `Love is Blind` state nothing. */
const ASKS =
  /^(?:How|Why|What|When|Where|Which|Who|Wie|Warum|Was|Comment|Pourquoi|Cómo|Qué)\s|^[A-Z]\S* (?:is|are) [A-Z]\S*\s*$/;
/** A verb in the past that stands alone in a title. */
const PAST =
  /\s(?!accessed|retrieved|updated|published)(?:[a-z]+[^\We]ed|built|rose|fell|won|lost|grew|made|led|costs?) (?:[a-z]{2,4} )?(?=\d|the\s|an?\s)/;
/** The last sentence of an entry. */
const LAST = /(?:^|[a-z\d]{2}[.!?]["”)]?\s+|[。！？]\s*)([^\s.!?。！？](?:[^.!?。！？]|[.!?](?!\s))*)[.!。！]["”)]?$/;

/** The text behind the id in brackets, or the number, that begins a line, without tags and frame. */
export function titleOf(line: string): string {
  const found = bracketedId(line);
  const text = found === null ? line.replace(LEAD, '').replace(NUMBER, '') : line.slice(found.end);
  return withoutFrame(text.replace(TAG, ''));
}

/** A text without the frame behind it. */
function withoutFrame(text: string): string {
  const inside = text.trim();
  return FRAMES.includes(inside.charAt(inside.length - 1)) ? inside.slice(0, -1).trim() : inside;
}

/**
 * Whether a text looks like a title: no sentence ends before its end, and it has an address, or has a few words, the
 * first of which is in no lower case, and no stop. A quotation is one word. A text may also be empty: its address is on
 * the next line. Scripts without capitals need an address or quotation marks.
 */
export function isPlainTitle(written: string): boolean {
  if (written.length > MAX_PLAIN_CHARS) return false;
  const title = written.replace(/^[\s*_|│║┃:.,;–—-]+|[\s*_,;]+$/g, '');
  if (SENTENCE.test(title)) return false;
  if (title === '' || firstUrl(title) !== null) return true;
  const words = title.replace(QUOTATIONS, 'Q');
  const first = words.charAt(0);
  const isCapital = first !== first.toLowerCase() || isAsciiDigit(first.charCodeAt(0));
  if (states(words) || (PAST.test(words) && !ASKS.test(words))) return false;
  return isCapital && !/[.!?。！？]$/.test(words) && words.split(/\s+/).length <= MAX_TITLE_WORDS;
}

/** Words that close an answer behind its sources. */
const CLOSING = /^\s*(?:let me know|i hope|hope th|feel free|please|would you|do you|if you)\b[^[【［]*$/i;

/** Whether a line only says goodbye. It cites nothing, and is short. */
export function isClosingRemark(line: string): boolean {
  return line.length <= MAX_TITLE_CHARS && CLOSING.test(line);
}

/** Whether an entry ends with a sentence that states something. */
export function isSentence(written: string): boolean {
  if (written.length > MAX_TITLE_CHARS) return false;
  const text = written
    .trim()
    .replace(/^[*_:.–—\s-]+|[*_]+$/g, '')
    .replace(QUOTATIONS, 'Q');
  const words = LAST.exec(text)?.[1] ?? '';
  return states(words) || (text.endsWith('。') && !words.includes('Q') && STATED_IN_CHARACTERS.test(text));
}

function states(words: string): boolean {
  return STATED.test(words) && !ASKS.test(words);
}
