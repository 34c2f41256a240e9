/**
 * Compares what numbers are written with: sign, currency and unit. Two numbers differ if both are written with one and
 * it is not the same: €5 million and $5 million, 5 km and 5 miles, -3% and 3%. What one side leaves out is unknown, and
 * differs from nothing.
 */
import { isAsciiDigit } from '../text/characters.ts';
import { LETTER, SINGLE, unitClass } from './character-classes.ts';
import { currencyNamed, isCurrencySign, isSameCurrency } from './currencies.ts';
import { scaled } from './number-scanner.ts';
import { quotient, ratioOf, SHARE, sizesOfMeasure, type Unit, unitNamed } from './units.ts';

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

/** A number with what it is written with; `null` = nothing. */
export type Quantity = WrittenNumber & {
  readonly unit: Unit | null;
  readonly currency: string | null;
  readonly hour: Hour | null;
};

/**
 * A time of day, or what looks like one (3:16). With am or pm the hour is in [0, 24), else as written; it is sure if it
 * can be in one half of the day only.
 */
type Hour = {
  readonly hour: number;
  readonly minutes: string;
  readonly half: string;
  readonly isSure: boolean;
};

/** Reads what a number is written with. A claim's numbers are read once, and compared with many of its sources. */
export function quantityOf(number: WrittenNumber): Quantity {
  const { text, start, end, value } = number;
  const after = wordAfter(text, end);
  const [unit, currency] = [unitOf(number, after), currencyOf(number, after)];
  return { text, start, end, value, unit, currency, hour: hourOf(number) };
}

/**
 * Returns whether a number of a source may be the number of a claim: equal in value, sign, currency and unit.
 * @param most by how much the values may differ, in the unit of the claim.
 */
export function isSameQuantity(claim: Quantity, source: WrittenNumber, most = 0): boolean {
  const { unit, currency } = claim;
  if (claim.hour !== null) {
    const hour = hourOf(source);
    if (hour !== null) return isSameHour(claim.hour, hour);
    // The 00 of 17:00 is no term, so a plain 17 is not enough; the minutes of a source are no hour.
    if (source.text.charAt(source.start - 1) === ':') return false;
    if (claim.text.startsWith(':00', claim.end))
      return (
        isPlainHour(source) && isSameHour(claim.hour, { hour: source.value, minutes: ':00', half: '', isSure: false })
      );
  }
  // Most numbers of claims are equal and have no unit: then the source's is not read.
  if ((unit !== null || claim.value !== source.value) && !isSameValue(claim, source, most)) return false;
  if (currency !== null && !isSameCurrency(currency, currencyOf(source))) return false;
  return isSameSign(claim, source);
}

/** Share of a value by which doubles of the same value may differ. */
const VALUE_ERROR = 1e-9;

/** Whether the values are equal in the unit of the claim, in one of the ways to write the source's. */
function isSameValue(claim: Quantity, source: WrittenNumber, most: number): boolean {
  const { unit } = claim;
  const other = unitOf(source);
  // A version or a long row of digits has no value, and is the same if its digits are.
  if (Number.isNaN(claim.value)) return Number.isNaN(source.value);
  const isSame = (value: number): boolean =>
    Math.abs(value - claim.value) <= Math.max(most, Math.abs(claim.value) * VALUE_ERROR);
  if (unit !== null && other !== null) {
    return isSame(source.value * ratioOf(unit, other));
  }
  if (isSame(source.value)) return true;
  if (unit?.measure === SHARE) return isSame((source.value * 100) / unit.size);
  if (other?.measure === SHARE) return isSame((source.value / 100) * other.size);
  if (mayBeMillions(source) && isSame(source.value * 1e6)) return true;
  if (mayBeMillions(claim) && isSame(source.value / 1e6)) return true;
  if (isGrouped(source) && isSame(source.value * 1000)) return true;
  if (isGrouped(claim) && isSame(source.value / 1000)) return true;
  return shortYear(source) === claim.value || shortYear(claim) === source.value;
}

/** Whether a number has a point before three digits, which may separate thousands: 1.280. */
function isGrouped({ text, start, end }: WrittenNumber): boolean {
  return end - start <= 7 && text.charAt(end - 4) === '.';
}

