/**
 * The judge on a classifier: asks for each claim how probably each of its sources supports it. A long source is read in
 * overlapping windows, and counts with the most probable one. Whether an uncited statement needs a citation is decided
 * by comparing words, as the lexical judge does. Other questions are refused. No text can end early: control tokens of
 * tokenizers in it (`[SEP]`, `</s>`) are replaced.
 */

import { LEXICAL_JUDGE_MODEL } from '../../lexical/index.ts';
import type { Failed } from '../../result.ts';
import { neutraliseControlTokens } from '../../text/untrusted.ts';
import type { CallOptions } from '../connections.ts';
import type { Judge } from '../judge.ts';
import { classifiableKind, type JudgmentRequest } from '../kinds/registry.ts';
import { unusualOptions } from '../protocol/asking.ts';
import type { Fitted } from '../protocol/budget.ts';
import type { JudgeFailure, TokenUsage } from '../protocol/failure.ts';
import { type ClaimSupport, CONTRADICTED_FROM } from '../protocol/judgment-kind.ts';
import { hasMoreTokens } from '../protocol/token-estimate.ts';
import { windowsOf } from './windows.ts';

/** A part of a source, and a claim that it may support. */
export type ClassifiedPair = { readonly source: string; readonly claim: string };

export type ClassifierOutcome =
  | {
      readonly ok: true;
      /** The probability that the source supports the claim, 0 to 1, for each pair in order. */
      readonly supported: readonly number[];
      /** The same that the source contradicts the claim; 0 if no label of the model means that. */
      readonly contradicted: readonly number[];
      readonly usage: TokenUsage | null;
    }
  | Failed<JudgeFailure>;

/** A classifier behind a server. */
export interface Classifier {
  readonly name: string;
  /** The model that the server has; part of the identity of its judgments. */
  readonly model: string;
  /** How pairs are put to the model and its labels are read; part of the identity. */
  readonly asking: string;
  /** Whether a label of the model means contradicted. */
  readonly names_contradiction: boolean;
  /** Classifies pairs, all or none. Expected failures are outcomes; a rejection is a bug. */
  classify(pairs: readonly ClassifiedPair[], options: CallOptions): Promise<ClassifierOutcome>;
}

/** `threshold`: the least probability that is support. `window_tokens`: tokens of a claim and a window together. */
export type ClassifierSettings = { readonly window_tokens: number; readonly threshold: number };

/** Changes when the same probabilities give other verdicts, or the same sources and claims other texts. */
const VERSION = 'citeward-classifier-2';

/** Tokens around and between the two texts. */
const SPECIAL_TOKENS = 8;

/** Most pairs of one judgment. Claims beyond them are not judged, so they count as not supported. */
export const MAX_PAIRS = 4_096;

/** Creates a judge on a classifier. @param window_tokens at least 128. */
export function createClassifierJudge(classifier: Classifier, { window_tokens, threshold }: ClassifierSettings): Judge {
  const { name, model, asking, names_contradiction } = classifier;
  const how = `window_tokens=${window_tokens} threshold=${threshold} uncited=${LEXICAL_JUDGE_MODEL}`;
  const identity = { model, template: `${VERSION} ${asking} ${how}`, sampling: null };
  const ofContradiction = { ...identity, template: `${identity.template} contradicted=${CONTRADICTED_FROM}` };
  return {
    name,
    model,
    identityFor: (_kind, given) => (given?.contradiction === undefined ? identity : ofContradiction),
    // It reads no prompt and does not sample.
    unsupported({ contradiction, ...others }) {
      const isUnanswerable = contradiction !== undefined && !names_contradiction;
      return [...unusualOptions(others), ...(isUnanswerable ? [NO_CONTRADICTION] : [])];
    },
    context_tokens: null,
    fit: (request) => fitToWindows(request, window_tokens),
    async judge(request, options) {
      const kind = classifiableKind(request.kind);
      if (kind === null) return { ok: false, failure: refusal(request) };
      const claims = windowsOfClaims(kind, request, window_tokens);
      const pairs = claims.flatMap(({ text, sources }) =>
        sources.flatMap((windows) => windows.map((source) => ({ source, claim: text }))),
      );
      const outcome = pairs.length === 0 ? NO_PAIRS : await classifier.classify(pairs, options);
      if (!outcome.ok) return outcome;
      const [left, denials] = [outcome.supported.values(), outcome.contradicted.values()];
      const supports = claims.map(({ sources }) => ({
        ...supportOf(sources, left),
        contradicted: supportOf(sources, denials).score,
      }));
      return { ok: true, verdicts: kind.byProbability.verdicts(request, supports, threshold), usage: outcome.usage };
    },
  };
}

