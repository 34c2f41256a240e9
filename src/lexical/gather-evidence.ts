/**
 * Compares a claim with its cited sources by words: how much of it they cover, which numbers and names they lack, and
 * how probably they support it.
 */
import type { Span } from '../text/span.ts';
import { ClaimTerms } from './claim-terms.ts';
import { closestSentence, differs, FAR, isCloser } from './closest-sentence.ts';
import { hasContentWord } from './content-words.ts';
import { EvidenceScan } from './evidence-scan.ts';
import type { Language } from './languages.ts';
import { RELEVANT_COVERAGE, relevantSources, type SourceShare, sumOf } from './relevance.ts';
import { EvidenceIndex, type SourceTokens } from './source-index.ts';
import {
  type SupportFeatures,
  supportFeatures,
  supportProbability,
  supportVerdict,
  type TermMarks,
} from './support-model.ts';
import { findVerbatim } from './verbatim.ts';

/** A range in the text of one source. `source` is the index of the source. */
export type SourceSpan = { readonly source: number } & Span;

/** The evidence of the cited texts for a claim, from comparing words. Offsets are UTF-16 code units. */
export type ClaimEvidence = {
  /**
   * Calibrated probability, in [0, 1], that the cited texts together support the whole claim; 0 for a claim without a
   * content word.
   */
  readonly support: number;
  /** Weighted share, in [0, 1], of the claim's content terms in the best window of one cited source. */
  readonly coverage: number;
  /** The best window: up to three consecutive sentences; `null` if no term of the claim occurs in a cited text. */
  readonly window: SourceSpan | null;
  /**
   * Places where the claim equals whole consecutive sentences of a source, one for each source. Empty for a claim with
   * fewer than four content tokens.
   */
  readonly verbatim: readonly SourceSpan[];
  /**
   * Numbers of the claim that no cited source has: offsets into the claim, and the normalised value ("1200" for
   * "1,200").
   */
  readonly missing_numbers: readonly { readonly start: number; readonly end: number; readonly value: string }[];
  /** Names of the claim with a word that no cited source has: offsets into the claim. */
  readonly missing_names: readonly { readonly start: number; readonly end: number }[];
  /** Only one side, the claim or its sources, has a negation or an opposite. */
  readonly negation_mismatch: boolean;
  /** The closest sentence has another number in the place of the claim's, or only one of the two negates. */
  readonly said_otherwise: boolean;
  /** Tokens of the claim that are not function words. */
  readonly content_tokens: number;
  /**
   * The language of the claim (or of its sources, if the claim has no words that tell), which decides the negations,
   * names and numbers that are compared. `null` = none that the judge knows: its word lists are English then.
   */
  readonly language: Language | null;
  /**
   * Each cited source once, in the order cited: the coverage of its best window, and whether it adds to the support of
   * the claim.
   */
  readonly sources: readonly { readonly source: number; readonly coverage: number; readonly relevant: boolean }[];
};

/** Shortest claim, in content tokens, that can be verbatim: shorter ones equal a source's sentence by accident. */
const VERBATIM_MIN_CONTENT_TOKENS = 4;

// The workspace is reused by the next call unless it has grown beyond these sizes.
const MAX_KEPT_TOKENS = 1 << 12;
const MAX_KEPT_HITS = 1 << 16;

function newWorkspace(): { readonly terms: ClaimTerms; readonly scan: EvidenceScan } {
  return { terms: new ClaimTerms(), scan: new EvidenceScan() };
}

// Reused by every call: gathering is synchronous, and allocating these arrays costs more than judging a claim.
let workspace = newWorkspace();

/**
 * Compares a claim with the sources that it cites.
 *
 * Deterministic. Takes time linear in the claim and the cited texts; a source is tokenised on its first use.
 *
 * @param index The sources, from `indexSources`.
 * @param claim The text of the claim, without citation markup.
 * @param cited Indexes of the cited sources. Repeats and indexes without a source are ignored.
 * @example
 * const index = indexSources([{ text: 'The bridge opened on 27 May 1937.' }]);
 * gatherEvidence(index, 'The bridge opened in 1937.', [0]).support; // a probability in [0, 1]
 */
export function gatherEvidence(index: EvidenceIndex, claim: string, cited: readonly number[]): ClaimEvidence {
  return gather(index, claim, cited).evidence;
}