/** The year that the last digits of "2019/20", "2019-20" and "3Q24" mean; `null` = another number. */
function shortYear({ text, start, end, value }: WrittenNumber): number | null {
  if (end - start !== 2 || !Number.isInteger(value)) return null;
  const joint = text.charAt(start - 1);
  if (joint === 'Q' && isAsciiDigit(text.charCodeAt(start - 2))) return 2000 + value;
  if (!'/–-'.includes(joint) || isAsciiDigit(text.charCodeAt(start - 6))) return null;
  const year = Number(text.slice(Math.max(0, start - 5), start - 1));
  // 2010-12 may be a month.
  if (joint === '-' && value <= 12) return null;
  return year >= 1000 && year <= 2200 && value > year % 100 ? year - (year % 100) + value : null;
}

/** Whether a number is part of a numeric date: 27.05.1937, 1937-05-27, 5/27/1937. */
export function isInDate({ text, start, end }: WrittenNumber): boolean {
  const isJoint = (at: number): boolean => '.-/'.includes(text.charAt(at)) && isAsciiDigit(text.charCodeAt(at + 1));
  return isJoint(end) || (isJoint(start - 1) && isAsciiDigit(text.charCodeAt(start - 2)));
}

/** Whether a number is part of a name: COVID-19, GPT-4, 5G. */
export function isInName({ text, start, end }: WrittenNumber): boolean {
  const letter = text.charAt(end);
  if (letter !== '' && 'DGQ'.includes(letter) && !isLetterAt(text, end + 1)) return true;
  if (text.charAt(start - 1) !== '-' || !isLetterAt(text, start - 2)) return false;
  let from = start - 1;
  while (from > 0 && start - from < MAX_WORD_UNITS && isLetterAt(text, from - 1)) from--;
  const word = text.slice(from, start - 1);
  return word !== word.toLowerCase() && !isAsciiDigit(word.charCodeAt(0)) && !PREFIXES.has(word.toLowerCase());
}

/** Whether a number in digits counts places: 19th. */
export function isOrdinal({ text, start, end }: WrittenNumber): boolean {
  return isAsciiDigit(text.charCodeAt(start)) && 'tdh'.includes(text.charAt(end - 1));
}

/** The hour that a number is of a time of day: 5 pm, 5:30 p.m., 17:00, 17 Uhr; `null` = of none. */
function hourOf({ text, start, end, value }: WrittenNumber): Hour | null {
  if (!(value <= 24) || !Number.isInteger(value)) return null;
  const found = HOUR.exec(text.slice(end, end + MAX_WORD_UNITS));
  if (!found?.[0].trim() || text.charAt(start - 1) === ':') return null;
  const word = found[2]?.charAt(0).toLowerCase() ?? '';
  const half = word === 'u' ? '' : word;
  if (half !== '' && value > 12) return null;
  const hour = half === '' ? value % 24 : (value % 12) + (half === 'p' ? 12 : 0);
  const isSure = word !== '' || value === 0 || value > 12 || text.charAt(start) === '0';
  return { hour, minutes: found[1] ?? ':00', half, isSure };
}

/** Whether two times are the same. One without am or pm may be in both halves of the day if the other says which. */
function isSameHour(one: Hour, other: Hour): boolean {
  const isExact = (one.isSure && other.isSure) || (one.half === '') === (other.half === '');
  return one.minutes === other.minutes && (isExact ? one.hour === other.hour : one.hour % 12 === other.hour % 12);
}

/** Minutes and the half of the day, or one of them, or nothing. */
const HOUR = /^(:[0-5]\d(?!\d|:(?![0-5]\d)))?(?::[0-5]\d(?!\d))?\s?([ap]\.?m|uhr)?(?![a-z])/i;

/** Whether a number without minutes is an hour by the words around it: at 9, at nine in the morning, at 5 o'clock. */
function isPlainHour({ text, start, end, value }: WrittenNumber): boolean {
  if (!(value <= 24) || !BEFORE_HOUR.test(text.slice(Math.max(0, start - MAX_WORD_UNITS), start))) return false;
  return AFTER_HOUR.test(text.slice(end, end + MAX_WORD_UNITS));
}

const BEFORE_HOUR = /\b(?:at|from|until|till|to|by|before|after|um|à) $/i;
const AFTER_HOUR =
  /^(?:$|[.,;:)!?](?!\d)| o.clock| [ap]\. ?m| in the | sharp| (?:on|every|each|daily|to|until|till|and)\b)/;

