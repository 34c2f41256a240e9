/** Currencies by symbol, code and name. */
import { singular } from './units.ts';

/** Symbols, codes and names of each currency, in the singular. The first is its name here. */
const CURRENCIES =
  'dollar $|cent ¢|usd us$ 美元 ドル|aud a$ au$|cad c$ ca$|hkd hk$|sgd s$|nzd nz$|twd nt$|eur € euro 欧元 ユーロ|' +
  'gbp £ sterling pound 英镑|¥|jpy yen 円 日元|cny rmb yuan renminbi 元|inr ₹ rupee rs|rub ₽ rouble ruble рублей рубля|' +
  'krw ₩ 원|try ₺ lira|ils ₪ shekel|uah ₴|ngn ₦|vnd ₫ dong|php ₱|thb ฿ baht|chf franc franken|btc ₿ bitcoin|' +
  'brl r$ reais|peso|rand zar|dirham|riyal|krone krona kroner kronor|nok|sek|dkk';
const CURRENCY_BY_WORD = byWord(CURRENCIES);
/** Currencies that share a sign or name, which is the first: alone it does not tell which is meant. */
const FAMILIES = ['dollar usd aud cad hkd sgd nzd twd', '¥ jpy cny', 'krone nok sek dkk'].map((all) => all.split(' '));

function byWord(lists: string): ReadonlyMap<string, string> {
  return new Map(
    lists.split('|').flatMap((list) => {
      const words = list.split(' ');
      return words.map((word) => [word, words[0] ?? word] as const);
    }),
  );
}

const SHORT_NAMES = new Set(['yen', 'Rs']);

/** The name here of a currency by its symbol, code (USD) or name (euros, but not "won"); `null` = no currency. */
export function currencyNamed(word: string): string | null {
  const first = word.charCodeAt(0);
  // Most words begin with a small letter, and are no code.
  const isCode = !(first >= 97 && first <= 122) && word !== '' && word === word.toUpperCase();
  const named = isCode || word.length > 3 || SHORT_NAMES.has(word) ? CURRENCY_BY_WORD.get(singular(word)) : undefined;
  // "USD$" says it twice.
  return named ?? (isCode && word.length === 4 && word.endsWith('$') ? currencyNamed(word.slice(0, -1)) : null);
}

/** Whether a word is exactly one of the symbols and names. */
export function isCurrencySign(word: string): boolean {
  return CURRENCY_BY_WORD.has(word);
}

/** Whether the code of a currency ends at `end`, or before one space there: USD 5, EUR5. */
export function endsWithCode(text: string, end: number): boolean {
  const to = text.charAt(end - 1) === ' ' ? end - 1 : end;
  const [code = ''] = CODE.exec(text.slice(Math.max(0, to - CODE_UNITS), to)) ?? [];
  return currencyNamed(code) !== null;
}

/** A code and a unit before it. */
const CODE_UNITS = 4;
const CODE = /(?<![A-Za-z])[A-Z]{3}$/;

/** Whether two currencies, by their names here, may be the same; `null` = not said. */
export function isSameCurrency(one: string | null, other: string | null): boolean {
  if (one === null || other === null || one === other) return true;
  return FAMILIES.some((all) => (all[0] === one && all.includes(other)) || (all[0] === other && all.includes(one)));
}