/** Like `gatherEvidence`, with the features of the support model, for fitting and measuring it. */
export function gather(
  index: EvidenceIndex,
  claim: string,
  cited: readonly number[],
): { evidence: ClaimEvidence; features: SupportFeatures } {
  const { terms, scan, positions, sources, hitEnds } = scanned(index, claim, cited);
  const verbatim: SourceSpan[] = [];
  // Nearly every claim has a word that its sources lack. Only the others are compared verbatim.
  const maybeVerbatim = terms.contentTokens >= VERBATIM_MIN_CONTENT_TOKENS && everyTermFound(terms, scan);
  const coverages: number[] = [];
  /** Kept only if there are several sources, for speed. */
  const shares: SourceShare[] = [];
  let closest = FAR;
  let window: SourceSpan | null = null;
  let coverage = 0;
  let from = 0;
  for (let k = 0; k < sources.length; k++) {
    const source = sources[k];
    const at = positions[k];
    const to = hitEnds[k] ?? from;
    if (source === undefined || at === undefined) continue;
    scan.bestWindow(source, from, to, terms.negations);
    const own = coverageOf(scan);
    if (own > coverage || (window === null && scan.windowEndToken > scan.windowFirstToken)) {
      coverage = Math.max(own, coverage);
      if (scan.windowEndToken > scan.windowFirstToken) {
        window = {
          source: at,
          start: source.tokens.starts[scan.windowFirstToken] ?? 0,
          end: source.tokens.ends[scan.windowEndToken - 1] ?? 0,
        };
      }
    }
    const copied = maybeVerbatim ? findVerbatim(claim, terms.tokens, source) : null;
    if (copied !== null) verbatim.push({ source: at, start: copied.start, end: copied.end });
    coverages.push(own);
    const sentence = closestSentence(terms, scan, source, from, to);
    if (isCloser(sentence, closest)) closest = sentence;
    if (sources.length > 1) {
      const marks = { ...scan.takeMarks(terms, source, from, to), closest: sentence };
      const known = knownTerms(terms, marks, source);
      shares.push({ ...marks, known, copied: copied === null ? 0 : 1, coverage: own });
    }
    from = to;
  }
  const numbers = missingNumbers(claim, terms, scan, sources);
  const names = missingNames(terms, scan);
  const all = shares.length === 0 ? null : sumOf(terms, shares);
  const marks: TermMarks = all ?? {
    found: scan.found,
    opposed: scan.opposed,
    negations: scan.negations,
    anywhere: scan.sentencesOfTerm,
    closest,
  };
  const features = supportFeatures(terms, scan, marks, numbers.length > 0, names.length > 0);
  const statesNothing = sources.length === 0 || terms.ownContent === 0 || !hasContentWord(claim);
  const support = statesNothing ? 0 : supportProbability(features, verbatim.length > 0);
  const relevant =
    supportVerdict(support) === 'none'
      ? []
      : all === null
        ? [coverage >= RELEVANT_COVERAGE]
        : relevantSources(terms, scan, shares, all, support);
  return {
    evidence: {
      support,
      coverage,
      window,
      verbatim,
      missing_numbers: numbers,
      missing_names: names,
      negation_mismatch: features.contradiction > 0,
      said_otherwise: differs(marks.closest),
      content_tokens: terms.contentTokens,
      language: terms.language,
      sources: positions.map((source, k) => ({
        source,
        coverage: coverages[k] ?? 0,
        relevant: relevant[k] ?? false,
      })),
    },
    features,
  };
}

/**
 * The share, in [0, 1], of a text's content terms that each source has: `sources[].coverage` of `gatherEvidence` for all
 * sources, in a fraction of its time. Takes time linear in the text and the sources.
 *
 * @param all the indexes of the sources, each once.
 */
export function coverageOfEach(index: EvidenceIndex, text: string, all: readonly number[]): readonly number[] {
  const { terms, scan, sources, hitEnds } = scanned(index, text, all);
  let from = 0;
  return sources.map((source, k) => {
    const to = hitEnds[k] ?? from;
    scan.bestWindow(source, from, to, terms.negations);
    from = to;
    return coverageOf(scan);
  });
}

function coverageOf({ bestWeight, totalWeight }: EvidenceScan): number {
  return totalWeight === 0 ? 0 : Math.min(1, bestWeight / totalWeight);
}

