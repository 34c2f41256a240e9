/** Converts a scored rollout to its ledger record. Pure, so every caller records the same row for the same score. */
import { hedges } from '../citations/empty-statements.ts';
import { sha256 } from '../digest.ts';
import type { Facts } from '../families/composers.ts';
import { familyOf } from '../families/registry.ts';
import { panelAgreement } from '../family/panel-agreement.ts';
import { pinJudgments } from '../judgments/pin.ts';
import type { AnswerText, AnswerWords } from '../lexical/index.ts';
import type { ScoredRollout } from '../scoring/score-rollouts.ts';
import { type AnswerCounts, type AnswerStructure, codesOf, type RolloutCounts } from './rollout-counts.ts';
import type { LedgerRow } from './row.ts';

/** The part of a row that replay reads. */
export type StoredFacts = Pick<LedgerRow, 'v' | 'facts' | 'judgments' | 'reward' | 'reason' | 'rubric_set'>;

/** The part of a row that summaries read. */
export type RowStatistics = {
  /** Number of missing judged values (`incompletenessOf`). */
  readonly lacking: number;
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Number of judgments, and how many of them came from the store. */
  readonly judgments: number;
  readonly cached: number;
};

/**
 * The reply as the ledger keeps it: without the caller's text (cited ids, titles and descriptions of criteria), unless
 * the caller asked to keep the text.
 */
export type RolloutReport = Readonly<Record<string, unknown>>;

type RecordedScore = {
  readonly stored: StoredFacts;
  readonly statistics: RowStatistics;
  readonly counts: RolloutCounts;
  readonly report: RolloutReport;
};

type RecordingOptions = {
  /** Length of the response in UTF-16 code units; default `null` = unknown. */
  readonly chars?: number | null;
  /** Counts the words of the answer for the run of this id. Absent: they are unknown. */
  readonly words?: WordsOfRun;
};

type WordsOfRun = { readonly run: string; readonly count: (text: AnswerText) => AnswerWords };

/** @param keepText whether the caller asked to keep the rollout's text. */
export function recordedScore(
  scored: ScoredRollout,
  keepText: boolean,
  { chars = null, words }: RecordingOptions = {},
): RecordedScore {
  const { reply, facts, obtained } = scored;
  const judgments = pinJudgments(obtained);
  const { reward, reason } = reply;
  return {
    stored: { v: 1, facts, judgments, reward, reason },
    statistics: {
      lacking: incompletenessOf(facts, reward),
      components: Object.fromEntries(Object.entries(reply.components).map(([name, { value }]) => [name, value])),
      judgments: judgments.length,
      cached: obtained.filter(({ outcome }) => outcome.ok && outcome.cached).length,
    },
    counts: {
      ...rolloutCounts(facts, { chars, findings: 'finding_counts' in reply ? { ...reply.finding_counts } : null }),
      ...(words === undefined || scored.answer === undefined
        ? {}
        : { answer: scored.answer === null ? null : answerCounts(scored.answer(), words) }),
    },
    report: keepText ? reply : familyOf(reply).reply.withoutText(reply),
  };
}

/**
 * Measures how incomplete a recording is: the number of missing judged values, plus `NO_REWARD` if the
 * reward is `null`. 0 = nothing is missing. The ledger replaces a recording by one of the same content with a smaller
 * value.
 */
export function incompletenessOf(facts: Facts, reward: number | null): number {
  const observed: readonly Facts[] = [facts, ...(facts.panel ?? []).map((member) => member.facts)];
  const missing = observed
    .flatMap((one) => familyOf(one).facts.judged(one))
    .filter(({ status }) => status === 'unscored').length;
  return reward === null ? NO_REWARD + missing : missing;
}

/**
 * The number that a missing reward adds in `incompletenessOf`. No rollout has this many judged values, so a recording
 * with a reward is always less incomplete than one without.
 */
const NO_REWARD = 100;

/** What the facts do not tell. */
type SeenCounts = Pick<RolloutCounts, 'chars' | 'findings'>;

/** Counts a rollout. @param seen `null` of what is unknown, as for an imported rollout. */
export function rolloutCounts(facts: Facts, { chars, findings }: SeenCounts): RolloutCounts {
  const { claims = null, citations = null, criteria = null } = familyOf(facts).facts.counts?.(facts) ?? {};
  const agreement = agreementOf(facts);
  return {
    ...{ claims, citations, chars, tokens: facts.response_tokens ?? null, findings },
    criteria: criteria === null ? null : codesOf(criteria),
    ...(agreement === null ? {} : { agreement }),
  };
}

/** 48 bits. */
const HASH_DIGITS = 12;

/** The counts of an answer in a run. The run is part of the hash, so that hashes of two runs cannot be compared. */
export function answerCounts(text: AnswerText, { run, count }: WordsOfRun): AnswerCounts {
  const { plain, normalised, ...counts } = count(text);
  return {
    ...counts,
    hash: sha256(`${run}\n${normalised}`).slice(0, HASH_DIGITS),
    ...structureOf(text, plain),
  };
}

function structureOf(
  { claims, claimTexts, question, repeated }: AnswerText,
  plain: string,
): { readonly structure?: AnswerStructure } {
  if (repeated === null) return {};
  const times = new Map<number, number>();
  for (const source of claims.flat()) if (source !== null) times.set(source, (times.get(source) ?? 0) + 1);
  const [most, next] = [...times].sort(([, m], [, n]) => n - m);
  return {
    structure: {
      claims: claims.length,
      ids: claims.reduce((sum, ids) => sum + ids.length, 0),
      repeated,
      place: most === undefined || most[1] === next?.[1] ? null : most[0],
      hedges: hedges(plain, claimTexts, question),
    },
  };
}

/** How far the members of a panel agree on all verdicts; `null` = one judge, or no verdict of two members. */
function agreementOf({ panel = [] }: Facts): number | null {
  const members: readonly { readonly facts: Facts }[] = panel;
  const questions = panelAgreement(members.map(({ facts }) => familyOf(facts).facts.verdicts(facts)));
  const verdicts = questions.reduce((sum, one) => sum + one.verdicts, 0);
  if (verdicts === 0) return null;
  return Math.min(1, questions.reduce((sum, one) => sum + one.verdicts * one.agreement, 0) / verdicts);
}
