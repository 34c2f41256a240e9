/** Selects the fields of a row that an endpoint reads, so that one file of rows serves several commands. */
import type * as z from 'zod';
import type { OffsetUnit } from '../../src/citations/offset-units.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';
import { type Fields, withoutFields } from './rows.ts';
import { applyOffsets, applyScoringOptions, firstScoringFlag, type ScoringOptions } from './scoring-flags.ts';

/** Fields of `POST /v1/score` that another request does not have. */
export function scoringOnlyFields({ shape }: z.ZodObject): ReadonlySet<string> {
  return new Set(Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(shape, field)));
}

const NOT_VERIFIED = scoringOnlyFields(verifyRequestSchema);
const NOT_REFINED = scoringOnlyFields(refineRequestSchema);

/** Fields that say how candidates are scored. The Worker refuses them without a recipe. */
const CANDIDATE_SCORING_FIELDS: ReadonlySet<string> = new Set([
  'positive_rubrics',
  'negative_rubrics',
  'judge',
  'judgments',
  'replicate',
  'on_judge_failure',
  'advantages',
]);

/** The fields of a row that `POST /v1/verify` reads, with the unit that a flag names. */
export function verifyFields(fields: Fields, offsets: OffsetUnit | null): Fields {
  return applyOffsets(withoutFields(fields, NOT_VERIFIED), offsets);
}

/**
 * The fields of a row that `POST /v1/refine` reads, with the scoring flags applied. If neither the row nor a flag names
 * a recipe, the fields for scoring are left out and the candidates stay unscored.
 */
export function refineFields(fields: Fields, scoring: ScoringOptions): Fields {
  const own = applyOffsets(withoutFields(fields, NOT_REFINED), scoring.offsets);
  const isScored = Object.hasOwn(own, 'recipe') || firstScoringFlag(scoring) !== null;
  return isScored ? applyScoringOptions(own, scoring) : withoutFields(own, CANDIDATE_SCORING_FIELDS);
}