/** Finds the terms of a claim in the sources that it cites, each once, and weighs them. */
function scanned(index: EvidenceIndex, claim: string, cited: readonly number[]) {
  if (workspace.terms.tokens.hashes.length > MAX_KEPT_TOKENS || workspace.scan.capacity > MAX_KEPT_HITS)
    workspace = newWorkspace();
  const { terms, scan } = workspace;
  const positions: number[] = [];
  const sources: SourceTokens[] = [];
  const hitEnds: number[] = [];
  for (const at of new Set(cited)) {
    const source = index.source(at);
    if (source === undefined) continue;
    positions.push(at);
    sources.push(source);
  }
  terms.load(claim, sources.find(({ language }) => language !== null)?.language ?? null, true);
  scan.begin(terms);
  for (const source of sources) {
    scan.addSource(terms, source);
    hitEnds.push(scan.hitCount);
  }
  scan.weigh(terms);
  return { terms, scan, positions, sources, hitEnds };
}

function everyTermFound(terms: ClaimTerms, scan: EvidenceScan): boolean {
  for (let t = 0; t < terms.termCount; t++) if ((scan.sentencesOfTerm[t] ?? 0) === 0) return false;
  return true;
}

function isAnywhere(scan: EvidenceScan, term: number): boolean {
  return (scan.sentencesOfTerm[term] ?? 0) > 0 || scan.inTitle[term] === 1;
}

/** Marks the terms that a source has anywhere, in its title, or as a number before rounding. */
function knownTerms(terms: ClaimTerms, { found, anywhere }: TermMarks, source: SourceTokens): Uint8Array {
  const { tokens: own, termOfToken, termCount } = terms;
  const known = new Uint8Array(termCount);
  for (let t = 0; t < termCount; t++) known[t] = (found[t] ?? 0) | (anywhere[t] ?? 0);
  for (let n = 0; n < own.numberCount; n++) {
    const term = termOfToken[own.numberTokens[n] ?? 0] ?? 0;
    if (known[term] === 0 && isRounded(terms, n, [source])) known[term] = 1;
  }
  return known;
}

function missingNumbers(
  claim: string,
  terms: ClaimTerms,
  scan: EvidenceScan,
  sources: readonly SourceTokens[],
): { start: number; end: number; value: string }[] {
  const missing: { start: number; end: number; value: string }[] = [];
  const own = terms.tokens;
  for (let n = 0; n < own.numberCount; n++) {
    const token = own.numberTokens[n] ?? 0;
    const term = terms.termOfToken[token] ?? -1;
    if (term < 0 || isAnywhere(scan, term) || terms.nameOfToken[token] === 1) continue;
    if (isRounded(terms, n, sources)) continue;
    const value = own.numberValues[n] ?? Number.NaN;
    const start = own.starts[token] ?? 0;
    const end = own.ends[token] ?? 0;
    missing.push({ start, end, value: Number.isNaN(value) ? claim.slice(start, end) : String(value) });
  }
  return missing;
}

/** Returns whether a number of the sources rounds to a number of the claim. */
function isRounded(terms: ClaimTerms, number: number, sources: readonly SourceTokens[]): boolean {
  const roundsTo = terms.numbers.roundingTo(terms.tokens.numberTokens[number] ?? 0);
  if (roundsTo === null) return false;
  for (const source of sources) {
    for (let n = 0; n < source.endNumber; n++) if (roundsTo(n, source)) return true;
  }
  return false;
}

/** Finds missing names. Adjacent words of a name are one name, which is missing if one of its words is. */
function missingNames(terms: ClaimTerms, scan: EvidenceScan): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const own = terms.tokens;
  let last = -2;
  for (let i = 0; i < own.count; i++) {
    if (terms.nameOfToken[i] !== 1) continue;
    if (isAnywhere(scan, terms.termOfToken[i] ?? 0)) continue;
    const start = own.starts[i] ?? 0;
    const end = own.ends[i] ?? 0;
    const open = spans[spans.length - 1];
    if (open !== undefined && last === i - 1 && start === open.end + 1) open.end = end;
    else spans.push({ start, end });
    last = i;
  }
  return spans;
}

/**
 * Returns the probability, in [0, 1], that a text supports a claim. Tokenises the text on every call: to compare
 * several claims with the same sources, use `indexSources` and `gatherEvidence`.
 */
export function lexicalSupport(claim: string, evidence: string): number {
  return gatherEvidence(new EvidenceIndex([{ text: evidence }]), claim, [0]).support;
}
