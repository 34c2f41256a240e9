/** What of a row only scoring reads, so that a row that was made for scoring can be verified as it is. */
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';

export const SCORING_ONLY_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(scoreRequestSchema.shape).filter((field) => !Object.hasOwn(verifyRequestSchema.shape, field)),
);
