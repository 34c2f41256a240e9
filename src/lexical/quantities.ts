/**
 * Compares what numbers are written with: sign, currency and unit. Two numbers differ if both are written with one and
 * it is not the same: €5 million and $5 million, 5 km and 5 miles, -3% and 3%. What one side leaves out is unknown, and
 * differs from nothing.
 */
import { LETTER, SINGLE, unitClass } from './character-classes.ts';
import { scaled } from './number-scanner.ts';

/** A number in its text. `text[start, end)` has its digits and magnitude ("5 million"). */
export type WrittenNumber = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly value: number;
};

/** Longest currency or unit, in UTF-16 code units. It bounds the time of a look. */
const MAX_WORD_UNITS = 12;
/** Code units around a number in which a word may say that it is negative or falls. */
const FALL_UNITS = 80;

/** Symbols, codes and names of each currency, in the singular. The first is its name here. */
const CURRENCIES =
  'dollar $|cent ¢|usd us$ 美元 ドル|aud a$|cad c$|hkd hk$|sgd s$|nzd nz$|eur € euro 欧元 ユーロ|gbp £ sterling pound 英镑|' +
  '¥|jpy yen 円 日元|cny rmb yuan renminbi 元|inr ₹ rupee|rub ₽ rouble ruble рублей рубля|krw ₩ 원|try ₺ lira|ils ₪ shekel|' +
  'uah ₴|ngn ₦|vnd ₫|php ₱|thb ฿ baht|chf franc franken|btc ₿ bitcoin|peso|rand|dirham|riyal|krone krona kroner kronor';
/** In the singular, in English spelling or abbreviated, and some words of other languages. */
const UNITS =
  '% percent prozent procent процент|km kilometer км 公里 千米|m meter м 米|cm centimeter см 厘米|mm millimeter мм 毫米|' +
  'mile mi 英里|ft foot feet|inch inche|yard yd|kg kilo kilogram kilogramm кг 公斤 千克|g gram gramm 克|mg milligram мг|' +
  't ton tonne tonnen т 吨|lb lbs pound|oz ounce|l liter л 升|ml milliliter|gallon gal|ha hectare hektar га|acre|km² km2|' +
  'km/h kmh|mph|kw|mw|gw|kwh|mwh|gwh|twh|hz|khz|mhz|ghz|kb|mb|gb|tb|ms millisecond|second sec s 秒|minute min 分钟|' +
  'hour h stunden 小时 時間|day tage 天|week wochen|month monate|year yr jahre|°c celsiu|°f fahrenheit';

const CURRENCY_BY_WORD = byWord(CURRENCIES);
const UNIT_BY_WORD = byWord(UNITS);
/** The sign alone does not tell which of these is meant. */
const DOLLARS = new Set(['dollar', 'usd', 'aud', 'cad', 'hkd', 'sgd', 'nzd']);
const YENS = new Set(['¥', 'jpy', 'cny']);

function byWord(lists: string): ReadonlyMap<string, string> {
  return new Map(
    lists.split('|').flatMap((list) => {
      const words = list.split(' ');
      return words.map((word) => [word, words[0] ?? word] as const);
    }),
  );
}

/** A number with what it is written with; `null` = nothing. */
export type Quantity = WrittenNumber & { readonly unit: string | null; readonly currency: string | null };

/** Reads what a number is written with. A claim's numbers are read once, and compared with many of its sources. */
export function quantityOf(number: WrittenNumber): Quantity {
  return { ...number, unit: unitOf(number), currency: currencyOf(number) };
}

/** Returns whether a number of a source may be the number of a claim: equal in value, sign, currency and unit. */
export function isSameQuantity(claim: Quantity, source: WrittenNumber): boolean {
  const { unit, currency } = claim;
  // Most numbers of claims are equal and have no unit: then the source's is not read.
  if (unit !== null || claim.value !== source.value) {
    const other = unitOf(source);
    if (!isSameValue(claim, unit, source, other)) return false;
    if (unit !== null && other !== null && unit !== other) return false;
  }
  if (currency !== null && !isSameCurrency(currency, currencyOf(source))) return false;
  return isSameSign(claim, source);
}

