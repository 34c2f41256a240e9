/** From a scored rollout to what is recorded of it: pure, so that the row of a score is the same wherever it is made. */
import { pinJudgments } from '../judgments/pin.ts';
import type { ScoreReply } from '../scoring/score-reply.ts';
import type { ScoredRollout } from '../scoring/score-rollouts.ts';
import { lackingOf } from './lacking.ts';
import type { LedgerRow } from './row.ts';

/** What replay reads of a rollout. */
export type StoredFacts = Pick<LedgerRow, 'v' | 'facts' | 'judgments' | 'reward' | 'reason'>;

/** What summaries read of it. */
export type RowStatistics = {
  readonly lacking: number;
  /** Value of each component; `null` = it has none. */
  readonly components: Readonly<Record<string, number | null>>;
  /** Judgments that were had, and how many of them without a call. */
  readonly judgments: number;
  readonly cached: number;
};

export type RecordedScore = {
  readonly stored: StoredFacts;
  readonly statistics: RowStatistics;
  readonly report: RolloutReport;
};

/** @param keepText the caller asked for the text to be kept. */
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

/** @param keepText the caller asked for the text to be kept. */
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
    // Numbers and counts only.
    case 'long-trace':
    case 'tool-call':
      return reply;
  }
}
