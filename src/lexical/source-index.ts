import { createRecentlyUsed } from '../recently-used.ts';
import { type Language, languageOf } from './languages.ts';
import { addUnit } from './token-hash.ts';
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
    const tokens = tokensOf(source);
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

/**
 * The sources that were compared last, with their tokens; the size is in code units, of which one takes about five bytes
 * with its tokens. The answers of a group cite the same sources, and so do the parts of one judgment, which are asked one
 * after the other; tokenising is half of what a comparison costs. The key is a sample of the text, because V8 needs ten
 * times as long to hash a text as to compare it: of two texts with one sample the last is kept.
 */
const recent = createRecentlyUsed<SourceTokens, number>({ entries: 4_096, size: 1 << 21 });
/** A longer text is not kept: it would take the place of all the others. */
const LONGEST_KEPT = 1 << 19;
/** A shorter text is tokenised sooner than it is found. */
const SHORTEST_KEPT = 64;
/** What a kept text takes besides its units: the heads of the arrays. */
const UNITS_OF_A_TEXT = 256;

function tokensOf({ text, title }: SourceText): SourceTokens {
  if (text.length < SHORTEST_KEPT || text.length > LONGEST_KEPT) return tokenised(text, title);
  const key = sampleOf(text);
  const known = recent.get(key);
  if (known !== undefined && known.text === text && known.title === title) return known;
  const tokens = tokenised(copyOf(text), title === undefined ? undefined : copyOf(title));
  recent.add(key, tokens, text.length + (title?.length ?? 0) + UNITS_OF_A_TEXT);
  return tokens;
}

/** Code units of a sample: all at both ends of a text, where pages of one form differ, and as many between them. */
const SAMPLED_UNITS = 32;

/** A hash of the length of a text and of some of its units. */
function sampleOf(text: string): number {
  const { length } = text;
  const step = Math.floor(length / SAMPLED_UNITS) + 1;
  let sample = length;
  for (let i = 0; i < length; i += i < SAMPLED_UNITS || i >= length - SAMPLED_UNITS ? 1 : step)
    sample = addUnit(sample, text.charCodeAt(i));
  return sample;
}

/**
 * Copies a text. A text is often a slice of a request, and a slice keeps the whole request in memory. V8 copies a joined
 * text before it cuts it, ten times as fast as a round trip through JSON.
 */
function copyOf(text: string): string {
  return ` ${text}`.slice(1);
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
