/**
 * What the judge knows of each language: function words, negations, and whether capitals mark names. English has more
 * (word-lists.ts). The tables are keyed by token hash, so a word is spelled here as the tokeniser folds it.
 */
import { SINGLE, unitClass } from './character-classes.ts';
import { hashTable, lookUp } from './token-hash.ts';
import { ACRONYM, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';
import { isNegation, onlyLooksListed } from './word-lists.ts';

/** The languages whose negations the judge knows, as ISO 639-1 codes. */
export const KNOWN_LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'ru', 'zh', 'ja', 'ko', 'ar', 'hi'] as const;
export type Language = (typeof KNOWN_LANGUAGES)[number];

/** Languages that are told apart by their function words. `other` stands for those that the judge does not know. */
type Worded = 'en' | 'de' | 'fr' | 'es' | 'it' | 'pt' | 'ru' | 'other';

/** Languages whose negations are words, English excepted. */
const NEGATED_BY_WORDS = ['de', 'fr', 'es', 'it', 'pt', 'ru', 'ar', 'hi'] as const;
/** Languages whose function words are listed, English excepted. */
const WITH_FUNCTION_WORDS = ['de', 'fr', 'es', 'it', 'pt', 'ru'] as const;

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
  it: 'il lo gli di che un una per non della delle degli dei nel nella sono alla dal dalla fu anche mai si con piu',
  pt: 'nao uma um o os as da do dos das em com ou mas pelo pela foi sao ao na no que segundo nunca sua seu tambem por',
  other:
    'het een van niet en zijn voor met aan door och att det som ar inte av jest nie sie na do ze sa bir ve bu ile icin ta ' +
    'te ci kot je bila bili co jako ktory ktora',
};

/** Function words of the other languages, which carry no content. Those of English are in word-lists.ts. */
export const FUNCTION_WORDS: Readonly<Record<(typeof WITH_FUNCTION_WORDS)[number], string>> = {
  de: `${TELLING.de} die den in im an am um es ich du man hat hatte war waren bin so wie was wo da dann hier dort bis ins`,
  fr: `${TELLING.fr} la l un de d en a on se sa son ses nous vous je tu y meme tres aussi`,
  es: `${TELLING.es} la un unos unas de en a o e u le les mi tu no ya asi`,
  it:
    'il lo la i gli le un uno una di del della dei delle degli dello al alla ai da dal dalla in nel nella nei con su per ' +
    'tra fra e o ma che chi cui se è sono era fu non si ci questo questa quello quella egli lui lei loro anche più come',
  pt:
    'o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela com para sem e ou mas que se ao aos é ' +
    'são foi era ser está este esta isso isto ele ela eles elas seu sua não também já como mais muito lhe',
  ru: `${TELLING.ru} я мы вы ты так там тут где когда если еще уже есть`,
};

const NEGATIONS: Readonly<Record<(typeof NEGATED_BY_WORDS)[number], string>> = {
  de: 'nicht nichts kein keine keiner keines keinem keinen keinerlei nie niemals niemand niemandem nirgends nirgendwo weder ohne kaum',
  fr: 'ne pas jamais aucun aucune ni sans rien nul nulle nullement guere non',
  es: 'no nunca jamas ningun ninguno ninguna ni sin nada nadie tampoco apenas',
  it: 'non mai nessun nessuno nessuna niente nulla senza neanche nemmeno neppure',
  pt: 'não nunca jamais nenhum nenhuma nada ninguém nem sem tampouco',
  ru: 'не нет ни никогда никто никого ничто ничего без нельзя никакой никакая никакие нигде никак едва',
  ar: 'لا لم لن ليس ليست ليسوا بدون',
  hi: 'नहीं न ना बिना',
};

type Spaced = 'en' | (typeof NEGATED_BY_WORDS)[number];

/** Words right after a negation that make it none: not only, no doubt, not until. */
const SOFTENING: Readonly<Record<Spaced, string>> = {
  en: 'only just merely simply least doubt surprisingly unlike until',
  de: 'nur bloß allein lediglich zuletzt',
  fr: 'seulement',
  es: 'solo solamente obstante',
  it: 'solo soltanto solamente',
  pt: 'só somente apenas obstante',
  ru: 'только лишь',
  ar: 'يزال تزال يزالون زال سيما شك بد فقط',
  hi: 'केवल सिर्फ',
};

/** Words that end what a negation denies: not in May but in June. */
const TURNING: Readonly<Record<Spaced, string>> = {
  en: 'but rather instead',
  de: 'sondern aber',
  fr: 'mais',
  es: 'sino pero',
  it: 'ma bensì',
  pt: 'mas senão',
  ru: 'а но',
  ar: 'بل لكن ولكن',
  hi: 'बल्कि लेकिन',
};

/** Languages that negate by signs within their words; those of words like 不同, 未来 and 連れない do not negate. */
const NEGATION_SIGNS: Readonly<Record<'zh' | 'ja' | 'ko', RegExp>> = {
  zh: /(?<![差了对])不(?![仅但过同少断久管论禁锈])|没(?!收)|[并绝]非|而非|未(?!来)|无(?:法|人|需|权|意)|[毫并]无|否认/,
  ja: /(?<![少危])(?<!ければなら|かもしれ|間違い)な(?:い|かった|く[てはな])|(?<!ければなり|かもしれ)ません|ずに|無[いく]|不可能|(?<!だけ)ではなく/,
  ko: /않|(?<!연)못|(?<!끊임|틀림|어김)없|(?<!뿐만? ?)아니(?!라도|메)|(?<![가-힣])안(?= )/,
};

