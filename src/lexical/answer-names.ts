/**
 * Gives labels the names of an answer, by words: a stand-in for a model that reads which thing each label is. It knows
 * no grammar. A label gets the name whose sentences share most words with what is said of the label.
 */
import { ClaimTerms } from './claim-terms.ts';
import { NUMBER, STOP, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** A label, and the statements about it without their labels. */
type Described = { readonly label: string; readonly statements: readonly string[] };

type NameSpan = { readonly start: number; readonly end: number };

type Name = NameSpan & {
  /** For each statement: the largest share of its words in a sentence with this name. */
  readonly shares: Float64Array;
};

/** Names that are compared; the others are left out. Bounds the work on an answer that lists thousands of names. */
const MAX_NAMES = 64;
/** A label has a name only if one of its statements has at least this share of its words in a sentence with the name. */
const NAMED_FROM = 0.5;
/** Small words that join two names to one: Tower of London. */
const JOINS: ReadonlySet<string> = new Set([' ', '-', '. ', ' of ', ' of the ', ' de ', ' von ', ' van ', ' and ']);

/**
 * Returns the place of each label's name in the answer, in the order of the labels; `null` = no name fits. A name that
 * the question contains is no label's name.
 *
 * @param answer without addresses, which would count as words.
 */
export function namesOfLabels(
  labels: readonly Described[],
  answer: string,
  question: string,
): readonly (NameSpan | null)[] {
  const statements = [...new Set(labels.flatMap((label) => label.statements))];
  const names = [...namesOf(answer, question, statements).values()];
  const numbers = new Map(statements.map((statement, n) => [statement, n]));
  const fits = labels.flatMap(({ statements: own }, label) =>
    names.flatMap((name, rank) => {
      const shares = own.map((statement) => name.shares[numbers.get(statement) ?? -1] ?? 0);
      const share = shares.reduce((sum, one) => sum + one, 0) / shares.length;
      return shares.some((one) => one >= NAMED_FROM) ? [{ label, rank, name, share }] : [];
    }),
  );
  // The best fit first; of equal ones the first label gets the first name.
  fits.sort((a, b) => b.share - a.share || a.label - b.label || a.rank - b.rank);
  const given = new Map<number, NameSpan>();
  const taken = new Set<number>();
  for (const { label, rank, name } of fits) {
    if (given.has(label) || taken.has(rank)) continue;
    given.set(label, { start: name.start, end: name.end });
    taken.add(rank);
  }
  return labels.map((_, label) => given.get(label) ?? null);
}

/** The names and numbers of the answer, by their folded text, each at its first place. */
function namesOf(answer: string, question: string, statements: readonly string[]): ReadonlyMap<string, Name> {
  const asked = question.toLowerCase();
  const words = new StatementWords(statements);
  const terms = new ClaimTerms();
  terms.load(answer);
  const { tokens, nameOfToken } = terms;
  const { starts, ends, kinds, hashes, sentenceTokens, sentenceCount, count } = tokens;
  const names = new Map<string, Name>();
  for (let sentence = 0; sentence < Math.max(1, sentenceCount); sentence++) {
    const first = sentence === 0 ? 0 : (sentenceTokens[sentence] ?? 0);
    const last = sentence + 1 < sentenceCount ? (sentenceTokens[sentence + 1] ?? count) : count;
    words.startSentence();
    const here = new Set<Name>();
    for (let token = first; token < last; token++) {
      words.add(hashes[token] ?? 0);
      const isName = nameOfToken[token] === 1;
      if (!isName && ((kinds[token] ?? 0) & NUMBER) === 0) continue;
      let end = token;
      for (let next = token + 1; isName && next < Math.min(last, end + MAX_JOINED); next++) {
        if (nameOfToken[next] === 1 && JOINS.has(answer.slice(ends[end] ?? 0, starts[next] ?? 0))) end = next;
      }
      for (let inside = token + 1; inside <= end; inside++) words.add(hashes[inside] ?? 0);
      const span = { start: starts[token] ?? 0, end: ends[end] ?? 0 };
      token = end;
      const folded = answer.slice(span.start, span.end).toLowerCase();
      let name = names.get(folded);
      if (name === undefined) {
        if (names.size === MAX_NAMES || asked.includes(folded)) continue;
        name = { ...span, shares: new Float64Array(statements.length) };
        names.set(folded, name);
      }
      here.add(name);
    }
    words.endSentence(here);
  }
  return names;
}

/** A name goes on at most this many tokens further on, small words included. */
const MAX_JOINED = 4;

/** The words of the statements, and how many of them the current sentence has. */
class StatementWords {
  /** The statements of each stem hash. */
  readonly #statements = new Map<number, Set<number>>();
  /** Number of different words of each statement. */
  readonly #sizes: number[];
  readonly #found = new Set<number>();

  constructor(statements: readonly string[]) {
    this.#sizes = statements.map((statement, n) => {
      const tokens = new TokenList((statement.length >> 2) + 16);
      appendTokens(tokens, statement, 0, statement.length);
      const own = new Set<number>();
      for (let token = 0; token < tokens.count; token++) {
        if (((tokens.kinds[token] ?? 0) & STOP) === 0) own.add(tokens.hashes[token] ?? 0);
      }
      for (const hash of own) this.#of(hash).add(n);
      return own.size;
    });
  }

  startSentence(): void {
    this.#found.clear();
  }

  add(hash: number): void {
    if (this.#statements.has(hash)) this.#found.add(hash);
  }

  /** Raises the shares of the names of the sentence. */
  endSentence(names: Iterable<Name>): void {
    const counts = new Map<number, number>();
    for (const hash of this.#found) {
      for (const statement of this.#of(hash)) counts.set(statement, (counts.get(statement) ?? 0) + 1);
    }
    for (const { shares } of names) {
      for (const [statement, found] of counts) {
        shares[statement] = Math.max(shares[statement] ?? 0, found / Math.max(1, this.#sizes[statement] ?? 1));
      }
    }
  }

  #of(hash: number): Set<number> {
    const known = this.#statements.get(hash);
    if (known !== undefined) return known;
    const made = new Set<number>();
    this.#statements.set(hash, made);
    return made;
  }
}
