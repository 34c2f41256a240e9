/**
 * Reads and writes the `ground_truth` of rows with rubrics, in the shapes of open-instruct and dr-tulu: a JSON text, or a
 * list whose first element is one (the others belong to other verifiers). Unknown keys are kept, and a row that is written
 * unchanged equals what was read.
 *
 * Sources: allenai/open-instruct e6c3044a (`rubrics/rubric_utils.py`, `ground_truth_utils.py`), rlresearch/dr-tulu
 * 6188f34c (`search_rewards/utils/rubric_utils.py`).
 */

import type { InputProblem } from '../input-problem.ts';
import { isJsonObject, parsedJson } from '../json.ts';
import { MAX_CRITERIA, MAX_CRITERION_WEIGHT } from '../limits.ts';
import type { Result } from '../result.ts';
import type { WeightedCriterion } from './evolution-log.ts';
import { criterionId, type PromptCriterion, questionDigest, type SetEntry } from './rubric-set.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The label of evolving criteria in `rubrics_types`: open-instruct's or dr-tulu's. */
export type EvolvingLabel = 'evolving' | 'adaptive';

/** A criterion of a row, with the object that it was read from. */
export type RowCriterion = WeightedCriterion & {
  readonly type: 'persistent' | EvolvingLabel;
  readonly given: JsonObject;
};

/** The first entry of a row's `ground_truth`, read. */
export type TrainingRow = {
  readonly question: string;
  readonly criteria: readonly RowCriterion[];
  /** How the row was written. */
  readonly shape: {
    /** The JSON text. */
    readonly text: string;
    /** The elements after the JSON text; `null` = the row is no list. */
    readonly others: readonly unknown[] | null;
    /** All keys of the object, in order, with `rubrics` as it was. */
    readonly object: JsonObject;
  };
};

/** Where a criterion's text may be; the first that is a text with content counts. */
const DESCRIPTION_KEYS = ['description', 'rubric_item', 'Ingredient'] as const;
const QUESTION_KEYS = ['query', 'Question'] as const;
const LABELS: readonly unknown[] = ['persistent', 'evolving', 'adaptive'];

/**
 * Reads the value of `ground_truth`. Criteria without text are skipped, as both implementations do, and kept for writing.
 * @returns problems with paths below `ground_truth`.
 */
export function readTrainingRow(value: unknown): Result<TrainingRow, readonly InputProblem[]> {
  const isList = Array.isArray(value);
  const [first, ...others]: readonly unknown[] = isList ? value : [value];
  const path = isList ? [0] : [];
  if (typeof first !== 'string') return wrong(path, 'expected a JSON text, or a list whose first element is one');
  const parsed = parsedObject(first);
  if (parsed === null) return wrong(path, 'expected the JSON text of an object');
  const question = QUESTION_KEYS.map((key) => parsed[key]).find((one) => typeof one === 'string' && one !== '');
  if (typeof question !== 'string') return wrong([...path, 'query'], 'required: a text, as "query" or "Question"');
  const { rubrics, rubrics_types: types } = parsed;
  if (!Array.isArray(rubrics)) return wrong([...path, 'rubrics'], 'expected a list');
  if (rubrics.length > MAX_CRITERIA) return wrong([...path, 'rubrics'], `expected at most ${MAX_CRITERIA} entries`);
  if (types !== undefined && !(Array.isArray(types) && types.length === rubrics.length)) {
    return wrong([...path, 'rubrics_types'], 'expected a list as long as "rubrics"');
  }
  const problems: InputProblem[] = [];
  const digest = questionDigest(question);
  const criteria = rubrics.flatMap((one: unknown, n): RowCriterion[] => {
    const type: unknown = types === undefined ? 'persistent' : types[n];
    if (type !== 'persistent' && type !== 'evolving' && type !== 'adaptive') {
      const expected = LABELS.map((label) => JSON.stringify(label)).join(', ');
      problems.push({ path: [...path, 'rubrics_types', n], message: `expected one of ${expected}` });
      return [];
    }
    const read = readCriterion(one, digest);
    if (read.ok) return read.value === null ? [] : [{ ...read.value, type }];
    problems.push({ ...read.error, path: [...path, 'rubrics', n, ...read.error.path] });
    return [];
  });
  if (problems.length > 0) return { ok: false, error: problems };
  const shape = { text: first, others: isList ? others : null, object: parsed };
  return { ok: true, value: { question, criteria, shape } };
}

/** Reads one entry of `rubrics`; `null` = it has no text. */
function readCriterion(value: unknown, question: string): Result<Omit<RowCriterion, 'type'> | null, InputProblem> {
  if (!isJsonObject(value)) return { ok: false, error: { path: [], message: 'expected an object' } };
  const description = DESCRIPTION_KEYS.map((key) => value[key]).find((one) => typeof one === 'string' && one !== '');
  if (typeof description !== 'string') return { ok: true, value: null };
  const { weight: signed = 1, title } = value;
  if (typeof signed !== 'number' || !Number.isFinite(signed) || Math.abs(signed) > MAX_CRITERION_WEIGHT) {
    const message = `expected a number from -${MAX_CRITERION_WEIGHT} to ${MAX_CRITERION_WEIGHT}`;
    return { ok: false, error: { path: ['weight'], message } };
  }
  if (title !== undefined && title !== null && typeof title !== 'string') {
    return { ok: false, error: { path: ['title'], message: 'expected a text' } };
  }
  if (signed === 0) return { ok: true, value: null };
  const criterion: PromptCriterion = {
    polarity: signed < 0 ? 'negative' : 'positive',
    // dr-tulu needs the key "title", so a criterion without one is written with an empty text.
    ...(typeof title === 'string' && title !== '' ? { title } : {}),
    description,
  };
  return {
    ok: true,
    value: { id: criterionId(question, criterion), criterion, weight: Math.abs(signed), given: value },
  };
}