/** Whether a number is the minutes of a full hour: 17:00. */
export function isFullHour({ text, start, end }: Omit<WrittenNumber, 'value'>): boolean {
  return end - start === 2 && text.startsWith(':00', start - 1) && isAsciiDigit(text.charCodeAt(start - 2));
}

/** Whether a number says how often or how many times as much: 3 times, 3x, 3-fold. */
export function isTurns({ text, end }: Pick<WrittenNumber, 'text' | 'end'>): boolean {
  return TURNS.test(text.slice(end, end + MAX_WORD_UNITS));
}

const TURNS = /^[ -]?(?:times|x|fold)(?![A-Za-z])/;

/** Words that are joined to a year or an amount, even at the start of a sentence. */
const PREFIXES = new Set('mid pre post late early sub top under over since non us usd eur gbp'.split(' '));

/**
 * Other values that a text may write for a number: 0.45 for 45%, 8,200,000 for "8.2m", and each the other way.
 * @param all also those that are the same number only if `isSameQuantity` says so: 5,000 for 5 mg, 20 for the year 2020.
 */
export function otherValues(number: Quantity, all: boolean): number[] {
  const { value, unit } = number;
  if (Number.isNaN(value)) return [];
  const values = all && unit !== null ? valuesInUnits(value, unit) : [];
  if (unit?.measure === SHARE) values.push(scaled(value, 0.01 * unit.size));
  else if (value <= 1) values.push(scaled(value, 100));
  if (mayBeMillions(number)) values.push(scaled(value, 1e6));
  else if (value >= 1e6) values.push(scaled(value, 1e-6));
  if (all && number.hour !== null) for (const hour of [0, 12]) values.push((number.hour.hour % 12) + hour);
  const year = all ? shortYear(number) : null;
  if (year !== null) values.push(year);
  else if (all && unit === null && value >= 1000 && value <= 2200) values.push(value % 100);
  return values;
}

/** What share of a whole a quantity may be: 0.45 for 45% and for 0.45. */
export function shareOf({ value, unit }: Quantity): number {
  return unit === null ? value : unit.measure === SHARE ? (value * unit.size) / 100 : 0;
}

/** The values of a quantity in all units that measure the same. */
export function valuesInUnits(value: number, unit: Unit): number[] {
  const values: number[] = [];
  for (const size of sizesOfMeasure(unit.measure)) {
    const other = size === unit.size ? 0 : scaled(value, unit.size / size);
    if (other >= LEAST_WRITTEN && other <= MOST_WRITTEN) values.push(other);
  }
  return values;
}

// Nobody writes a value outside of it in digits, without a power or another unit.
const LEAST_WRITTEN = 1e-3;
const MOST_WRITTEN = 1e9;

/** A small m against the digits is a metre or a million. */
function mayBeMillions({ text, end }: WrittenNumber): boolean {
  return text.charAt(end) === 'm' && !isLetterAt(text, end + 1);
}

function isSameSign(claim: WrittenNumber, source: WrittenNumber): boolean {
  const own = isNegative(claim);
  if (own === isNegative(source)) return true;
  return tellsFall(own ? source : claim);
}

const MINUS = '-−–';
const FALL =
  /fall|fell|drop|declin|decreas|los[est]|down|below|minus|negativ|reduc|shr[aiu]nk|contract|cut|deficit|lower|slid|fiel|sank|sink|rückgang|verl|unter|baiss|chut|pert|moins|cay|baj|pérd|menos|упал|сниз|минус|убыт|паден|下降|减少/i;

/** Not after a digit: 7 minus 3. */
const MINUS_WORD = /(?:^|[^\d ] ?)(?:minus|negative) $/i;

/** Whether a minus sign or word is before the number or its currency, and is neither a hyphen nor the dash of a range. */
function isNegative({ text, start }: WrittenNumber): boolean {
  let at = start - 1;
  while (at >= 0 && start - at < MAX_WORD_UNITS && '$€£¥₹US'.includes(text.charAt(at))) at--;
  if (at < 0) return false;
  if (!MINUS.includes(text.charAt(at))) {
    // Both words end with an e or s; most numbers are after another.
    const last = at > 0 && text.charAt(at) === ' ' ? text.charCodeAt(at - 1) | 0x20 : 0;
    if (last !== 0x65 && last !== 0x73) return false;
    return MINUS_WORD.test(text.slice(Math.max(0, at - MAX_WORD_UNITS), at + 1));
  }
  const before = text.charAt(at - 1);
  if (before === '' || '(=:,;"\'~≈<>['.includes(before)) return true;
  return isSpaceUnit(before) && !(at >= 2 && isAsciiDigit(text.charCodeAt(at - 2)));
}

