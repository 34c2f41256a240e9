/**
 * Finds out whether a text has a content word at all: "The", "it is of the", "の" and "와" have none, so no source can
 * support them. Unlike `countContentTokens`, whose counts decide what a judge is asked, it knows function words of many
 * languages.
 */
import { isAsciiLetter } from '../text/characters.ts';
import { isApostrophe, LETTER, SEPARATOR, SINGLE, unitClass } from './character-classes.ts';
import { withoutMarks } from './claim-terms.ts';
import { FUNCTION_WORDS } from './languages.ts';
import { STOP_WORDS } from './word-lists.ts';

/** A word whose lower case needs no folding, as most. */
const PLAIN_WORD = /^[A-Za-z]+$/;
/** Whether a listed word has this length, first and last letter. No listed word is like most content words. */
const IS_LISTED_LIKE = new Uint8Array(1 << 14);

function likeness(text: string, start: number, end: number): number {
  return (((end - start) & 15) << 10) | ((text.charCodeAt(start) & 31) << 5) | (text.charCodeAt(end - 1) & 31);
}

/** Function words of languages that write spaces, by script. A word list of one language never mixes with another's. Without accents. */
const SPACED: Readonly<Record<string, readonly string[]>> = {
  latin: [
    STOP_WORDS,
    FUNCTION_WORDS.de,
    FUNCTION_WORDS.fr,
    FUNCTION_WORDS.es,
    FUNCTION_WORDS.pt,
    FUNCTION_WORDS.it,
    // Dutch, Swedish, Danish and Norwegian, Finnish, Polish, Czech, Romanian, Hungarian, Turkish,
    // Vietnamese, Indonesian.
    'de het een en van in op te aan met voor door bij uit om tot over naar of maar als dat dit die deze is was zijn waren ' +
      'wordt werd worden er ook niet hij zij ze het hun haar heeft hebben had dan nog wel',
    'och i att det som en ett pa ar av for med till den de inte om var har han hon men sig fran vid sa kan eller detta ' +
      'denna blev under',
    'og i at det som en et pa er af av for med til den de ikke om var har han hun men sig seg fra ved sa kan eller dette ' +
      'denne blev ble',
    'ja on ei se etta oli han ovat joka tama mutta kun niin myos seka tai ne he ole jos kuin',
    'i w na z do sie nie to jest ze o jak po od za dla przez przy ale czy lub oraz sa był była było byc ten ta te tym ' +
      'ktory ktora ktore jego jej ich on ona ono oni a u we ze',
    'a v na je se s z do ze to o k za po od pro pri ale nebo jako by byl byla bylo jsou byt ten ta ti ktery ktera ktere ' +
      'jeho jeji i u ve ke neni take uz',
    'si de la in a al ai ale cu pe un o este era sunt fost nu se ca din pentru prin sau dar care mai ca lui ei el ea',
    'a az es egy is nem hogy van volt meg de ez azt ezt ki be vagy ha mint csak mar meg el',
    've bir bu ile icin da de ki mi o su cok daha gibi olan olarak oldu degil ise ya her en',
    'la va cua co cac mot nhung đuoc trong cho voi nay đo khong đe tu đa nguoi cung nhu khi ve o thi ma tai do',
    'yang dan di ke dari untuk dengan pada ini itu adalah ialah tidak juga akan oleh atau sebagai dalam telah ia',
  ],
  cyrillic: [
    FUNCTION_WORDS.ru,
    'і и та в у на не що це як по із з за до від для він вона воно вони иого іі іх був була було були є але або чи також ' +
      'якии яка яке які при через про',
    'и в на не че това като по с за до от тои тя то те му и им е са бе беше но или се да си при през които която което',
  ],
  greek: [
    'ο η το οι τα του της των τον την ενα μια και να με σε για απο ειναι ηταν που δεν στο στη στην στον ως αλλα η',
  ],
  hebrew: ['של את על לא הוא היא זה זו הם הן אל עם גם כי אם או אבל אשר מן בין יש היה היתה הייתה כל רק'],
  arabic: [
    'و في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هن أن إن ان كان كانت لا لم لن ما قد أو ثم كما ' +
      'بل حتى كل بعد قبل بين عند له لها لهم به بها فيه فيها منه منها وهو وهي وفي ومن وقد التى',
    'و در به از که این آن را با است بود برای تا بر هم یا نیز شد شده می اما او آنها هر نه یک های',
    'اور کا کی کے میں سے کو پر یہ وہ ہے ہیں تھا تھی تھے نے بھی نہیں کہ جو اس ان ایک تو ہی لیے',
  ],
  devanagari: [
    'और का की के में से को पर यह वह है हैं था थी थे ने भी नहीं कि जो इस उस एक तो ही लिए यह ये वे हो कर गया गई तथा या एवं',
    'आणि आहे आहेत हा ही हे तो ती ते या त्या व की पण मध्ये होते होता होती नाही',
  ],
  bengali: ['এবং ও এই সেই যে কি না তার তিনি করে হয় হয়ে থেকে জন্য একটি এক এর এ সে তা যা ছিল আছে'],
};