/** Whether the values are equal, or one is the fraction of a percentage, or millions written as "8.2m". */
function isSameValue(claim: WrittenNumber, own: string | null, source: WrittenNumber, other: string | null): boolean {
  if (claim.value === source.value) return true;
  if (claim.value === scaled(source.value, 100)) return own === '%' && other === null;
  if (source.value === scaled(claim.value, 100)) return other === '%' && own === null;
  if (claim.value === scaled(source.value, 1e6)) return mayBeMillions(source);
  if (source.value === scaled(claim.value, 1e6)) return mayBeMillions(claim);
  return true;
}

/** Whether a number is part of a numeric date: 27.05.1937, 1937-05-27, 5/27/1937. */
export function isInDate({ text, start, end }: WrittenNumber): boolean {
  const isJoint = (at: number): boolean => '.-/'.includes(text.charAt(at)) && isDigit(text.charCodeAt(at + 1));
  return isJoint(end) || (isJoint(start - 1) && isDigit(text.charCodeAt(start - 2)));
}

/** Whether a number is part of a name: COVID-19, GPT-4, 5G. */
export function isInName({ text, start, end }: WrittenNumber): boolean {
  const letter = text.charAt(end);
  if (letter !== '' && 'DGQ'.includes(letter) && !isLetterAt(text, end + 1)) return true;
  if (text.charAt(start - 1) !== '-' || !isLetterAt(text, start - 2)) return false;
  let from = start - 1;
  while (from > 0 && start - from < MAX_WORD_UNITS && isLetterAt(text, from - 1)) from--;
  const word = text.slice(from, start - 1);
  return word !== word.toLowerCase() && !isDigit(word.charCodeAt(0)) && !PREFIXES.has(word.toLowerCase());
}

/** Words that are joined to a year or an amount, even at the start of a sentence. */
const PREFIXES = new Set('mid pre post late early sub top under over since non us usd eur gbp'.split(' '));

/** Other values that a source may write for a number: 0.45 for 45%, 8,200,000 for "8.2m", and each the other way. */
export function otherValues(number: WrittenNumber): number[] {
  const { value } = number;
  const values = unitOf(number) === '%' ? [scaled(value, 0.01)] : value <= 1 ? [scaled(value, 100)] : [];
  if (mayBeMillions(number)) values.push(scaled(value, 1e6));
  else if (value >= 1e6) values.push(scaled(value, 1e-6));
  return values;
}

/** A small m against the digits is a metre or a million. */
function mayBeMillions({ text, end }: WrittenNumber): boolean {
  return text.charAt(end) === 'm' && !isLetterAt(text, end + 1);
}

/** Whether a word is the code or name of a currency: USD, EUR. */
export function isCurrency(word: string): boolean {
  return currencyNamed(word) !== null;
}

function isSameCurrency(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return true;
  if (one === 'dollar' || other === 'dollar') return DOLLARS.has(one) && DOLLARS.has(other);
  return (one === '¥' || other === '¥') && YENS.has(one) && YENS.has(other);
}

function isSameSign(claim: WrittenNumber, source: WrittenNumber): boolean {
  const own = isNegative(claim);
  if (own === isNegative(source)) return true;
  return tellsFall(own ? source : claim);
}

const MINUS = '-−–';
const FALL =
  /fall|fell|drop|declin|decreas|los[est]|down|below|minus|negativ|reduc|shr[aiu]nk|contract|cut|deficit|lower|slid|fiel|sank|sink|rückgang|verl|unter|baiss|chut|pert|moins|cay|baj|pérd|menos|упал|сниз|минус|убыт|паден|下降|减少/i;

