import { TokenList } from './token-list.ts';
import { appendTokens } from './tokeniser.ts';

export type SourceText = {
  readonly text: string;
  readonly title?: string;
  /**
   * The same text inside the string that it was cut from: `text` = `within.text.slice(within.start, …)`. V8 reads a whole
   * string half again as fast as a slice of it.
   */
  readonly within?: { readonly text: string; readonly start: number };
};

/** The tokens of one source, as ranges of the index's shared token list; end excluded. */
export type SourceTokens = {
  readonly text: string;
  /** What the offsets of its tokens count from; subtract it to get offsets into `text`. */
  readonly offset: number;
  readonly firstToken: number;
  readonly endToken: number;
  readonly firstSentence: number;
  readonly endSentence: number;
  readonly firstNumber: number;
  readonly endNumber: number;
  /** The title's tokens, after those of the text. */
  readonly endTitleToken: number;
};

/**
 * The sources of one rollout. A source is tokenised when a claim first cites it, and once only; all share one token list, so that a rollout makes a
 * handful of typed arrays and not a handful a source.
 */
export class EvidenceIndex {
  readonly tokens: TokenList;
  private readonly sources: readonly SourceText[];
  private readonly tokenised: (SourceTokens | undefined)[];

  constructor(sources: readonly SourceText[]) {
    this.sources = sources;
    this.tokenised = [];
    let units = 0;
    for (const source of sources) units += source.text.length;
    // English runs at about six units a token; what is never cited is never tokenised.
    this.tokens = new TokenList(Math.min(Math.floor(units / 5), 1 << 16) + 64, false);
  }

  get size(): number {
    return this.sources.length;
  }

  /** undefined for a position outside the sources. */
  source(at: number): SourceTokens | undefined {
    return this.tokenised[at] ?? this.tokenise(at);
  }

  private tokenise(at: number): SourceTokens | undefined {
    const source = this.sources[at];
    if (source === undefined) return undefined;
    const { tokens } = this;
    const firstToken = tokens.count;
    const firstSentence = tokens.sentenceCount;
    const firstNumber = tokens.numberCount;
    const { text, start } = source.within ?? { text: source.text, start: 0 };
    appendTokens(tokens, text, start, start + source.text.length);
    const endToken = tokens.count;
    const endSentence = tokens.sentenceCount;
    if (source.title !== undefined) appendTokens(tokens, source.title, 0, source.title.length);
    const entry: SourceTokens = {
      text: source.text,
      offset: start,
      firstToken,
      endToken,
      firstSentence,
      endSentence,
      firstNumber,
      endNumber: tokens.numberCount,
      endTitleToken: tokens.count,
    };
    this.tokenised[at] = entry;
    return entry;
  }
}

/** Takes the sources as they are; nothing is read before a claim cites it. */
export function indexSources(sources: readonly SourceText[]): EvidenceIndex {
  return new EvidenceIndex(sources);
}
