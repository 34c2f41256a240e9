/**
 * Units of measurement with their sizes, so that 5 mg is 0.005 g and not 5 µg. Names are in English spelling or
 * abbreviated, with some words of other languages.
 */
import { stemOf } from './token-hash.ts';

/** What a unit measures, its size in the first unit of that measure, and the unit that it is divided by: km per h. */
export type Unit = {
  readonly measure: number;
  readonly size: number;
  readonly per?: Unit;
  /** Of a percentage: whether it counts points, which are no percent of a value. Basis points are both. */
  readonly isPoints?: boolean;
};

/** The measure of percentages. */
export const SHARE = 0;
/** Each measure: its units by size, in the singular. The first is 1, and takes prefixes: its symbol, then its names. */
const MEASURES =
  '% percent prozent procent процент percentage pp ppt prozentpunkt prozentpunkte,.1 ‰,.01 basis bps;' +
  'm meter metre м 米,1e3 км 公里 千米,.01 см 厘米,.001 мм 毫米,1e-6 微米,1609.344 mile mi 英里,.3048 ft foot feet,' +
  '.0254 inch inche,.9144 yd yard;' +
  'g gram gramme gramm gm 克,1e3 kilo kgs кг 公斤 千克,.001 мг 毫克,1e-6 mcg мкг 微克,1e6 t ton tonne tonnen т 吨,' +
  '453.59237 lb lbs pound,28.3495 oz ounce;' +
  'l liter litre л 升,.001 毫升,3.785412 gallon gal;' +
  'm2,1e6 km2,1e-4 cm2,1e-6 mm2,1e4 ha hectare hektar га,4046.856 acre;' +
  'W watt;Wh;Hz hertz;B byte;' +
  's second sec 秒,60 min minute 分钟,3600 h hr hrs hour stunden 小时 時間,86400 day tage 天,604800 week wochen;' +
  'month monate,12 year yr jahre,120 decade;°c celsiu;°f fahrenheit';
/** Prefixes of units. Of two symbols that are one in lower case, the first has the lower case: mm, but MW. */
const PREFIXES =
  'c centi .01,k kilo 1e3,m milli .001,μ micro 1e-6,n nano 1e-9,d deci .1,M mega 1e6,G giga 1e9,T tera 1e12';
/** Named by a capital, of which the large prefixes are usual. */
const LARGE_FIRST = /^[WHB]/;

/** Units by symbol with its case, and by name or symbol in lower case. */
const BY_NAME = new Map<string, Unit>();
/** The units of each measure: the sizes, and the stems of the names of each. */
const SIZES: Map<number, number[]>[] = [];

for (const [measure, list] of MEASURES.split(';').entries()) {
  const units = list.split(',').map((one) => one.split(' '));
  const [first = []] = units;
  for (const [n, [size = '', ...names]] of units.entries()) {
    if (n > 0) for (const name of names) addUnit(measure, Number(size), name);
    else for (const name of first) addUnit(measure, 1, name);
  }
  const prefixes = PREFIXES.split(',');
  if (LARGE_FIRST.test(list)) prefixes.reverse();
  for (const prefix of prefixes) {
    const [symbol = '', word = '', size] = prefix.split(' ');
    for (const [n, name] of first.entries()) addUnit(measure, Number(size), (n === 0 ? symbol : word) + name);
  }
}

function addUnit(measure: number, size: number, name: string): void {
  const lower = name.toLowerCase();
  for (const key of [name, lower])
    if (!BY_NAME.has(key) && key !== 'b' && key !== 'w') BY_NAME.set(key, { measure, size });
  SIZES[measure] ??= new Map();
  SIZES[measure].set(size, [...(SIZES[measure].get(size) ?? []), stemOf(lower)]);
}

/** The sizes of the units of each measure, and the stems of all their names. */
const OF_MEASURE = SIZES.map((sizes) => ({ sizes: [...sizes.keys()], stems: [...sizes.values()].flat() }));

/** The stem hashes of the names of a unit, or of all that measure the same. */
export function stemsOfUnit({ measure, size }: Unit, ofAll: boolean): readonly number[] {
  return (ofAll ? OF_MEASURE[measure]?.stems : SIZES[measure]?.get(size)) ?? [];
}

/** The sizes of all units that measure the same. */
export function sizesOfMeasure(measure: number): readonly number[] {
  return OF_MEASURE[measure]?.sizes ?? [];
}

/** Speeds with names of their own, as lengths by the hour. */
const SPEEDS: ReadonlyMap<string, string> = new Map([
  ['kmh', 'km/h'],
  ['kph', 'km/h'],
  ['mph', 'mi/h'],
]);

/** Returns the unit of a word or sign, or `null`: km, Kilometres, µg, m², km/h. */
export function unitNamed(word: string): Unit | null {
  if (word === '') return null;
  const written = SPEEDS.get(word) ?? word;
  const exact = BY_NAME.get(written);
  if (exact !== undefined) return exact;
  // Milli or mega: ML.
  if (AMBIGUOUS.test(written)) return null;
  const named = BY_NAME.get(singular(written));
  if (named !== undefined) return named;
  if (PLAIN_WORD.test(written)) return null;
  const plain = written.normalize('NFKC');
  if (plain !== written) return unitNamed(plain);
  const slash = plain.indexOf('/');
  return slash > 0 ? quotient(unitNamed(plain.slice(0, slash)), unitNamed(plain.slice(slash + 1))) : null;
}

/** No other writing of a unit, and none divided by another. */
const PLAIN_WORD = /^[A-Za-z]+$/;
const AMBIGUOUS = /^M[A-Z]$/;

/** A unit by another: km per h. One that is already divided stays: mg/kg per day is mg/kg. */
export function quotient(unit: Unit | null, per: Unit | null): Unit | null {
  return unit === null || per === null || unit.per !== undefined ? unit : { ...unit, per };
}

/**
 * How many of one unit another is; NaN if they measure something else. What one of both is not divided by is unknown,
 * and makes no difference.
 */
export function ratioOf(one: Unit, other: Unit): number {
  if (one.measure !== other.measure) return Number.NaN;
  if (one.isPoints !== undefined && other.isPoints === !one.isPoints) return Number.NaN;
  const ratio = other.size / one.size;
  return one.per === undefined || other.per === undefined ? ratio : ratio / ratioOf(one.per, other.per);
}

/** The word in lower case, without its plural s and with American spelling: "Kilometres" is "kilometer". */
export function singular(word: string): string {
  const lower = word.toLowerCase();
  const one = lower.length > 3 && lower.endsWith('s') ? lower.slice(0, -1) : lower;
  return one.endsWith('metre') || one.endsWith('litre') ? `${one.slice(0, -2)}er` : one;
}