/** Words of the lists above that are content words in English: alone they may be an English claim. */
const ALSO_ENGLISH = new Set(
  (
    'bin care chi come con den die door era hat men met mint os par plus pour pro sans sin son ten till tot van volt ' +
    'war yang'
  ).split(' '),
);

/** Function words of a script without spaces. A run of it begins with a word, or repeats one particle. */
type Unspaced = {
  readonly words: ReadonlySet<string>;
  readonly particles: ReadonlySet<string>;
  readonly free: boolean;
};

const unspaced = (words: string, particles: string, free = false): Unspaced => ({
  words: new Set(words.split(' ')),
  particles: new Set(particles),
  free,
});

const CHINESE = unspaced(
  '什么 怎么 因为 所以 因為',
  '的了和是在有也就都而及與与或这那這其之以于於为為被把对對从從到由但等个個们們我你您他她它吗嗎呢吧啊着著过過不没沒很还還再又将將则則且若因此所乃即',
  true,
);
const JAPANESE = unspaced(
  'これ それ あれ この その あの ここ そこ どれ どの こと もの よう ため から まで より だけ など です ます でした ました である ' +
    'だった する した して され いる いた ある あった ない なかった なる なった という として ' +
    'について において により による では には とは でも にも のは のに ので への との からは また そして しかし または および',
  'はがをにでともへやのかねよだ',
);
const KOREAN = unspaced(
  '그리고 그러나 하지만 또는 또한 그것 이것 저것 그는 그녀 이는 이다 입니다 있다 있는 있습니다 없다 없는 하다 하는 한다 합니다 ' +
    '했다 된다 되는 되었다 였다 이었다 것은 것이 것을 것이다 에서 까지 부터 으로 에게 처럼 보다 우리 위해 위한 대해 및',
  '은는이가을를에의와과도로및그저것수등',
);
const THAI = unspaced(
  'และ หรือ ที่ ของ ใน เป็น คือ ก็ ได้ ให้ กับ จาก โดย แต่ ว่า นี้ นั้น มี ไม่ จะ แล้ว ซึ่ง เพื่อ ตาม ถึง มา ไป อยู่ ด้วย เขา เธอ มัน ' +
    'ฉัน ผม คุณ เรา การ ความ อัน ณ',
  'ๆ',
);
const LAO = unspaced('ແລະ ຫຼື ທີ່ ຂອງ ໃນ ເປັນ ແມ່ນ ນີ້ ນັ້ນ ກັບ ຈາກ ມີ ບໍ່ ໄດ້ ໂດຍ ແຕ່ ວ່າ ກໍ', 'ໆ');
const BURMESE = unspaced('နှင့် သည် တွင် မှ ကို ဖြစ်သည် ဒီ ထို နဲ့ ဤ များ သော ၌ မှာ', 'က');
const KHMER = unspaced('និង ឬ នៅ ក្នុង ជា ដែល បាន នេះ នោះ គឺ របស់ ពី ទៅ មាន ក៏ នៃ ដោយ ប៉ុន្តែ មិន', 'ៗ');

/** The script of a unit that is a token by itself, by the first unit beyond its range. */
const UNSPACED_SCRIPTS: readonly (readonly [end: number, script: Unspaced])[] = [
  [0x0e80, THAI],
  [0x0f00, LAO],
  [0x1780, BURMESE],
  [0x1800, KHMER],
  [0x3041, CHINESE],
  [0x3400, JAPANESE],
  [0xac00, CHINESE],
  [0xd7a4, KOREAN],
  [0xff66, CHINESE],
  [0x10000, JAPANESE],
];

/** Longest function word of a script without spaces, in UTF-16 code units. */
const LONGEST_UNSPACED = 9;

