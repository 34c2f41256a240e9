/**
 * Converts the rows of a data set of open-instruct or dr-tulu to rows of Citeward and back. The row of Citeward carries
 * the row that it was made from as `training_row`, so a row that nobody edited is written as it was.
 */

import * as z from 'zod';
import { questionSchema, sharedFields } from '../family/rollout-schema.ts';
import { type InputProblem, problemsOfIssues } from '../input-problem.ts';
import { isJsonObject } from '../json.ts';
import type { Result } from '../result.ts';
import type { WeightedCriterion } from '../rubrics/evolution-log.ts';
import { criterionId, type PromptCriterion, questionDigest } from '../rubrics/rubric-set.ts';
import {
  type EvolvingLabel,
  type RowCriterion,
  readTrainingRow,
  rewrittenRow,
  type TrainingRow,
  writtenCriterion,
} from '../rubrics/training-row.ts';

type Fields = Readonly<Record<string, unknown>>;
type Problems = readonly InputProblem[];

/** The trainers whose rows can be written, with what each calls evolving criteria in `rubrics_types`. */
const TRAINER_LABELS = { 'open-instruct': 'evolving', 'dr-tulu': 'adaptive' } as const satisfies Readonly<
  Record<string, EvolvingLabel>
>;
export type Trainer = keyof typeof TRAINER_LABELS;
export const TRAINERS = Object.keys(TRAINER_LABELS).filter((name): name is Trainer => name in TRAINER_LABELS);

/** The column of the data set that holds the JSON text with question and criteria. */
const COLUMN = 'ground_truth';

/** A criterion with the sign of its polarity in the weight, as recipes of the family dr-tulu read it. */
type SignedCriterion = { readonly title?: string; readonly description: string; readonly weight: number };

const criteriaSchema = z.object({
  question: questionSchema,
  rubrics: sharedFields.rubrics,
  positive_rubrics: sharedFields.positive_rubrics,
  negative_rubrics: sharedFields.negative_rubrics,
});

/**
 * Makes the row of Citeward: `question`, `rubrics` with signed weights, the label `id` if it can be one, and the whole row
 * as `training_row`. A row without criteria has no `rubrics`.
 */
export function citewardRowOf(row: Fields): Result<Fields, Problems> {
  const read = readColumn(row, []);
  if (!read.ok) return read;
  const { question, criteria } = read.value;
  const rubrics = criteria.map(signedCriterion);
  const fields = { question, ...(rubrics.length === 0 ? {} : { rubrics }) };
  const checked = criteriaSchema.safeParse(fields);
  if (!checked.success) return { ok: false, error: problemsOfIssues(checked.error.issues, fields) };
  const { id } = row;
  const label = typeof id === 'string' || typeof id === 'number' ? { id } : {};
  return { ok: true, value: { ...label, ...fields, training_row: row } };
}

/**
 * Makes the row of a trainer. Criteria that were added get the type `persistent`; entries of unchanged criteria keep all
 * their keys, and those without text, which trainers skip, stay at the end. Without `training_row` the column is new, and
 * the other fields stay beside it.
 */
export function trainingRowOf(row: Fields, trainer: Trainer): Result<Fields, Problems> {
  const label = TRAINER_LABELS[trainer];
  if (Object.hasOwn(row, COLUMN)) {
    const read = readColumn(row, []);
    return read.ok ? { ok: true, value: { ...row, [COLUMN]: rewrittenRow(read.value, null, label) } } : read;
  }
  const checked = criteriaSchema.safeParse(row);
  if (!checked.success) return { ok: false, error: problemsOfIssues(checked.error.issues, row) };
  const { question, rubrics = [], positive_rubrics, negative_rubrics } = checked.data;
  const signed = [...rubrics, ...signedCriteria(positive_rubrics, 1), ...signedCriteria(negative_rubrics, -1)];
  const criteria = signed.filter(({ weight }) => weight !== 0).map((one) => weightedCriterion(one, question));
  const { training_row: origin, ...fields } = row;
  if (origin === undefined) {
    const { question: _q, rubrics: _r, positive_rubrics: _p, negative_rubrics: _n, ...columns } = fields;
    const object = { query: question, rubrics: criteria.map(writtenCriterion) };
    return { ok: true, value: { ...columns, [COLUMN]: JSON.stringify(object) } };
  }
  if (!isJsonObject(origin)) return problem(['training_row'], 'expected the row of the data set, an object');
  const read = readColumn(origin, ['training_row']);
  if (!read.ok) return read;
  if (read.value.question !== question) {
    return problem(['question'], 'differs from the question of training_row; edit both, or leave training_row out');
  }
  return { ok: true, value: { ...origin, [COLUMN]: rewrittenRow(read.value, criteria, label) } };
}

function readColumn(row: Fields, at: InputProblem['path']): Result<TrainingRow, Problems> {
  const path = [...at, COLUMN];
  if (!Object.hasOwn(row, COLUMN)) return problem(path, 'required: a JSON text, or a list whose first element is one');
  const read = readTrainingRow(row[COLUMN]);
  if (read.ok) return read;
  return { ok: false, error: read.error.map((one) => ({ ...one, path: [...path, ...one.path] })) };
}

function signedCriterion({ criterion, weight }: RowCriterion): SignedCriterion {
  const { polarity, ...texts } = criterion;
  return { ...texts, weight: polarity === 'negative' ? -weight : weight };
}

type CriterionInput = string | { readonly title?: string; readonly description: string; readonly weight?: number };

function signedCriteria(list: readonly CriterionInput[] | undefined, sign: 1 | -1): SignedCriterion[] {
  return (list ?? []).map((one) => {
    const { weight = 1, ...texts } = typeof one === 'string' ? { description: one } : one;
    return { ...texts, weight: sign * weight };
  });
}

function weightedCriterion({ title, description, weight }: SignedCriterion, question: string): WeightedCriterion {
  const criterion: PromptCriterion = {
    polarity: weight < 0 ? 'negative' : 'positive',
    ...(title === undefined || title === '' ? {} : { title }),
    description,
  };
  return { id: criterionId(questionDigest(question), criterion), criterion, weight: Math.abs(weight) };
}

function problem(path: InputProblem['path'], message: string): Result<never, Problems> {
  return { ok: false, error: [{ path, message }] };
}
