/** What of a row only scoring reads, so that a row that was made for scoring can be verified as it is. */
/** What of a row refining reads, so that a row that was made for scoring can be refined as it is. */

import { refineRequestSchema } from '../../src/wire/refine.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';
import { withoutFields } from './rows.ts';
import { applyScoringOptions, firstScoringFlag, type ScoringOptions } from './scoring-flags.ts';

export const SCORING_ONLY_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(verifyRequestSchema.shape, field)),
);

type Fields = Readonly<Record<string, unknown>>;

/** About a response that is there already, and where its score is kept. */
const SCORING_ONLY: ReadonlySet<string> = new Set(
  Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(refineRequestSchema.shape, field)),
);

/** What says how candidates are scored, and is refused where they are not. */
const OF_A_RECIPE: ReadonlySet<string> = new Set([
  'positive_rubrics',
  'negative_rubrics',
  'judge',
  'judgments',
  'replicate',
  'on_judge_failure',
  'advantages',
]);

/**
 * A row's fields with what the scoring flags say, which wins. Where neither says how to score, nothing is scored, and what
 * only scoring reads is left out.
 */
export function refineFields(fields: Fields, asked: ScoringOptions): Fields {
  const own = withoutFields(fields, SCORING_ONLY);
  const isScored = Object.hasOwn(own, 'recipe') || firstScoringFlag(asked) !== null;
  return isScored ? applyScoringOptions(own, asked) : withoutFields(own, OF_A_RECIPE);
}
