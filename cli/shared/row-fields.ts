/** Selects the fields of a row that an endpoint reads, so that one file of rows serves several commands. */

import type * as z from 'zod';
import type { OffsetUnit } from '../../src/citations/offset-units.ts';
import { isJsonObject } from '../../src/json.ts';
import { refineRequestSchema } from '../../src/wire/refine.ts';
import { scoreRequestSchema } from '../../src/wire/score.ts';
import { verifyRequestSchema } from '../../src/wire/verify.ts';
import { type Fields, withoutFields } from './rows.ts';
import { givenFields } from './sampling.ts';
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

/** A row of `POST /v1/compare`, with the judge and the use of stored judgments that flags name. */
export function comparedFields(
  fields: Fields,
  { judge, judgments }: Pick<ScoringOptions, 'judge' | 'judgments'>,
): Fields {
  return { ...fields, ...givenFields({ judge, judgments }) };
}

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

const READ_FOR_RUBRICS = ['question', 'tool_output', 'sources', 'reference', 'responses'] as const;
/** Fields that say what is made, and by whom. */
const OWN_TO_RUBRICS = ['reads', 'existing', 'most', 'judge', 'replicate'] as const;

/**
 * The fields of a row that `POST /v1/rubrics` reads. Its response is one of the responses, and its own criteria count as
 * persistent.
 */
export function rubricsFields(row: Fields): Fields {
  const read = Object.fromEntries(
    [...READ_FOR_RUBRICS, ...OWN_TO_RUBRICS]
      .filter((name) => Object.hasOwn(row, name))
      .map((name) => [name, row[name]]),
  );
  const { response } = row;
  const persistent = writtenCriteria(row);
  return {
    ...(typeof response === 'string' ? { responses: [response] } : {}),
    ...read,
    ...(persistent.length === 0 ? {} : { existing: { persistent } }),
  };
}

/** The row's own criteria, as it writes them. */
function writtenCriteria(row: Fields): object[] {
  return [
    ...ownCriteria(row['positive_rubrics'], 'positive'),
    ...ownCriteria(row['negative_rubrics'], 'negative'),
    ...signedCriteria(row['rubrics']),
  ];
}

/** The criteria of a row, or of the reply to one, which has verdicts on them. */
export function rowCriteria(row: Fields): unknown {
  return row['criteria'] ?? writtenCriteria(row);
}

function ownCriteria(list: unknown, polarity: 'positive' | 'negative'): object[] {
  if (!Array.isArray(list)) return [];
  return list.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) return { polarity, description: one };
    const { weight: _weight, ...text } = Object.fromEntries(Object.entries(one));
    return { polarity, ...text };
  });
}

function signedCriteria(list: unknown): object[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const isFault = isJsonObject(one) && typeof one['weight'] === 'number' && one['weight'] < 0;
    return ownCriteria([one], isFault ? 'negative' : 'positive');
  });
}