/** Whether a minus sign is before the number or its currency, and is neither a hyphen nor the dash of a range. */
function isNegative({ text, start }: WrittenNumber): boolean {
  let at = start - 1;
  while (at >= 0 && start - at < MAX_WORD_UNITS && '$€£¥₹US'.includes(text.charAt(at))) at--;
  if (at < 0 || !MINUS.includes(text.charAt(at))) return false;
  const before = text.charAt(at - 1);
  if (before === '' || '(=:,;"\'~≈<>['.includes(before)) return true;
  return isSpaceUnit(before) && !(at >= 2 && isDigit(text.charCodeAt(at - 2)));
}

/** Whether a word near the number says that it is negative or falls. */
function tellsFall({ text, start, end }: WrittenNumber): boolean {
  return FALL.test(text.slice(Math.max(0, start - FALL_UNITS), end + FALL_UNITS));
}

function currencyOf({ text, start, end }: WrittenNumber): string | null {
  const before = wordBefore(text, start);
  return currencyNamed(before) ?? currencyNamed(wordAfter(text, end));
}

function currencyNamed(word: string): string | null {
  const isCode = word !== '' && word === word.toUpperCase();
  return isCode || word.length > 3 || word === 'yen' ? (CURRENCY_BY_WORD.get(singular(word)) ?? null) : null;
}

/** Whether the word after a number is a unit or a currency: 5 km, 5 euros. */
export function hasUnitAfter(number: WrittenNumber): boolean {
  return unitOf(number) !== null || currencyNamed(wordAfter(number.text, number.end)) !== null;
}

function unitOf({ text, end }: WrittenNumber): string | null {
  const word = singular(wordAfter(text, end));
  // Against the digits a small m may also be a million.
  if (word === 'm' && text.charAt(end) === 'm') return null;
  if (word === 'per' || word === 'pour' || word === 'por')
    return CENT.test(text.slice(end, end + MAX_WORD_UNITS)) ? '%' : null;
  return UNIT_BY_WORD.get(word) ?? null;
}

const CENT = /^\s?(?:per|pour|por) ?(?:cent|ciento)/i;

/** The word in lower case, without its plural s and with American spelling: "Kilometres" is "kilometer". */
function singular(word: string): string {
  const lower = word.toLowerCase();
  const one = lower.length > 3 && lower.endsWith('s') ? lower.slice(0, -1) : lower;
  return one.endsWith('metre') || one.endsWith('litre') ? `${one.slice(0, -2)}er` : one;
}

/** The word or sign that ends at `start`, or one space before it. */
function wordBefore(text: string, start: number): string {
  const end = isSpaceUnit(text.charAt(start - 1)) || MINUS.includes(text.charAt(start - 1)) ? start - 1 : start;
  let from = end;
  while (from > 0 && end - from < MAX_WORD_UNITS && isWordUnit(text, from - 1)) from--;
  return start <= 0 ? '' : text.slice(from, end);
}

/** The word or sign that begins at `end`, or after one space or hyphen; in scripts without spaces only a known one. */
function wordAfter(text: string, end: number): string {
  const first = text.charAt(end);
  const from = isSpaceUnit(first) || first === '-' ? end + 1 : end;
  if (unitClass(text.charCodeAt(from)) === SINGLE) {
    const isKnown = (word: string): boolean => UNIT_BY_WORD.has(word) || CURRENCY_BY_WORD.has(word);
    return [3, 2, 1].map((length) => text.slice(from, from + length)).find(isKnown) ?? '';
  }
  let to = from;
  while (to < text.length && to - from <= MAX_WORD_UNITS && isWordUnit(text, to)) to++;
  return text.slice(from, to);
}

function isWordUnit(text: string, at: number): boolean {
  return isLetterAt(text, at) || '%°²/$€£¥₹₽₩₺₪₴₦₫₱฿₿'.includes(text.charAt(at));
}

function isLetterAt(text: string, at: number): boolean {
  return at < text.length && unitClass(text.charCodeAt(at)) === LETTER;
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

function isSpaceUnit(character: string): boolean {
  return character === ' ' || character === '\u00a0' || character === '\u202f' || character === '\u2009';
}