/** Writes a row as it was read. */
export function writeTrainingRow({ shape }: TrainingRow): unknown {
  return wrapped(shape, shape.text);
}

/**
 * Writes a row after an edit of its criteria. Entries of criteria that are still there keep all their keys, and a new
 * weight replaces the old one. New criteria have the type `persistent`. Entries without text stay, behind the others. A row
 * without a change is written as it was read.
 *
 * @param criteria the criteria after the edit; `null` = unchanged.
 * @param label what the trainer calls evolving criteria.
 */
export function rewrittenRow(
  row: TrainingRow,
  criteria: readonly WeightedCriterion[] | null,
  label: EvolvingLabel,
): unknown {
  const typeOf = (type: unknown): unknown => (type === 'persistent' ? type : label);
  const { rubrics, rubrics_types: types } = row.shape.object;
  const entries = (Array.isArray(rubrics) ? rubrics : []).map((given: unknown, n) => ({
    given,
    type: Array.isArray(types) ? typeOf(types[n]) : 'persistent',
  }));
  const edited =
    criteria === null || sameCriteria(row.criteria, criteria) ? entries : editedEntries(row, entries, criteria);
  const isRelabelled = Array.isArray(types) && types.some((type) => typeOf(type) !== type);
  if (edited === entries && !isRelabelled) return writeTrainingRow(row);
  return writtenObject(row.shape, {
    ...row.shape.object,
    rubrics: edited.map(({ given }) => given),
    ...(types === undefined ? {} : { rubrics_types: edited.map(({ type }) => type) }),
  });
}

type RowEntry = { readonly given: unknown; readonly type: unknown };

function editedEntries(
  row: TrainingRow,
  entries: readonly RowEntry[],
  criteria: readonly WeightedCriterion[],
): readonly RowEntry[] {
  const left = [...row.criteria];
  const kept = criteria.map((one): RowEntry => {
    const same = left.filter(({ id }) => id === one.id);
    const own = same.find(({ weight }) => weight === one.weight) ?? same[0];
    if (own === undefined) return { given: writtenCriterion(one), type: 'persistent' };
    left.splice(left.indexOf(own), 1);
    const type = entries.find(({ given }) => given === own.given)?.type;
    return { given: own.weight === one.weight ? own.given : { ...own.given, weight: signedWeight(one) }, type };
  });
  const isCriterion = new Set<unknown>(row.criteria.map(({ given }) => given));
  return [...kept, ...entries.filter(({ given }) => !isCriterion.has(given))];
}

function sameCriteria(left: readonly WeightedCriterion[], right: readonly WeightedCriterion[]): boolean {
  return (
    left.length === right.length && left.every((one, n) => one.id === right[n]?.id && one.weight === right[n]?.weight)
  );
}

/**
 * Writes a row with another set of criteria, as a trainer gets it for the next visit: the row's own entries unchanged, new
 * ones as `{description, weight, title}` with a signed weight.
 *
 * @param criteria every criterion of the set, by its id.
 * @param label what the trainer calls evolving criteria.
 */
export function writeRowWithSet(
  row: TrainingRow,
  set: readonly SetEntry[],
  criteria: ReadonlyMap<string, WeightedCriterion>,
  label: EvolvingLabel,
): unknown {
  const given = new Map(row.criteria.map((one) => [one.id, one.given]));
  const rubrics = set.map(({ id, weight }) => given.get(id) ?? writtenCriterion(knownOf(criteria, id, weight)));
  const rubricsTypes = set.map(({ type }) => (type === 'persistent' ? 'persistent' : label));
  return writtenObject(row.shape, { ...row.shape.object, rubrics, rubrics_types: rubricsTypes });
}

function knownOf(criteria: ReadonlyMap<string, WeightedCriterion>, id: string, weight: number): WeightedCriterion {
  const known = criteria.get(id);
  if (known === undefined) throw new Error('writeRowWithSet: the set names a criterion that was not given');
  return { ...known, weight };
}

/** A criterion as both trainers write it: a signed weight, and always a title. */
export function writtenCriterion(one: WeightedCriterion): JsonObject {
  const { title = '', description } = one.criterion;
  return { description, weight: signedWeight(one), title };
}

function signedWeight({ criterion, weight }: WeightedCriterion): number {
  return criterion.polarity === 'negative' ? -weight : weight;
}

function writtenObject(shape: TrainingRow['shape'], object: JsonObject): unknown {
  return wrapped(shape, JSON.stringify(object));
}

function wrapped({ others }: TrainingRow['shape'], text: string): unknown {
  return others === null ? text : [text, ...others];
}

function parsedObject(text: string): JsonObject | null {
  const value = parsedJson(text);
  return isJsonObject(value) ? value : null;
}

function wrong(path: InputProblem['path'], message: string): Result<never, readonly InputProblem[]> {
  return { ok: false, error: [{ path, message }] };
}