/** The lists that contain a word, and the lists of the script of each list, as bits. */
const LISTS_OF_WORD = new Map<string, number>();
const LISTS_OF_SCRIPT: number[] = [];
let lists = 0;
for (const languages of Object.values(SPACED)) {
  const ofScript = ((1 << languages.length) - 1) << lists;
  for (const words of languages) {
    LISTS_OF_SCRIPT.push(ofScript);
    const bit = 1 << lists++;
    for (const word of words.split(' ').map(folded)) {
      LISTS_OF_WORD.set(word, (LISTS_OF_WORD.get(word) ?? 0) | bit);
      IS_LISTED_LIKE[likeness(word, 0, word.length)] = 1;
    }
  }
}
/** The number of a list, which is no content, stands at the start. */
const LIST_NUMBER = /^\s*\(?\d/u;

/** English is the first list. */
const ENGLISH = 1;

/**
 * Returns whether a text has a content word: a number, or a word that is no function word of the text's language. Words
 * of one script must all be function words of one language. Reads a text up to its first content word. The same on
 * every runtime.
 */
export function hasContentWord(text: string): boolean {
  let possible = -1;
  let onlyAlsoEnglish = true;
  const mayHaveMarks = text.includes('[') || text.includes('\n') || LIST_NUMBER.test(text);
  const plain = mayHaveMarks ? withoutMarks(text) : text;
  for (let at = 0; at < plain.length; ) {
    const kind = kindAt(plain, at);
    const end = runEnd(plain, at, kind);
    if (kind === SINGLE) {
      if (!isFunctionRun(plain.slice(at, end))) return true;
      onlyAlsoEnglish = false;
    } else if (kind === LETTER) {
      if (!mayBeListed(plain, at, end)) return true;
      const word = folded(plain.slice(at, end));
      const found = LISTS_OF_WORD.get(word);
      if (found === undefined) return true;
      const script = scriptBits(found);
      possible &= found | ~script;
      if ((possible & script) === 0) return true;
      if (!ALSO_ENGLISH.has(word)) onlyAlsoEnglish = false;
    }
    at = end;
  }
  // "War" and "die" are function words in German and say something in English.
  return onlyAlsoEnglish && possible !== -1 && (possible & ENGLISH) === 0;
}

/** Whether a word may be in a list. */
function mayBeListed(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!isAsciiLetter(text.charCodeAt(i))) return true;
  return IS_LISTED_LIKE[likeness(text, start, end)] === 1;
}

/** The lists of the script that some lists are of. */
function scriptBits(found: number): number {
  return LISTS_OF_SCRIPT[31 - Math.clz32(found & -found)] ?? 0;
}

/** Pictographs are no words. */
function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return unitClass(unit);
  if ((unit >= 0xd83c && unit <= 0xd83e) || (unit >= 0xfe00 && unit <= 0xfe0f)) return SEPARATOR;
  if (unit >= 0xdc00 && unit <= 0xdfff && at > 0) {
    const high = text.charCodeAt(at - 1);
    if (high >= 0xd83c && high <= 0xd83e) return SEPARATOR;
  }
  return unitClass(unit);
}

/** The end of the run of units of one kind; an apostrophe inside a word belongs to the word. */
function runEnd(text: string, start: number, kind: number): number {
  let end = start + 1;
  while (end < text.length) {
    const same = kindAt(text, end) === kind;
    const joins = kind === LETTER && isApostrophe(text.charCodeAt(end)) && kindAt(text, end + 1) === LETTER;
    if (!same && !joins) break;
    end++;
  }
  return end;
}

/** Lower case without accents and apostrophes. */
function folded(word: string): string {
  if (PLAIN_WORD.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f'\u2019]/gu, '');
}

/** Whether a run of a script without spaces consists of function words. */
function isFunctionRun(run: string): boolean {
  const { words, particles, free } = scriptOf(run);
  const first = run.charAt(0);
  if (particles.has(first) && run === first.repeat(run.length)) return true;
  // Whether the run up to each unit is made of function words.
  const reached = new Uint8Array(run.length + 1);
  reached[0] = 1;
  for (let at = 0; at < run.length; at++) {
    if (reached[at] === 0) continue;
    if ((free || at > 0) && particles.has(run.charAt(at))) reached[at + 1] = 1;
    for (let length = 1; length <= LONGEST_UNSPACED && at + length <= run.length; length++) {
      if (words.has(run.slice(at, at + length))) reached[at + length] = 1;
    }
  }
  return reached[run.length] === 1;
}

/** Han runs with kana are Japanese. */
function scriptOf(run: string): Unspaced {
  if (/[\u3041-\u30ff]/u.test(run)) return JAPANESE;
  const unit = run.charCodeAt(0);
  return UNSPACED_SCRIPTS.find(([end]) => unit < end)?.[1] ?? CHINESE;
}