/** The names of a language cannot be told by capitals: German writes every noun with one. */
const CAPITALS_MARK_NAMES: ReadonlySet<Language | null> = new Set<Language | null>([
  ...(['en', 'fr', 'es', 'it', 'pt', 'ru', 'ko', 'ar', 'hi'] as const),
  null,
]);

/** Tokens that decide the language of a text. The beginning of a long text is enough. */
const TOKENS_READ = 64;

const WORDED: readonly Worded[] = ['en', 'de', 'fr', 'es', 'it', 'pt', 'ru', 'other'];
/** The function words of each language in a text, from index 1. Reused by every call. */
const COUNTS = new Int32Array(WORDED.length + 1);
const BITS: Readonly<Record<Language, number>> = {
  ...{ en: 1, de: 2, fr: 4, es: 8, ru: 16, zh: 32, ja: 64 },
  ...{ it: 128, pt: 256, ko: 512, ar: 1024, hi: 2048 },
};
const SIGNED = BITS.zh | BITS.ja | BITS.ko;

const TELLING_HASHES = hashTable(tellingWords());
const FUNCTION_HASHES = wordTable(WITH_FUNCTION_WORDS, FUNCTION_WORDS);
const NEGATION_HASHES = wordTable(NEGATED_BY_WORDS, NEGATIONS);
const SOFTENING_HASHES = wordTable(['en', ...NEGATED_BY_WORDS], SOFTENING);
const TURNING_HASHES = wordTable(['en', ...NEGATED_BY_WORDS], TURNING);

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
function wordTable<Of extends Language>(
  languages: readonly Of[],
  words: Readonly<Record<Of, string>>,
): ReturnType<typeof hashTable> {
  const bits = new Map<number, number>();
  for (const language of languages) {
    for (const hash of hashesOf(words[language])) bits.set(hash, (bits.get(hash) ?? 0) | BITS[language]);
  }
  return hashTable([...bits]);
}

/** Letters of other languages of a script: Ukrainian and Serbian, Persian and Urdu, Marathi. */
const NOT_RUSSIAN = /[іїєґўјљњђћќѓѕџ]/i;
const NOT_ARABIC = /[پچژگکیہے]/;
const NOT_HINDI = /ळ|^आह/;

/**
 * Returns the language of a text by its script and its function words; `null` if it is none that the judge knows, or if
 * the text has too few words to tell.
 *
 * @param tokens the tokens `[from, to)` of `text`, whose offsets are `shift` too large for it.
 */
export function languageOf(tokens: TokenList, from: number, to: number, text: string): Language | null {
  const end = Math.min(to, from + TOKENS_READ);
  const counts = COUNTS.fill(0);
  let kana = 0;
  let han = 0;
  let cyrillic = 0;
  let latin = 0;
  let otherScript = 0;
  const scripts = { ko: 0, ar: 0, hi: 0 };
  for (let i = from; i < end; i++) {
    const start = tokens.starts[i] ?? 0;
    const unit = text.charCodeAt(start);
    if (unit >= 48 && unit <= 57) continue;
    if (unit < 0x250) {
      latin++;
      const of = lookUp(TELLING_HASHES, tokens.hashes[i] ?? 0);
      counts[of] = (counts[of] ?? 0) + 1;
    } else if (unit >= 0x3041 && unit <= 0x30ff) kana++;
    else if (unit >= 0x3400 && unit <= 0x9fff) han++;
    else if (unit >= 0x400 && unit <= 0x52f) {
      if (NOT_RUSSIAN.test(text.slice(start, tokens.ends[i] ?? 0))) return null;
      cyrillic++;
    } else if (unit >= 0xac00 && unit <= 0xd7a3) scripts.ko++;
    else if (unit >= 0x620 && unit <= 0x6d3) {
      if (NOT_ARABIC.test(text.slice(start, tokens.ends[i] ?? 0))) return null;
      scripts.ar++;
    } else if (unit >= 0x900 && unit <= 0x97f) {
      if (NOT_HINDI.test(text.slice(start, tokens.ends[i] ?? 0))) return null;
      scripts.hi++;
    } else if (unit >= 0x370 || unitClass(unit) === SINGLE) otherScript++;
  }
  for (const language of ['ko', 'ar', 'hi'] as const) {
    if (scripts[language] > Math.max(latin, cyrillic, kana + han, otherScript)) return language;
    otherScript += scripts[language];
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

/** Returns whether the word `text[start, end)`, whose stem hash is `hash`, negates in one of the languages. */
export function negatesIn(bits: number, hash: number, text: string, start: number, end: number): boolean {
  if (bits !== BITS.en && (lookUp(NEGATION_HASHES, hash) & bits) !== 0) return true;
  return (bits & BITS.en) !== 0 && isNegation(hash) && !onlyLooksListed(hash, text, start, end);
}

/** Returns whether a word right after a negation makes it none in one of the languages. */
export function softensNegation(bits: number, hash: number): boolean {
  return (lookUp(SOFTENING_HASHES, hash) & bits) !== 0;
}

/** Returns whether a word ends what a negation denies in one of the languages. */
export function turnsNegation(bits: number, hash: number): boolean {
  return (lookUp(TURNING_HASHES, hash) & bits) !== 0;
}

/** Returns whether the language negates by signs within its words. */
export function isSigned(language: Language | null): boolean {
  return language !== null && (BITS[language] & SIGNED) !== 0;
}

/** Returns whether `text[from, to)`, in a script of NEGATION_SIGNS, negates; `false` in any other language. */
export function hasNegationSign(bits: number, text: string, from = 0, to = text.length): boolean {
  if ((bits & SIGNED) === 0) return false;
  const part = text.slice(from, to);
  return (['zh', 'ja', 'ko'] as const).some(
    (language) => (bits & BITS[language]) !== 0 && NEGATION_SIGNS[language].test(part),
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
