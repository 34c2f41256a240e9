import { type Language, languageOf } from './languages.ts';
import { TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

/** A source to compare claims with. */
export type SourceText = {
  readonly text: string;
  readonly title?: string;
};

/** The tokens of one source: first those of its text, then those of its title. Ends are exclusive. */
export type SourceTokens = {
  readonly text: string;
  readonly title: string | undefined;
  /** Offsets of the tokens of the text are offsets into `text`. */
  readonly tokens: TokenList;
  readonly endToken: number;
  readonly endSentence: number;
  /** The title's tokens are `[endToken, endTitleToken)`. */
  readonly endTitleToken: number;
  readonly endNumber: number;
  /** The language of the text; `null` = none that the judge knows. */
  readonly language: Language | null;
};

/** The sources of one rollout, ready to be compared with claims. A source is tokenised when a claim first cites it. */
export class EvidenceIndex {
  private readonly sources: readonly SourceText[];
  private readonly tokenised: (SourceTokens | undefined)[] = [];

  constructor(sources: readonly SourceText[]) {
    this.sources = sources;
  }

  /** Returns the tokens of the source at index `at`, or `undefined` if there is no such source. */
  source(at: number): SourceTokens | undefined {
    const known = this.tokenised[at];
    if (known !== undefined) return known;
    const source = this.sources[at];
    if (source === undefined) return undefined;
    const tokens = recent.tokensOf(source);
    this.tokenised[at] = tokens;
    return tokens;
  }
}

/**
 * Indexes sources for `gatherEvidence`. A source is identified by its index in the list. Takes constant time for each
 * source: a source is tokenised when a claim first cites it.
 */
export function indexSources(sources: readonly SourceText[]): EvidenceIndex {
  return new EvidenceIndex(sources);
}

/** Code units of the texts that are kept. A unit takes about five bytes with its tokens. */
const MAX_KEPT_UNITS = 1 << 21;
/** A longer text is not kept: it would take the place of all the others. */
const LONGEST_KEPT = MAX_KEPT_UNITS >> 2;
/** A shorter text is tokenised sooner than it is found. */
const SHORTEST_KEPT = 64;
/** What a kept text takes besides its units: the heads of the arrays. */
const UNITS_OF_A_TEXT = 256;

/**
 * The sources that were compared last, with their tokens. The answers of a group cite the same sources, and so do the
 * parts of one judgment, which are asked one after the other; tokenising is half of what a comparison costs.
 */
class RecentSources {
  /** By text; the one that was used last is the last. */
  readonly #kept = new Map<string, SourceTokens>();
  #units = 0;

  tokensOf(source: SourceText): SourceTokens {
    const { text, title } = source;
    if (text.length < SHORTEST_KEPT || text.length > LONGEST_KEPT) return tokenised(text, title);
    const kept = this.#kept.get(text);
    if (kept !== undefined) this.#drop(kept);
    const tokens = kept !== undefined && kept.title === title ? kept : tokenised(copyOf(text), title);
    this.#kept.set(tokens.text, tokens);
    this.#units += unitsOf(tokens);
    for (const oldest of this.#kept.values()) {
      if (this.#units <= MAX_KEPT_UNITS) break;
      this.#drop(oldest);
    }
    return tokens;
  }

  #drop(tokens: SourceTokens): void {
    this.#kept.delete(tokens.text);
    this.#units -= unitsOf(tokens);
  }
}

const recent = new RecentSources();

function unitsOf({ text, title }: SourceTokens): number {
  return text.length + (title?.length ?? 0) + UNITS_OF_A_TEXT;
}

/** A copy of a text, which is often a slice of a request: a kept slice would keep the whole request in memory. */
function copyOf(text: string): string {
  const copy: string = JSON.parse(JSON.stringify(text));
  return copy;
}

function tokenised(text: string, title: string | undefined): SourceTokens {
  // English has about six units per token.
  const tokens = new TokenList(Math.min(Math.floor(text.length / 5), 1 << 16) + 16, false);
  appendTokens(tokens, text, 0, text.length);
  const { count: endToken, sentenceCount: endSentence } = tokens;
  if (title !== undefined) appendTokens(tokens, title, 0, title.length);
  const language = languageOf(tokens, 0, endToken, text);
  const { count: endTitleToken, numberCount: endNumber } = tokens;
  return { text, title, tokens, endToken, endSentence, endTitleToken, endNumber, language };
}
