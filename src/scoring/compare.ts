/**
 * Compares the answers of a group in pairs: a judge sees each pair in both orders, and an answer's reward is its win
 * rate. Independent of the platform.
 *
 *     pairs (seed, size) -> two judgments for each (store, desk, judge) -> result of each pair -> win rates
 */
import { parseResponse } from '../citations/parse.ts';
import type { SourceSet } from '../citations/types.ts';
import { judgedSources } from '../family/judged-sources.ts';
import type { ComparisonRequest, Preference } from '../judgments/kinds/comparison/comparison.ts';
import type { JudgmentKind } from '../judgments/kinds/names.ts';
import {
  type ObtainedJudgment,
  type ObtainOptions,
  type ObtainTimings,
  obtainJudgments,
  type WantedJudgment,
} from '../judgments/obtain.ts';
import type { JudgeFailure } from '../judgments/protocol/failure.ts';
import { type Pair, pairResult, type Standing, standings, unswapped } from './tournament.ts';

/** The answers to one question, and who meets whom. */
export type Comparing = {
  readonly question: string;
  readonly criteria: ComparisonRequest['criteria'];
  /** The sources of all answers. */
  readonly sources: SourceSet;
  /** What a judge reads of each response. */
  readonly answers: readonly string[];
  readonly pairs: readonly Pair[];
};

/** One order in which a pair was shown. */
type ComparedOrder = {
  /** The better answer by its place in the pair, not by the order of showing; `null` = the judgment is missing. */
  readonly better: Preference | null;
  readonly obtained: ObtainedJudgment;
};

export type ComparedPair = {
  readonly pair: Pair;
  /** By place in the pair; `null` = a judgment is missing and would decide. */
  readonly result: Preference | null;
  /** The pair as listed, then swapped. */
  readonly orders: readonly [ComparedOrder, ComparedOrder];
};

type ComparedAnswer = Standing & {
  /** Why a comparison of the answer has no result; `null` = all have one. */
  readonly failure: JudgeFailure | null;
};

export type Compared = {
  readonly pairs: readonly ComparedPair[];
  /** In the order of the answers. */
  readonly answers: readonly ComparedAnswer[];
  /** Judgments that the store lacks and that would decide a pair; only in mode `only`. */
  readonly missing: readonly { readonly kind: JudgmentKind; readonly key: string }[];
  readonly timings: ObtainTimings;
};

/** Compares the answers. Expected failures are results; a rejection is a bug. */
export async function compareAnswers(comparing: Comparing, options: ObtainOptions): Promise<Compared> {
  const { judgments, timings } = await obtainJudgments(wantedOf(comparing), options);
  const pairs = comparing.pairs.map((pair, n): ComparedPair => {
    const orders = [orderOf(judgments[2 * n], false), orderOf(judgments[2 * n + 1], true)] as const;
    return { pair, result: pairResult(orders[0].better, orders[1].better), orders };
  });
  const open = pairs.filter(({ result }) => result === null);
  const table = standings(
    comparing.answers.length,
    comparing.pairs,
    pairs.map(({ result }) => result),
  );
  const answers = table.map((standing, answer) => {
    const behind = open.filter(({ pair }) => pair.includes(answer)).flatMap(failuresOf);
    return { ...standing, failure: behind[0] ?? null };
  });
  const missing = open
    .flatMap(({ orders }) => orders)
    .flatMap(({ obtained: { kind, key, outcome } }) =>
      !outcome.ok && outcome.failure.reason === 'judgment_missing' && key !== null ? [{ kind, key }] : [],
    );
  return { pairs, answers, missing, timings };
}

/** Two requests for each pair, in both orders. All are cut alike: sources that no answer cites are cut first. */
function wantedOf({ question, criteria, sources, answers, pairs }: Comparing): WantedJudgment[] {
  const shared = { kind: 'comparison', question, criteria, sources: judgedSources(sources) } as const;
  const cited = new Set(
    answers.flatMap((answer) =>
      parseResponse(answer, sources, { answer: 'whole' }).claims.flatMap(({ ids }) =>
        ids.flatMap(({ source }) => source ?? []),
      ),
    ),
  );
  return pairs.flatMap(([a, b]) => {
    const [first, second] = [answers[a], answers[b]];
    if (first === undefined || second === undefined) throw new RangeError(`compareAnswers: no pair ${a}, ${b}`);
    return [
      { request: { ...shared, first, second }, cited },
      { request: { ...shared, first: second, second: first }, cited },
    ];
  });
}

function orderOf(obtained: ObtainedJudgment | undefined, isSwapped: boolean): ComparedOrder {
  if (obtained === undefined) throw new Error('compareAnswers: a judgment was lost');
  const { outcome } = obtained;
  if (!outcome.ok) return { better: null, obtained };
  const { verdicts } = outcome.judgment;
  if (verdicts.kind !== 'comparison') throw new Error('compareAnswers: a judgment of another kind');
  return { better: isSwapped ? unswapped(verdicts.better) : verdicts.better, obtained };
}

function failuresOf({ orders }: ComparedPair): JudgeFailure[] {
  return orders.flatMap(({ obtained: { outcome } }) => (outcome.ok ? [] : [outcome.failure]));
}