const NO_PAIRS: ClassifierOutcome = { ok: true, supported: [], contradicted: [], usage: null };

const NO_CONTRADICTION = 'contradiction (no label of its model means contradicted)';

/** A claim with the windows of each of its sources; `too_long` = the claim leaves no room for a window. */
type WindowedClaim = {
  readonly text: string;
  readonly sources: readonly (readonly string[])[];
  readonly too_long: boolean;
};

type Classifiable = NonNullable<ReturnType<typeof classifiableKind>>;

function refusal({ kind }: JudgmentRequest): JudgeFailure {
  const detail = `a classifier only judges whether sources support claims, not ${kind} requests; use a model judge`;
  return { reason: 'judge_request_refused', detail, retryable: false };
}

/**
 * The claims of a request with the windows of their sources. A claim takes a quarter of the tokens, or half of them: two
 * cuts of each source, however many claims cite it.
 */
function windowsOfClaims(kind: Classifiable, request: JudgmentRequest, window_tokens: number): WindowedClaim[] {
  const texts = 'sources' in request ? request.sources.map(({ text }) => neutraliseControlTokens(text)) : [];
  const room = window_tokens - SPECIAL_TOKENS;
  const cuts = new Map<string, readonly string[]>();
  const cut = (source: number, tokens: number): readonly string[] => {
    const place = `${source} ${tokens}`;
    const windows = cuts.get(place) ?? windowsOf(texts[source] ?? '', tokens);
    cuts.set(place, windows);
    return windows;
  };
  return kind.byProbability.claims(request).map(({ text: untrusted, sources }) => {
    const text = neutraliseControlTokens(untrusted);
    const share = [4, 2].map((part) => Math.floor(room / part)).find((tokens) => !hasMoreTokens(text, tokens));
    if (share === undefined) return { text, sources: [], too_long: true };
    return { text, sources: sources.map((source) => cut(source, room - share)), too_long: false };
  });
}

/** Reads the probabilities of a claim's pairs, of support or of contradiction. */
function supportOf(sources: readonly (readonly string[])[], left: Iterator<number>): ClaimSupport {
  const by_source = sources.map((windows) => windows.reduce((most) => Math.max(most, nextOf(left)), 0));
  return { score: by_source.reduce((most, one) => Math.max(most, one), 0), by_source };
}

function nextOf(left: Iterator<number>): number {
  const { value, done } = left.next();
  if (done === true) throw new Error('createClassifierJudge: fewer probabilities than pairs');
  return value;
}

/** Leaves out the claims that are too long for a window, or whose pairs are more than a judgment has. */
function fitToWindows(request: JudgmentRequest, window_tokens: number): Fitted<JudgmentRequest> {
  const kind = classifiableKind(request.kind);
  if (kind === null) return { ok: true, request, cuts: [] };
  let pairs = 0;
  const left_out = windowsOfClaims(kind, request, window_tokens).map(({ sources, too_long }) => {
    pairs += sources.reduce((sum, windows) => sum + windows.length, 0);
    return too_long || pairs > MAX_PAIRS;
  });
  if (!left_out.includes(true)) return { ok: true, request, cuts: [] };
  // Entries behind the claims need no window.
  const entries = kind.byProbability.entries(request);
  const judged = Array.from({ length: entries }, (_, position) => position).filter((n) => left_out[n] !== true);
  if (judged.length === 0) return { ok: false, failure: TOO_LONG, entries_cut: { judged, entries } };
  return { ok: true, request: kind.entries.only(request, judged), cuts: [], entries_cut: { judged, entries } };
}

const TOO_LONG: JudgeFailure = {
  reason: 'judge_prompt_too_long',
  detail: 'each claim alone is too long for the window of the classifier',
  retryable: false,
};
