/**
 * Checks a text without citation markup against sources: a judge decides for each sentence how far the sources together
 * support it, and which of them help. The drop-ins for grounding APIs are built on it.
 */
import { comparedChars } from '../citations/answer-limits.ts';
import type { InputProblem } from '../input-problem.ts';
import type { CitationsRequest, CitationVerdicts, Support } from '../judgments/kinds/citations/citations.ts';
import { type ObtainedJudgment, type ObtainOptions, type ObtainTimings, obtainJudgments } from '../judgments/obtain.ts';
import type { JudgeFailure } from '../judgments/protocol/failure.ts';
import { needsCitation } from '../lexical/index.ts';
import { MAX_CLAIMS, MAX_COMPARED_CHARS } from '../limits.ts';
import { splitSentences } from '../text/sentences.ts';
import type { Span } from '../text/span.ts';

export type GroundingRequest = {
  /** The text to check. */
  readonly text: string;
  /** The question that the text answers; empty = there is none. */
  readonly question: string;
  readonly sources: readonly string[];
  /** Whether the judge also says how far the text answers the question. */
  readonly asksRelevance: boolean;
};

/** One sentence with its verdict. */
export type GroundedSentence = {
  /** UTF-16 offsets into the text. */
  readonly span: Span;
  readonly text: string;
  /** Whether the sentence states something that sources can support. If no sentence does, all count as if they did. */
  readonly isChecked: boolean;
  readonly support: Support;
  /** Indexes of the sources that help to support the sentence. */
  readonly sources: readonly number[];
  /** The judge's reason; `null` = it was not asked for, or the judge gives none. */
  readonly reason: string | null;
};

export type Grounding = {
  readonly sentences: readonly GroundedSentence[];
  /** 0, 0.5 or 1; `null` = it was not asked for. */
  readonly relevance: number | null;
};

/** `value` is `null` if a judgment failed: a part of the sentences is no result. */
export type GroundingAttempt = {
  readonly value: Grounding | null;
  readonly judgments: readonly ObtainedJudgment[];
  readonly failure: JudgeFailure | null;
  readonly timings: ObtainTimings;
};

const RELEVANT = 'Answers the question, or gives what the question asks for.';

/** What exceeds the limits of a check; `null` = nothing. */
export function groundingProblem({ text, sources }: GroundingRequest): Pick<InputProblem, 'message'> | null {
  const sentences = splitSentences(text);
  const { length } = sentences;
  if (length === 0) return { message: 'expected a text with at least one sentence' };
  if (length > MAX_CLAIMS) return { message: `expected at most ${MAX_CLAIMS} sentences, got ${length}` };
  let compared = 0;
  for (const { start, end } of sentences) {
    const sentence = text.slice(start, end);
    for (const source of sources) compared += comparedChars(sentence, source);
  }
  if (compared <= MAX_COMPARED_CHARS) return null;
  const size = `comparing each sentence with each source takes ${compared} characters`;
  return { message: `${size}; expected at most ${MAX_COMPARED_CHARS}: send fewer sentences or shorter sources` };
}

/** Checks a text that is within the limits. Expected failures are results; a rejection is a bug. */
export async function checkGrounding(request: GroundingRequest, options: ObtainOptions): Promise<GroundingAttempt> {
  const { text, question, asksRelevance } = request;
  const spans = splitSentences(text);
  const sources = request.sources.map((source, n) => ({ id: String(n + 1), text: source }));
  const all = sources.map((_, n) => n);
  const texts = spans.map(({ start, end }) => text.slice(start, end));
  const claims = texts.map((sentence, claim) => ({ claim, text: sentence, sources: all }));
  // A comparison of words misses short facts, so the judge decides about what it leaves out.
  const statements = texts.flatMap((sentence, statement) =>
    needsCitation(sentence) ? [] : [{ statement, text: sentence }],
  );
  const cited = new Set(all);
  const supporting: CitationsRequest = { kind: 'citations', question, sources, claims, statements };
  const relevance = { kind: 'rubric', question, sources, criteria: [{ description: RELEVANT }], answer: text } as const;
  const wanted = [
    { request: supporting, cited, answer: text },
    ...(asksRelevance ? [{ request: relevance, cited }] : []),
  ];
  const { judgments, timings } = await obtainJudgments(wanted, options);
  const failure = judgments.map(failureOf).find((one) => one !== null) ?? null;
  if (failure !== null) return { value: null, judgments, failure, timings };
  const [supported, relevant] = judgments;
  const value = {
    sentences: sentencesOf(spans, texts, supported),
    relevance: relevant === undefined ? null : relevanceOf(relevant),
  };
  return { value, judgments, failure: null, timings };
}

/** A judgment of a part is a failure: what the judge did not see might support, or contain, anything. */
function failureOf({ outcome, cuts, answer_cut, entries_cut }: ObtainedJudgment): JudgeFailure | null {
  if (!outcome.ok) return outcome.failure;
  if (cuts.length === 0 && answer_cut === null && entries_cut === null) return null;
  const detail = 'the text and its sources do not fit into the context of the judge: send shorter ones';
  return { reason: 'judge_prompt_too_long', detail, retryable: false };
}

function sentencesOf(
  spans: readonly Span[],
  texts: readonly string[],
  judged: ObtainedJudgment | undefined,
): GroundedSentence[] {
  const verdicts = citationVerdicts(judged);
  const unneeded = new Set(
    verdicts.statements.flatMap(({ statement, needs_citation }) => (needs_citation ? [] : [statement])),
  );
  const isAllUnneeded = unneeded.size === spans.length;
  const reasons = reasonsOf(judged);
  return spans.map((span, n) => {
    const verdict = verdicts.claims[n];
    if (verdict === undefined) throw new Error('checkGrounding: a verdict was lost');
    return {
      ...{ span, text: texts[n] ?? '', isChecked: isAllUnneeded || !unneeded.has(n), support: verdict.support },
      sources: verdict.relevant.flatMap((helps, source) => (helps ? [source] : [])),
      reason: reasons.get(n) ?? null,
    };
  });
}

function citationVerdicts(judged: ObtainedJudgment | undefined): CitationVerdicts {
  if (judged?.outcome.ok !== true) throw new Error('checkGrounding: a judgment was lost');
  const { verdicts } = judged.outcome.judgment;
  if (verdicts.kind !== 'citations') throw new Error('checkGrounding: a judgment of another kind');
  return verdicts;
}

function reasonsOf(judged: ObtainedJudgment | undefined): ReadonlyMap<number, string> {
  const { reasons } = judged ?? {};
  if (reasons?.status !== 'kept') return new Map();
  return new Map(reasons.entries.flatMap((one) => (one.of === 'claims' ? [[one.index, one.reason] as const] : [])));
}

function relevanceOf({ outcome }: ObtainedJudgment): number {
  const verdicts = outcome.ok ? outcome.judgment.verdicts : null;
  const score = verdicts?.kind === 'rubric' ? verdicts.criteria[0]?.score : undefined;
  if (score === undefined) throw new Error('checkGrounding: a judgment of another kind');
  return score / 2;
}