/** Whether a word near the number says that it is negative or falls. */
function tellsFall({ text, start, end }: WrittenNumber): boolean {
  return FALL.test(text.slice(Math.max(0, start - FALL_UNITS), end + FALL_UNITS));
}

function currencyOf({ text, start, end }: WrittenNumber, after = wordAfter(text, end)): string | null {
  return currencyNamed(wordBefore(text, start)) ?? currencyNamed(after[0]);
}

/** Whether the word after a number is a unit or a currency: 5 km, 5 euros. */
export function hasUnitAfter({ text, end, unit }: Quantity): boolean {
  return unit !== null || currencyNamed(wordAfter(text, end)[0]) !== null;
}

function unitOf({ text, end }: WrittenNumber, [word, after] = wordAfter(text, end)): Unit | null {
  // Against the digits a small m may also be a million.
  if (word === 'm' && text.charAt(end) === 'm') return null;
  if (word === 'per' || word === 'pour' || word === 'por')
    return CENT.test(text.slice(end, end + MAX_WORD_UNITS)) ? { measure: SHARE, size: 1, isPoints: false } : null;
  if (word === 'degrees') return unitNamed(wordAfter(text, after)[0]);
  const unit = unitNamed(word);
  // A kilowatt-hour is no kilowatt.
  if (unit === null || HOURS.test(text.slice(after, after + 7))) return null;
  const isPercent = unit.measure === SHARE && unit.size === 1;
  const isPoints = isPercent && (POINTS_WORD.test(word) || POINTS.test(text.slice(after, after + 7)));
  const whole = isPercent ? { ...unit, isPoints } : unit;
  return PER.test(text.slice(after, after + 7))
    ? quotient(whole, unitNamed(wordAfter(text, text.indexOf(' ', after + 1))[0]))
    : whole;
}

const POINTS_WORD = /^(?:pp|p?pts?|prozentpunkt)/i;
const POINTS = /^[ -]points?/;
const CENT = /^\s?(?:per|pour|por) ?(?:cent|ciento)/i;
const HOURS = /^[ -]hours?\b/i;
const PER = /^ (?:per|an?|each|every|pro|par) /;

/** The word or sign that ends at `start`, or one space before it. */
function wordBefore(text: string, start: number): string {
  const end = isSpaceUnit(text.charAt(start - 1)) || MINUS.includes(text.charAt(start - 1)) ? start - 1 : start;
  let from = end;
  while (from > 0 && end - from < MAX_WORD_UNITS && isWordUnit(text, from - 1)) from--;
  return start <= 0 ? '' : text.slice(from, end);
}

/**
 * The word or sign that begins at `end`, or after one space or hyphen, and the offset after it; in scripts without
 * spaces only a known one.
 */
function wordAfter(text: string, end: number): readonly [word: string, after: number] {
  const first = text.charAt(end);
  const from = isSpaceUnit(first) || first === '-' ? end + 1 : end;
  if (unitClass(text.charCodeAt(from)) === SINGLE) {
    const isKnown = (word: string): boolean => unitNamed(word) !== null || isCurrencySign(word);
    const known = [3, 2, 1].map((length) => text.slice(from, from + length)).find(isKnown) ?? '';
    return [known, from + known.length];
  }
  let to = from;
  while (to < text.length && to - from <= MAX_WORD_UNITS && isWordUnit(text, to)) to++;
  return [text.slice(from, to), to];
}

function isWordUnit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unitClass(unit) === LETTER) return true;
  return unit !== SPACE && '%‰°²³/$€£¥₹₽₩₺₪₴₦₫₱฿₿'.includes(text.charAt(at));
}

const SPACE = 0x20;

function isLetterAt(text: string, at: number): boolean {
  return at < text.length && unitClass(text.charCodeAt(at)) === LETTER;
}

function isSpaceUnit(character: string): boolean {
  return character === ' ' || character === '\u00a0' || character === '\u202f' || character === '\u2009';
}
