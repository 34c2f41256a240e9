/**
 * Counts what the words of an answer share with its sources and its question, for the alerts of a run: whether the
 * answer is copied, and whether another sentence of the sources is closer to the question. Takes linear time.
 */
import { isLetterOrDigit } from '../text/characters.ts';
import { indexSources, type SourceTokens } from './source-index.ts';
import { HASH_FACTOR } from './token-hash.ts';
import { STOP, TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** An answer as its family read it. */
export type AnswerText = {
  /** The answer; citations in it are tags, or are left out. */
  readonly answer: string;
  readonly question: string;
  /** What the policy saw. Samples of a group share the list. */
  readonly sources: readonly { readonly text: string }[];
  /**
   * For each claim that cites, the positions of its sources, each once; `null` = an id that no source has.
   */
  readonly claims: readonly (readonly (number | null)[])[];
  /** The text of each of them. */
  readonly claimTexts: readonly string[];
  /** How often a claim cites an id again; `null` = the answer was read in a way that loses ids. */
  readonly repeated: number | null;
};

export type AnswerWords = {
  /** Words of the answer, without citations. */
  readonly words: number;
  /** How many of them are in a span of `COPIED_WORDS` or more that a source contains. */
  readonly copied: number;
  /** Different content words of the question that the answer has. */
  readonly shared: number;
  /** The most that a single sentence of the sources has of them. */
  readonly best: number;
  /** Sources that the policy saw, and how many of them the answer cites. */
  readonly sources: number;
  readonly cited: number;
  /** The answer without its citation tags. */
  readonly plain: string;
  /** The words of the answer in lower case, separated by spaces. Equal answers have equal texts. */
  readonly normalised: string;
};

/** Words of the shortest span that counts as copied. */
const COPIED_WORDS = 8;
const KNOWN_BITS = (1 << 13) - 1;

/** Elements that cite: in `snippet` form, as judges read every grammar, and in that of dr-tulu. */
const CITATION_TAGS: ReadonlySet<string> = new Set(['snippet', 'cite']);
const LONGEST_TAG = 'snippet'.length;

/**
 * Creates a counter that reads shared sources and questions once.
 *
 * @example
 * const countWords = createWordCounter();
 * const sources = [{ text: 'It opened in 1937.' }];
 * const text = { answer: 'In 1937.', question: 'When did it open?', sources, claims: [[0]], claimTexts: ['In 1937.'], repeated: 0 };
 * const counted = countWords(text);
 * [counted.words, counted.copied, counted.shared, counted.best]; // [2, 0, 0, 1]
 */
export function createWordCounter(): (text: AnswerText) => AnswerWords {
  const known = new Map<AnswerText['sources'], SourceWords>();
  const sourcesOf = (sources: AnswerText['sources']): SourceWords => {
    const read = known.get(sources) ?? new SourceWords(sources);
    known.set(sources, read);
    return read;
  };
  return ({ answer, question, sources, claims }) => {
    const text = withoutCitationTags(answer);
    const tokens = tokensOf(text);
    const read = sourcesOf(sources);
    const asked = contentOf(tokensOf(question));
    return {
      words: tokens.count,
      copied: read.copiedWords(tokens),
      shared: [...contentOf(tokens)].filter((hash) => asked.has(hash)).length,
      best: read.mostShared(question, asked),
      sources: sources.length,
      cited: new Set(claims.flat().filter((source) => source !== null)).size,
      plain: text,
      normalised: wordsOf(text, tokens).join(' '),
    };
  };
}

/**
 * Returns a test of whether a text has content words, and every one of them is in the question: it says nothing that the
 * question does not. Reads the question once.
 *
 * @example
 * const isAsked = createAskedWords('When did the Aare bridge open?');
 * [isAsked('The Aare bridge.'), isAsked('It opened in 1937.')]; // [true, false]
 */
export function createAskedWords(question: string): (text: string) => boolean {
  const asked = contentOf(tokensOf(question));
  /** The content words among the first tokens of the text that was read last; -1 = one of them is not asked. */
  const askedAmong = (end: number): number => {
    const { kinds, hashes } = scratch;
    let content = 0;
    for (let n = 0; n < end; n++) {
      if (((kinds[n] ?? 0) & STOP) !== 0) continue;
      if (!asked.has(hashes[n] ?? 0)) return -1;
      content++;
    }
    return content;
  };
  return (text) => {
    // Most claims say something new in their first words.
    if (text.length > 2 * HEAD_UNITS && askedAmong(readIntoScratch(text, HEAD_UNITS) - OPEN_TOKENS) < 0) return false;
    return askedAmong(readIntoScratch(text, text.length)) > 0;
  };
}

/** Code units of a text that are read first. */
const HEAD_UNITS = 48;
/** Last tokens of a head that the words after it may join or change: two hundred | thousand. */
const OPEN_TOKENS = 4;

/** Tokens kept for the next text. */
const MAX_KEPT_TOKENS = 1 << 12;
const EXPECTED_TOKENS = 64;
// Reused by every call, because allocating the arrays costs as much as reading a claim.
let scratch = new TokenList(EXPECTED_TOKENS);

/** Reads the first units of a text into `scratch`, and returns the number of their tokens. */
function readIntoScratch(text: string, units: number): number {
  if (scratch.hashes.length > MAX_KEPT_TOKENS) scratch = new TokenList(EXPECTED_TOKENS);
  scratch.clear();
  appendTokens(scratch, text, 0, units);
  return scratch.count;
}

/** The words of all sources of a rollout. */
class SourceWords {
  readonly #sources: readonly SourceTokens[];
  readonly #most = new Map<string, number>();

  constructor(sources: AnswerText['sources']) {
    const index = indexSources(sources);
    this.#sources = sources.flatMap((_, at) => index.source(at) ?? []);
  }

  /** Words of the answer in spans that a source contains. */
  copiedWords(answer: TokenList): number {
    /** The places of each span of the answer that no source has shown yet. */
    const open = new Map<number, number[]>();
    /** Spans by the last bits of their hashes: most of a source are none of the answer, which this says sooner. */
    const known = new Uint8Array(KNOWN_BITS + 1);
    eachSpan(answer, answer.count, (hash, start) => {
      known[hash & KNOWN_BITS] = 1;
      const places = open.get(hash);
      if (places === undefined) open.set(hash, [start]);
      else places.push(start);
    });
    const copied = new Uint8Array(answer.count);
    for (const { tokens, endToken } of this.#sources) {
      eachSpan(tokens, endToken, (hash) => {
        if (known[hash & KNOWN_BITS] === 0) return;
        for (const start of open.get(hash) ?? []) copied.fill(1, start, start + COPIED_WORDS);
        open.delete(hash);
      });
    }
    return copied.reduce((sum, one) => sum + one, 0);
  }

  /** The most content words of a question that one sentence has. */
  mostShared(question: string, asked: ReadonlySet<number>): number {
    const known = this.#most.get(question);
    if (known !== undefined) return known;
    let most = 0;
    for (const { tokens, endToken, endSentence } of this.#sources) {
      for (let sentence = 0; sentence < endSentence; sentence++) {
        const from = tokens.sentenceTokens[sentence] ?? 0;
        const to = sentence + 1 < endSentence ? (tokens.sentenceTokens[sentence + 1] ?? 0) : endToken;
        const shared = new Set<number>();
        for (let n = from; n < to; n++) {
          const hash = tokens.hashes[n] ?? 0;
          if (asked.has(hash)) shared.add(hash);
        }
        most = Math.max(most, shared.size);
      }
    }
    this.#most.set(question, most);
    return most;
  }
}

function tokensOf(text: string): TokenList {
  const list = new TokenList((text.length >> 2) + 8);
  appendTokens(list, text, 0, text.length);
  return list;
}

/** The words of a text in lower case. */
function wordsOf(text: string, { count, starts, ends }: TokenList): string[] {
  const words: string[] = [];
  for (let n = 0; n < count; n++) words.push(text.slice(starts[n], ends[n]).toLowerCase());
  return words;
}

/** The hashes of the words that are not function words. */
function contentOf(list: TokenList): Set<number> {
  const content = new Set<number>();
  for (let n = 0; n < list.count; n++) if (((list.kinds[n] ?? 0) & STOP) === 0) content.add(list.hashes[n] ?? 0);
  return content;
}

/** `HASH_FACTOR` to the power of the words of a span, for the word that leaves the rolling hash. */
const LEAVING = Array.from({ length: COPIED_WORDS }).reduce<number>((power) => Math.imul(power, HASH_FACTOR), 1);

/** Calls back for each span of `COPIED_WORDS` words among the first `count` with its hash and its first word. */
function eachSpan({ hashes }: TokenList, count: number, found: (hash: number, start: number) => void): void {
  let hash = 0;
  for (let n = 0; n < count; n++) {
    hash = (Math.imul(hash, HASH_FACTOR) + (hashes[n] ?? 0)) | 0;
    if (n >= COPIED_WORDS) hash = (hash - Math.imul(LEAVING, hashes[n - COPIED_WORDS] ?? 0)) | 0;
    if (n >= COPIED_WORDS - 1) found(hash, n - COPIED_WORDS + 1);
  }
}

/** The text without opening and closing tags of citations; other text stays. */
function withoutCitationTags(text: string): string {
  const pieces: string[] = [];
  let from = 0;
  let end = text.indexOf('>');
  for (let at = text.indexOf('<'); at !== -1 && end !== -1; at = text.indexOf('<', at + 1)) {
    while (end !== -1 && end < at) end = text.indexOf('>', end + 1);
    const name = text.startsWith('</', at) ? at + 2 : at + 1;
    let last = name;
    while (last - name <= LONGEST_TAG && isLetterOrDigit(text.charCodeAt(last))) last++;
    if (end === -1 || !CITATION_TAGS.has(text.slice(name, last).toLowerCase())) continue;
    pieces.push(text.slice(from, at), ' ');
    from = end + 1;
    at = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}
