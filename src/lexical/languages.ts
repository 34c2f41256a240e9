/**
 * What the judge knows of each language: function words, negations, and whether capitals mark names. English has more
 * (word-lists.ts). The tables are keyed by token hash, so a word is spelled here as the tokeniser folds it.
 */
import { SINGLE, unitClass } from './character-classes.ts';
import { hashTable, lookUp } from './token-hash.ts';
import { ACRONYM, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';
import { isNegation } from './word-lists.ts';

/** The languages whose negations the judge knows, as ISO 639-1 codes. */
export const KNOWN_LANGUAGES = ['en', 'de', 'fr', 'es', 'ru', 'zh', 'ja'] as const;
export type Language = (typeof KNOWN_LANGUAGES)[number];

/** Languages that are told apart by their function words. `other` stands for those that the judge does not know. */
type Worded = 'en' | 'de' | 'fr' | 'es' | 'ru' | 'other';

/** Function words of one language only: those that two lists share, or that are content words elsewhere, are left out. */
const TELLING: Readonly<Record<Worded, string>> = {
  en:
    'the of and to is was were are been has have had with from that this which by as at it its their they he she his ' +
    'her not but or for than when who would could about into after before between',
  de:
    'der das und ist nicht ein eine einer eines einem einen dem des mit von vom zu zum zur auf aus bei nach als auch ' +
    'sich wird wurde wurden sind durch kein keine keiner keinen sie er wir ihr ihre sein seine uber fur oder aber ' +
    'wenn weil dass seit vor zwischen noch nur schon mehr werden haben',
  fr:
    'le les des du et est une dans pour qui que au aux ce cette ces sont avec sur pas plus ne il elle ils elles leur ' +
    'ete etait par ou mais donc depuis entre sans sous aucun jamais chez avoir etre ont fait',
  es:
    'el los las del y es una con para por que al su sus fue son se lo como mas pero esta este esto estan desde hasta ' +
    'entre sin sobre ningun nunca tambien muy tiene tienen habia sido',
  ru:
    'и в во не на что это как по из для он она они его ее их был была было были с со от к у о об но или а же бы до за ' +
    'при между через только также которые который года',
  other:
    'nao uma os da dos das em com ou mas pelo pela foi sao il lo gli di che un una per non della delle degli nel nella ' +
    'sono het een van niet en zijn voor met aan door och att det som ar inte av jest nie sie na do ze sa bir ve bu ile ' +
    'icin ta te ci kot je bila bili co jako ktory ktora',
};

/** Function words of the other languages, which carry no content. Those of English are in word-lists.ts. */
export const FUNCTION_WORDS: Readonly<Record<'de' | 'fr' | 'es' | 'ru', string>> = {
  de: `${TELLING.de} die den in im an am um es ich du man hat hatte war waren bin so wie was wo da dann hier dort bis ins`,
  fr: `${TELLING.fr} la l un de d en a on se sa son ses nous vous je tu y meme tres aussi`,
  es: `${TELLING.es} la un unos unas de en a o e u le les mi tu no ya asi`,
  ru: `${TELLING.ru} я мы вы ты так там тут где когда если еще уже есть`,
};

const NEGATIONS: Readonly<Record<'de' | 'fr' | 'es' | 'ru', string>> = {
  de: 'nicht nichts kein keine keiner keines keinem keinen keinerlei nie niemals niemand niemandem nirgends nirgendwo weder ohne kaum',
  fr: 'ne pas jamais aucun aucune ni sans rien nul nulle nullement guere non',
  es: 'no nunca jamas ningun ninguno ninguna ni sin nada nadie tampoco apenas',
  ru: 'не нет ни никогда никто никого ничто ничего без нельзя никакой никакая никакие нигде никак едва',
};

/** Scripts without spaces have no negating words, only signs; those of words like 不同 and 未来 do not negate. */
const NEGATION_SIGNS: Readonly<Record<'zh' | 'ja', RegExp>> = {
  zh: /不(?![仅但过同少断久管论禁])|没(?!收)|[并绝]非|而非|未(?!来)|无(?:法|人|需|权|意)|[毫并]无|否认/,
  ja: /(?<!少)な(?:い|かった|く[てはな]|ければ)|ません|ずに|無[いく]|不可能|ではなく/,
};

/** The names of a language cannot be told by capitals: German writes every noun with one. */
const CAPITALS_MARK_NAMES: ReadonlySet<Language | null> = new Set<Language | null>(['en', 'fr', 'es', 'ru', null]);

/** Tokens that decide the language of a text. The beginning of a long text is enough. */
const TOKENS_READ = 64;

const WORDED: readonly Worded[] = ['en', 'de', 'fr', 'es', 'ru', 'other'];
const BITS: Readonly<Record<Language, number>> = { en: 1, de: 2, fr: 4, es: 8, ru: 16, zh: 32, ja: 64 };

const TELLING_HASHES = hashTable(tellingWords());
const FUNCTION_HASHES = wordTable(FUNCTION_WORDS);
const NEGATION_HASHES = wordTable(NEGATIONS);

/** Returns the hash of each word of a list, as the tokeniser makes it. */
export function hashesOf(words: string): readonly number[] {
  const list = new TokenList(64, false);
  appendTokens(list, words, 0, words.length);
  return [...list.hashes.subarray(0, list.count)];
}

/** Each word of exactly one list, with the number of its list, from 1. */
function tellingWords(): (readonly [hash: number, language: number])[] {
  const languages = new Map<number, Set<number>>();
  for (const [n, language] of WORDED.entries()) {
    for (const hash of hashesOf(TELLING[language])) languages.set(hash, (languages.get(hash) ?? new Set()).add(n + 1));
  }
  return [...languages].flatMap(([hash, of]) => (of.size === 1 ? [...of].map((one) => [hash, one] as const) : []));
}

/** The bits of the languages of each word. */
function wordTable(words: Readonly<Record<'de' | 'fr' | 'es' | 'ru', string>>): ReturnType<typeof hashTable> {
  const bits = new Map<number, number>();
  for (const language of ['de', 'fr', 'es', 'ru'] as const) {
    for (const hash of hashesOf(words[language])) bits.set(hash, (bits.get(hash) ?? 0) | BITS[language]);
  }
  return hashTable([...bits]);
}

/** Letters of Cyrillic languages other than Russian. */
const NOT_RUSSIAN = /[іїєґўјљњђћќѓѕџ]/i;

/**
 * Returns the language of a text by its script and its function words; `null` if it is none that the judge knows, or if
 * the text has too few words to tell.
 *
 * @param tokens the tokens `[from, to)` of `text`, whose offsets are `shift` too large for it.
 */
export function languageOf(tokens: TokenList, from: number, to: number, text: string, shift = 0): Language | null {
  const end = Math.min(to, from + TOKENS_READ);
  const counts = new Int32Array(WORDED.length + 1);
  let kana = 0;
  let han = 0;
  let cyrillic = 0;
  let latin = 0;
  let otherScript = 0;
  for (let i = from; i < end; i++) {
    const start = (tokens.starts[i] ?? 0) - shift;
    const unit = text.charCodeAt(start);
    if (unit >= 48 && unit <= 57) continue;
    if (unit < 0x250) {
      latin++;
      const of = lookUp(TELLING_HASHES, tokens.hashes[i] ?? 0);
      counts[of] = (counts[of] ?? 0) + 1;
    } else if (unit >= 0x3041 && unit <= 0x30ff) kana++;
    else if (unit >= 0x3400 && unit <= 0x9fff) han++;
    else if (unit >= 0x400 && unit <= 0x52f) {
      if (NOT_RUSSIAN.test(text.slice(start, (tokens.ends[i] ?? 0) - shift))) return null;
      cyrillic++;
    } else if (unit >= 0x370 || unitClass(unit) === SINGLE) otherScript++;
  }
  const cjk = kana + han;
  if (otherScript > Math.max(latin, cyrillic, cjk)) return null;
  if (cjk > Math.max(latin, cyrillic)) return kana > 0 ? 'ja' : 'zh';
  if (cyrillic > latin) return 'ru';
  return wordedLanguage(counts);
}

/** The language with most function words, if it has more than any other. */
function wordedLanguage(counts: Int32Array): Language | null {
  let best = 0;
  let most = 0;
  for (let of = 1; of < counts.length; of++) {
    const count = counts[of] ?? 0;
    if (count > most) {
      most = count;
      best = of;
    } else if (count === most) best = 0;
  }
  const language = WORDED[best - 1];
  return language === undefined || language === 'other' ? null : language;
}

/** Returns the bits of languages, for `negatesIn`. An unknown language is read as English. */
export function languageBits(one: Language | null, other: Language | null): number {
  return BITS[one ?? 'en'] | BITS[other ?? 'en'];
}

/** Returns whether a stem hash is that of a negation in one of the languages. */
export function negatesIn(bits: number, hash: number): boolean {
  return ((bits & BITS.en) !== 0 && isNegation(hash)) || (lookUp(NEGATION_HASHES, hash) & bits) !== 0;
}

/** Returns whether `text[from, to)`, in a script without spaces, negates; `false` in any other language. */
export function hasNegationSign(bits: number, text: string, from = 0, to = text.length): boolean {
  if ((bits & (BITS.zh | BITS.ja)) === 0) return false;
  const part = text.slice(from, to);
  return (
    ((bits & BITS.zh) !== 0 && NEGATION_SIGNS.zh.test(part)) || ((bits & BITS.ja) !== 0 && NEGATION_SIGNS.ja.test(part))
  );
}

/** Returns whether a stem hash is that of a function word of the language, English excepted. */
export function isFunctionWord(language: Language | null, hash: number): boolean {
  return language !== null && language !== 'en' && (lookUp(FUNCTION_HASHES, hash) & BITS[language]) !== 0;
}

/** Returns whether a capitalised word of this kind may be a name in the language. */
export function mayBeName(language: Language | null, kind: number): boolean {
  return (kind & ACRONYM) !== 0 || CAPITALS_MARK_NAMES.has(language);
}
