/**
 * The addresses that an answer cites: its links, wherever they are, references included, and the numbered notes that
 * give an address (`[3]: https://…`, `3. https://…`) if their number is in brackets elsewhere. Links and notes are those
 * of the citation grammar `link`; those in code are none. Linear in the answer.
 */
import { withoutCode } from '../../citations/code.ts';
import { entryNumber, firstUrl, type Mark, readMarks } from '../../citations/links.ts';
import { pageKey, withoutReaders } from '../../text/url.ts';

/** The cited addresses in order of appearance, each page once, as written in its first citation. */
export function citedAddresses(answer: string): string[] {
  const whole = { start: 0, end: answer.length };
  const plain = withoutCode(answer, whole).text;
  const { marks } = readMarks(plain, whole);
  const counts = new Map<string, number>();
  for (const mark of marks) for (const number of numbersOf(answer, mark)) count(counts, number);
  const cited = new Map<string, string>();
  const add = (address: string): void => {
    const key = pageKey(address);
    if (!cited.has(key)) cited.set(key, withoutReaders(address));
  };
  let next = 0;
  let start = 0;
  for (const line of plain.split('\n')) {
    const end = start + line.length;
    const own = new Map<string, number>();
    let hasLink = false;
    for (let mark = marks[next]; mark !== undefined && mark.span.start < end; mark = marks[++next]) {
      for (const number of numbersOf(answer, mark)) count(own, number);
      if (mark.form !== 'link') continue;
      hasLink = true;
      add(answer.slice(mark.url.start, mark.url.end));
    }
    start = end + 1;
    const number = hasLink ? null : entryNumber(line);
    if (number === null || (counts.get(number) ?? 0) <= (own.get(number) ?? 0)) continue;
    const address = firstUrl(line);
    if (address !== null) add(address);
  }
  return [...cited.values()];
}

/** The numbers of notes in a mark. */
function numbersOf(answer: string, mark: Mark): string[] {
  return mark.form === 'notes' ? mark.numbers.map(({ start, end }) => answer.slice(start, end)) : [];
}

function count(counts: Map<string, number>, number: string): void {
  counts.set(number, (counts.get(number) ?? 0) + 1);
}
