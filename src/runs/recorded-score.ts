/** Converts a scored rollout to its ledger record. Pure, so every caller records the same row for the same score. */
import { pinJudgments } from '../judgments/pin.ts';
import type { ScoreReply } from '../scoring/score-reply.ts';
import type { ScoredRollout } from '../scoring/score-rollouts.ts';
import { lackingOf } from './lacking.ts';
import type { LedgerRow } from './row.ts';

/** The part of a row that replay reads. */
export type StoredFacts = Pick<LedgerRow, 'v' | 'facts' | 'judgments' | 'reward' | 'reason'>;

/** The part of a row that summaries read. */
export type RowStatistics = {
  readonly lacking: number;
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Number of judgments, and how many of them came from the store. */
  readonly judgments: number;
  readonly cached: number;
};

export type RecordedScore = {
  readonly stored: StoredFacts;
  readonly statistics: RowStatistics;
  readonly report: RolloutReport;
};

/** @param keepText whether the caller asked to keep the rollout's text. */
export async function recordedScore(scored: ScoredRollout, keepText: boolean): Promise<RecordedScore> {
  const { reply, facts, obtained } = scored;
  const judgments = await pinJudgments(obtained);
  const { reward, reason } = reply;
  return {
    stored: { v: 1, facts, judgments, reward, reason },
    statistics: {
      lacking: lackingOf(facts, reward),
      components: Object.fromEntries(Object.entries(reply.components).map(([name, { value }]) => [name, value])),
      judgments: judgments.length,
      cached: obtained.filter(({ outcome }) => outcome.ok && outcome.cached).length,
    },
    report: reportOf(reply, keepText),
  };
}

export type RolloutReport = Readonly<Record<string, unknown>>;

/**
 * Builds the report that a run keeps of a reply. Without `keepText` it leaves out the caller's text: cited ids, and
 * titles and descriptions of criteria. Spans, findings, components and judgments stay.
 */
export function reportOf(reply: ScoreReply, keepText: boolean): RolloutReport {
  if (keepText) return reply;
  switch (reply.family) {
    case 'refiner':
      return {
        ...reply,
        criteria: reply.criteria.map(({ title: _title, description: _description, ...criterion }) => criterion),
        claims: reply.claims.map(({ ids, ...claim }) => ({
          ...claim,
          ids: ids.map(({ span, source }) => ({ span, source })),
        })),
      };
    case 'dr-tulu':
      return {
        ...reply,
        criteria: reply.criteria.map(({ title: _title, description: _description, ...criterion }) => criterion),
      };
    // These replies contain numbers and counts only.
    case 'long-trace':
    case 'tool-call':
      return reply;
  }
}
