/**
 * What a run keeps of a reply: all of it but text. Spans, findings, components and judgments say where and why; the ids that
 * an answer cited and the criteria of a row are text of the caller's, kept only where the caller asked for that.
 */
import type { ScoreReply } from '../scoring/score-reply.ts';

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
