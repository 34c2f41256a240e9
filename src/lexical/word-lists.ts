/**
 * English word lists, as tables keyed by token hash: function words, number words, negations and opposites. Keys are
 * hashes of stemmed words (`stem`) unless a comment says otherwise.
 */
import { ASCII_FOLD, isApostrophe } from './character-classes.ts';
import { addUnit, HASH_SEED, hashTable, hashWord, lookUp, stemHash, stemOf, tableOfWords } from './token-hash.ts';

/** Function words. They carry no content, so coverage and token counts leave them out. */
export const STOP_WORDS =
  'a an the this that these those and or but nor so yet if then than as of at by for from in into on onto to with ' +
  'within about over under between through during per via is am are was were be been being do does did done doing ' +
  'have has had having will would shall should can could may might must i me my mine we us our ours you your yours ' +
  'he him his she her hers it its they them their theirs who whom whose which what when where why how there here ' +
  'not no also just very too such same other another each every both any some all more most own only even however ' +
  "therefore thus while because since until although though upon out up down off again further once i'm it's he's " +
  "she's that's there's we're you're they're i've we've they've i'd i'll don't doesn't didn't isn't aren't wasn't " +
  "weren't can't won't cannot";

/** Keyed by the hash of the unstemmed word. */
const STOP_WORD_HASHES = tableOfWords(STOP_WORDS, hashWord);

/** Length of the longest function word in UTF-16 code units, apostrophes included. */
export const LONGEST_STOP_WORD = 9;

/** Returns whether an unstemmed hash is that of a function word. */
export function isStopWord(hash: number): boolean {
  return lookUp(STOP_WORD_HASHES, hash) !== 0;
}

const STOP_STEMS = tableOfWords(STOP_WORDS);

