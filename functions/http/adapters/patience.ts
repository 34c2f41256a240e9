/**
 * How long an adapter waits out a failure for trainers that ask again too soon or not at all. slime and LongTraceRL try
 * for minutes and need none of it: there a held connection would keep their next samples waiting. OpenRLHF tries five
 * times within four seconds, less than a failure is remembered, and NeMo Gym once.
 */
import { JUDGE_DEADLINE_MS } from '../../../src/judgments/obtain.ts';
import { SCORING_DEADLINE_MS } from '../../services/score.ts';

/** A judge gets its whole deadline after the last wait, and everything ends with the scoring deadline. */
export const PATIENCE_MS = SCORING_DEADLINE_MS - JUDGE_DEADLINE_MS;