/** Returns whether a stem hash is that of a function word. */
export function isStopStem(stem: number): boolean {
  return lookUp(STOP_STEMS, stem) !== 0;
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
  'eighteen nineteen twenty';
const TENS = 'thirty forty fifty sixty seventy eighty ninety';

const NUMBER_WORDS: readonly (readonly [word: string, value: number])[] = [
  ...SMALL.split(' ').map((word, i) => [word, i] as const),
  ...TENS.split(' ').map((word, i) => [word, 30 + i * 10] as const),
];

// Values are increased by one, because a hash table cannot hold 0.
const VALUE_BY_STEM = hashTable(NUMBER_WORDS.map(([word, value]) => [stemOf(word), value + 1] as const));
const STEM_BY_VALUE: ReadonlyMap<number, number> = new Map(
  NUMBER_WORDS.map(([word, value]) => [value, stemOf(word)] as const),
);

/** Returns the value of a number word (zero to twenty, thirty, forty … ninety), or -1 for any other word. */
export function numberWordValue(stem: number): number {
  return lookUp(VALUE_BY_STEM, stem) - 1;
}

/** Returns the stem hash of the number word for `value`, or 0 if there is none. The inverse of `numberWordValue`. */
export function numberWordStem(value: number): number {
  return STEM_BY_VALUE.get(value) ?? 0;
}

const HUNDRED = hashWord('hundred');
const THOUSAND = hashWord('thousand');
const MILLION = hashWord('million');
const BILLION = hashWord('billion');
const TRILLION = hashWord('trillion');

/**
 * Returns the factor of a magnitude word (1e6 for "million") by its unstemmed hash, or 0. Plurals have none, since they
 * follow no number word ("two million").
 */
export function magnitude(hash: number): number {
  switch (hash) {
    case HUNDRED:
      return 100;
    case THOUSAND:
      return 1e3;
    case MILLION:
      return 1e6;
    case BILLION:
      return 1e9;
    case TRILLION:
      return 1e12;
    default:
      return 0;
  }
}

const JOINED_PREFIXES = tableOfWords('non co re pre anti multi semi', hashWord);

/** Returns whether a word is a prefix that is written with and without a hyphen: co-founder, cofounder. */
export function isJoinedPrefix(hash: number): boolean {
  return lookUp(JOINED_PREFIXES, hash) !== 0;
}

/** Magnitude words that follow digits, in several languages, by their power of ten. */
const AFTER_DIGITS: readonly (readonly [power: number, words: string])[] = [
  [2, 'hundred hundreds'],
  [3, 'thousand thousands tausend mille mil тыс тысяча тысячи тысяч'],
  [5, 'lakh lakhs'],
  [6, 'mn million millions mio millionen millon millones mln млн миллион миллиона миллионов'],
  [7, 'crore crores'],
  [9, 'billion billions bn mrd milliarde milliarden milliard milliards mld млрд миллиард миллиарда миллиардов'],
  [12, 'tn trillion trillions billionen billones трлн триллион триллиона триллионов'],
];
const POWERS_AFTER_DIGITS = hashTable(
  AFTER_DIGITS.flatMap(([power, words]) => words.split(' ').map((word) => [hashWord(word), power] as const)),
);

const DOZEN = hashWord('dozen');

/** Returns the factor of a magnitude word that follows digits ("2 Mrd.", "3 млн", "3 dozen") by its unstemmed hash, or 0. */
export function magnitudeAfterDigits(hash: number): number {
  const power = lookUp(POWERS_AFTER_DIGITS, hash);
  if (power === 0) return hash === DOZEN ? 12 : 0;
  return 10 ** power;
}

const NEGATIONS =
  'not no never none neither nor without cannot nobody nothing nowhere hardly rarely barely lack lacked lacks ' +
  "unable fail failed fails don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't " +
  "shouldn't hasn't haven't hadn't ain't mustn't needn't";

// Hashes skip apostrophes, and words with an apostrophe are not stemmed, so "don't" has the stem hash of "dont".
const NEGATION_STEMS = tableOfWords(NEGATIONS);

/** Returns whether the word negates: not, never, hardly, lacks. */
export function isNegation(stem: number): boolean {
  return lookUp(NEGATION_STEMS, stem) !== 0;
}

const PERSONAL = "i i'm i've i'd i'll me my mine myself";
const PERSONAL_STEMS = tableOfWords(PERSONAL);

/**
 * Returns whether the word refers to the writer: I, me, mine. No source can support what writers say about themselves.
 */
export function isPersonal(stem: number): boolean {
  return lookUp(PERSONAL_STEMS, stem) !== 0;
}

/**
 * Words that reverse or limit a statement. If a claim has one and its sources do not, that counts against the claim.
 */
const REVERSING =
  'except exclude excluding refuse reject decline deny denied oppose avoid prevent prohibit forbid ban cancel stop ' +
  'cease quit abandon ignore neglect dislike hate dismiss doubt disagree disapprove discourage dissuade discontinue ' +
  'disregard discard hinder hamper impair impede obstruct worsen worse degrade deteriorate diminish decrease reduce ' +
  'shrink lose loss weaken weak worst lower lowest less fewer least minimal negligible inferior slow slower ' +
  'impossible useless worthless pointless meaningless harmless careless helpless failure unsuccessful ineffective ' +
  'inefficient inefficiently inaccurate incorrect incorrectly inflexible inadequate insufficient incapable ' +
  'inconsistent invalid irrelevant irregular illegal impractical improbable uninterested disinterested unhappy ' +
  'unsatisfied dissatisfied unwilling unlikely unlimited unrelated unaware unknown unavailable unaffordable ' +
  'uncomfortable unimportant unnecessary unsafe unstable unclear unfair unfavorable unqualified untrained ' +
  'unreliable unsure wrong wrongly false falsely misinform mislead misunderstand misrepresent dishonest negative ' +
  'negatively boring rude hostile angry upset outdated obsolete overestimate underestimate opposite contrary';
const REVERSING_STEMS = tableOfWords(REVERSING);

/** Returns whether the word reverses or limits a statement. */
export function isReversing(stem: number): boolean {
  return lookUp(REVERSING_STEMS, stem) !== 0;
}

/** Pairs of opposites. Each word is the opposite of the other. */
const PAIRS =
  'increase decrease,rise fall,rose fell,grow shrink,gain lose,gain loss,more less,more fewer,most least,high low,' +
  'higher lower,highest lowest,large small,larger smaller,big small,long short,longer shorter,strong weak,fast slow,' +
  'early late,earlier later,first last,before after,above below,over under,win lose,won lost,win loss,accept reject,' +
  'accept decline,accept refuse,agree disagree,agree refuse,allow prevent,allow forbid,approve reject,good bad,' +
  'better worse,best worst,positive negative,success failure,true false,right wrong,right left,north south,' +
  'east west,open close,start end,begin end,start finish,buy sell,bought sold,expensive cheap,improve worsen,' +
  'improve degrade,improve reduce,add remove,include exclude,support oppose,major minor,majority minority,' +
  'minimum maximum,minimise maximise,minimize maximize,male female,man woman,men women,boy girl,king queen,actor actress,father mother,son daughter,' +
  'brother sister,husband wife,old young,new old,public private,rich poor,same different,similar different,' +
  'simple complex,easy difficult,easy hard,possible impossible,expand reduce,raise lower,raise cut,reduce increase,' +
  'with without,always never,all none,interior exterior,internal external,local global,past future,present absent,' +
  'supervised unsupervised,efficient inefficient,accurate inaccurate,known unknown,happy unhappy,like dislike,' +
  'interested uninterested,available unavailable,able unable,effective ineffective,stable unstable,' +
  'labelled unlabelled,labeled unlabeled,hundred thousand,hundred million,hundred billion,thousand million,' +
  'thousand billion,million billion,million trillion,billion trillion';

const STEM_PAIRS = PAIRS.split(',').flatMap((pair) => {
  const [one, other] = pair.split(' ').map(stemOf);
  return one === undefined || other === undefined
    ? []
    : [
        { stem: one, opposite: other },
        { stem: other, opposite: one },
      ];
});
const OPPOSITES: readonly (readonly number[])[] = groupOpposites();
const GROUP_BY_STEM = hashTable(STEM_PAIRS.map(({ stem }) => [stem, groupOf(stem)] as const));

function groupOpposites(): number[][] {
  const groups = new Map<number, number[]>();
  for (const { stem, opposite } of STEM_PAIRS) {
    const group = groups.get(stem);
    if (group === undefined) groups.set(stem, [opposite]);
    else group.push(opposite);
  }
  return [...groups.values()];
}

function groupOf(stem: number): number {
  const wanted = STEM_PAIRS.filter((pair) => pair.stem === stem).map((pair) => pair.opposite);
  return (
    1 + OPPOSITES.findIndex((group) => group.length === wanted.length && group.every((value, i) => value === wanted[i]))
  );
}

const NO_OPPOSITES: readonly number[] = [];

/** Returns the stem hashes of a word's opposites; empty for most words. */
export function oppositesOf(stem: number): readonly number[] {
  const group = lookUp(GROUP_BY_STEM, stem);
  return group === 0 ? NO_OPPOSITES : (OPPOSITES[group - 1] ?? NO_OPPOSITES);
}

const NEGATING_PREFIXES: readonly string[] = ['un', 'in', 'im', 'ir', 'dis', 'non'];
const SHORTEST_PREFIXED_WORD = 6;

/** Returns the stem hash of "efficient" for "inefficient", or 0 if the word has no negating prefix. */
export function unprefixed(text: string, start: number, end: number): number {
  if (end - start < SHORTEST_PREFIXED_WORD) return 0;
  const first = text.charCodeAt(start) | 0x20;
  if (first !== 0x75 && first !== 0x69 && first !== 0x64 && first !== 0x6e) return 0;
  for (const prefix of NEGATING_PREFIXES) {
    let k = 0;
    while (k < prefix.length && (text.charCodeAt(start + k) | 0x20) === prefix.charCodeAt(k)) k++;
    if (k < prefix.length) continue;
    // The bare word of "non-invasive" begins after the hyphen.
    const bare = start + k + (text.charCodeAt(start + k) === 0x2d ? 1 : 0);
    let h = HASH_SEED;
    for (let i = bare; i < end; i++) {
      const c = text.charCodeAt(i) | 0x20;
      if (c < 97 || c > 122) return 0;
      h = addUnit(h, c);
    }
    return stemHash(text, bare, end, h);
  }
  return 0;
}

/** Inflected spellings whose meaning is another than that of their word. */
const OTHER_MEANINGS = new Set('news goods rights shorts lasts likes being fasting fasted opposites'.split(' '));

/** The adverb of an adjective: unnecessarily, improbably. */
function adverbOf(word: string): string {
  return word.endsWith('y') ? `${word.slice(0, -1)}ily` : word.endsWith('le') ? `${word.slice(0, -1)}y` : `${word}ly`;
}

/** The inflections of a word that keep its meaning, irregular ones excepted, which the lists contain themselves. */
function formsOf(word: string): string[] {
  const last = word.charAt(word.length - 1);
  const short = last === 'e' || last === 'y' ? word.slice(0, -1) : word;
  const stems = last === 'y' ? [`${short}i`] : last === 'e' ? [short] : [word, word + last];
  const endings = stems.flatMap((stem) => [`${stem}ed`, `${stem}es`, `${stem}er`]);
  const participles = last === 'e' ? [`${short}ing`] : [`${word}ing`, `${word}${last}ing`];
  const nouns = participles.map((participle) => `${participle}s`);
  return [word, `${word}s`, ...endings, ...participles, ...nouns].filter((form) => !OTHER_MEANINGS.has(form));
}

// Negations are listed with all their forms: "notes" is none of "not".
const NEGATION_FORMS = NEGATIONS.split(' ');
const INFLECTED = [REVERSING, PAIRS].flatMap((words) => words.split(/[ ,]/));
const LISTED_STEMS = tableOfWords([...NEGATION_FORMS, ...INFLECTED]);
/** Keyed by the hash of the unstemmed word. */
const LISTED_FORMS = tableOfWords(
  [...NEGATION_FORMS, ...INFLECTED.flatMap(formsOf), ...REVERSING.split(' ').map(adverbOf)],
  hashWord,
);

/** Returns whether a word has the stem of a negation, a reversing word or an opposite. */
export function isListed(stem: number): boolean {
  return lookUp(LISTED_STEMS, stem) !== 0;
}

/**
 * Returns whether a word only shares the stem of a negation, a reversing word or an opposite: "quite" is no form of
 * "quit", nor "Los" of "lose". The stemmer cuts too much on purpose, which costs a comparison of words little, but makes
 * a contradiction where none is.
 *
 * @param stem the stem hash of the word `text[start, end)`.
 */
export function onlyLooksListed(stem: number, text: string, start: number, end: number): boolean {
  if (!isListed(stem)) return false;
  let hash = HASH_SEED;
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i);
    const folded = unit < 128 ? (ASCII_FOLD[unit] ?? 0) : unit;
    if (folded !== 0 && !isApostrophe(unit)) hash = addUnit(hash, folded);
  }
  return lookUp(LISTED_FORMS, hash) === 0;
}
